"""How far something is: a bar, words, and the time that is left."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from desktop.ui.components.layouts import row
from desktop.ui.components.text import Muted
from desktop.ui.design import Space

_STEPS = 1000


class Progress(QWidget):
    """A bar with words at its left and the time left at its right."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar = QProgressBar()
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(name)
        self._words = Muted()
        self._left = Muted()
        self._left.setWordWrap(False)
        self._left.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        layout.addWidget(self._bar)
        words = row(self._words, self._left)
        words.setStretch(0, 1)
        layout.addLayout(words)

    def show_step(self, fraction: float, words: str, left: str = "") -> None:
        """Show a share of the whole (0 to 1), what is being done, and the time left."""
        self._bar.setValue(round(_STEPS * min(1.0, max(0.0, fraction))))
        self._words.setText(words)
        self._left.setText(left)
        self._bar.setAccessibleDescription(f"{words} {left}".strip())

    @property
    def words(self) -> str:
        """The words and the time left, as shown."""
        return f"{self._words.text()} {self._left.text()}".strip()
