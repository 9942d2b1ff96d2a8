"""Applies the design to the application and follows the system's light and dark, live."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from desktop.ui import design
from desktop.ui.design import COLOURS, Colours, Scheme

if TYPE_CHECKING:
    from PySide6.QtCore import Qt

DARK_BELOW: Final = 128
"""Lightness of a window's ground, 0 to 255."""


class Theme(QObject):
    """The scheme in use; `changed` carries the new `Colours` after a switch."""

    changed = Signal(object)

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self.scheme = _scheme_of(app)
        self._apply()

    def complete(self) -> None:
        """What the first paint did not wait for: the font, and following the system."""
        self._app.setFont(design.font())
        self._app.styleHints().colorSchemeChanged.connect(self._follow)

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

    def _follow(self, system: "Qt.ColorScheme") -> None:
        # `Unknown`, which is 0, is what screens without a theme say
        self.use(Scheme.DARK if system.name == "Dark" else Scheme.LIGHT)

    def _apply(self) -> None:
        self._app.setPalette(design.palette(self.scheme))
        self._app.setStyleSheet(design.stylesheet(self.scheme))


def _scheme_of(app: QApplication) -> Scheme:
    """The scheme that Qt's palette took from the system.

    The palette is asked, not `styleHints().colorScheme()`: naming anything of Qt's namespace makes
    PySide build all of it, 15 ms that the first paint would wait for.
    """
    ground = app.palette().window().color().lightness()
    return Scheme.DARK if ground < DARK_BELOW else Scheme.LIGHT
