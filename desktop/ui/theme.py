"""Applies the design to the application and follows the system's light and dark, live."""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication

from desktop.ui import design
from desktop.ui.design import COLOURS, Colours, Scheme


class Theme(QObject):
    """The scheme in use; `changed` carries the new `Colours` after a switch."""

    changed = Signal(object)

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        app.setStyle("Fusion")
        app.setFont(design.font())
        hints = app.styleHints()
        self.scheme = _scheme(hints.colorScheme())
        self._apply()
        hints.colorSchemeChanged.connect(self._follow)

    @property
    def colours(self) -> Colours:
        """The colours in use."""
        return COLOURS[self.scheme]

    def use(self, scheme: Scheme) -> None:
        """Switch to `scheme`."""
        if scheme is self.scheme:
            return
        self.scheme = scheme
        self._apply()
        self.changed.emit(self.colours)

    def _follow(self, system: Qt.ColorScheme) -> None:
        self.use(_scheme(system))

    def _apply(self) -> None:
        self._app.setPalette(design.palette(self.scheme))
        self._app.setStyleSheet(design.stylesheet(self.scheme))


def _scheme(system: Qt.ColorScheme) -> Scheme:
    """Light unless the system asks for dark; `Unknown` is what screens without a theme say."""
    return Scheme.DARK if system == Qt.ColorScheme.Dark else Scheme.LIGHT
