"""The tray icon, where the desktop has a tray: state, and the three things most asked for."""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from desktop.records.events import AppEvent, PartsFinished, Progress, RunFailed, RunFinished
from desktop.ui import icons

Do = Callable[[], object]


class Tray(QObject):
    """Idle, measuring or failed, in the icon and in words."""

    def __init__(self, show: Do, measure: Do, leave: Do, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._show = show
        self._icons = {n: icons.icon(n) for n in (icons.IDLE, icons.WORKING, icons.FAILED)}
        self._name = ""
        self.menu = QMenu()
        self.open = self.menu.addAction(self.tr("Open"), show)
        self.measure = self.menu.addAction(self.tr("Measure now"), measure)
        self.menu.addSeparator()
        self.quit = self.menu.addAction(self.tr("Quit"), leave)
        self.icon = QSystemTrayIcon(self)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._activated)
        self._state(icons.IDLE, self.tr("Gram: idle"))
        self.icon.show()

    def handle(self, event: AppEvent) -> None:
        """Follow a run."""
        match event:
            case Progress(fraction=fraction):
                words = self.tr("Gram: measuring, {percent} %")
                self._state(icons.WORKING, words.format(percent=round(100 * fraction)))
            case RunFinished() | PartsFinished():
                self._state(icons.IDLE, self.tr("Gram: idle"))
            case RunFailed(cancelled=True):
                self._state(icons.IDLE, self.tr("Gram: idle"))
            case RunFailed():
                self._state(icons.FAILED, self.tr("Gram: the last measurement failed"))
            case _:
                pass

    def set_running(self, running: bool) -> None:  # noqa: FBT001 - a slot of Signal(bool)
        """A second measurement cannot be asked for."""
        self.measure.setEnabled(not running)

    def remove(self) -> None:
        """Take the icon out of the tray."""
        self.icon.hide()
        self.menu.deleteLater()

    @property
    def state(self) -> str:
        """The name of the icon that is shown."""
        return self._name

    def _state(self, name: str, words: str) -> None:
        if words != self.icon.toolTip():
            self.icon.setToolTip(words)
        if name != self._name:
            self._name = name
            self.icon.setIcon(self._icons[name])

    def _activated(self, why: QSystemTrayIcon.ActivationReason) -> None:
        if why in {
            QSystemTrayIcon.ActivationReason.Trigger,
            QSystemTrayIcon.ActivationReason.DoubleClick,
        }:
            self._show()


def make_tray(show: Do, measure: Do, leave: Do, parent: QObject | None = None) -> Tray | None:
    """The tray icon; None where there is no tray.

    `supportsMessages()` says yes without a tray host too, so only `isSystemTrayAvailable` counts.
    """
    if not QSystemTrayIcon.isSystemTrayAvailable():
        return None
    return Tray(show, measure, leave, parent)
