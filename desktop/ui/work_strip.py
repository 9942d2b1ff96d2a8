"""One line about what would make estimates sharper, or how far that is."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.ui.components import Muted, Progress, QuietButton, row
from desktop.ui.design import Space


class WorkStrip(QWidget):
    """Words with a button that begins; while something goes on, its progress and Stop."""

    begin_asked = Signal()
    stop_asked = Signal()

    def __init__(self, button: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._wanted = False
        self.words = Muted()
        self.begin = QuietButton(button)
        self.progress = Progress(button)
        self.stop = QuietButton(self.tr("Stop"))
        self.begin.clicked.connect(self.begin_asked)
        self.stop.clicked.connect(self._stop)
        line = row(self.words, self.begin, self.progress, self.stop, gap=Space.S)
        line.setStretch(0, 1)
        line.setStretch(2, 1)
        self.setLayout(line)
        self.show_idle()

    @property
    def working(self) -> bool:
        """Whether something goes on."""
        return not self.progress.isHidden()

    def offer(self, words: str) -> None:
        """Why something should begin; empty where nothing should."""
        self._wanted = bool(words)
        self.words.setText(words)
        if not self.working:
            self.show_idle()

    def set_blocked(self, *, blocked: bool) -> None:
        """Something else goes on: the button waits."""
        self.begin.setEnabled(not blocked)

    def show_step(self, fraction: float, words: str, left: str = "") -> None:
        """How far it is, 0 to 1, and what is done now."""
        self._show(working=True)
        self.progress.show_step(fraction, words, left)

    def show_idle(self) -> None:
        """Nothing goes on."""
        self._show(working=False)

    def _show(self, *, working: bool) -> None:
        if working and not self.working:
            self.stop.setEnabled(True)
        self.progress.setVisible(working)
        self.stop.setVisible(working)
        self.words.setVisible(self._wanted and not working)
        self.begin.setVisible(self._wanted and not working)
        self.setVisible(working or self._wanted)

    def _stop(self) -> None:
        self.stop.setEnabled(False)
        self.stop_asked.emit()
