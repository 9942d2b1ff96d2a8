"""Text to read, select and scroll by keyboard: longer than a label, never changed."""

import math
from collections.abc import Iterable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontDatabase, QFontMetricsF
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from desktop.ui.design import Space, Type, font

_FRAME = 2
"""Pixels of the style's border, which shows the focus."""
_SPARE = 2
"""Pixels."""


class Reading(QPlainTextEdit):
    """Lines of plain text.

    `figures` sets them in letters of equal width and away from the border, for arithmetic that
    fills a page.
    """

    def __init__(self, name: str, *, figures: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = 4
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        # lines break; a blank at the end of one that just fits is no reason to scroll
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        made = font(Type.SMALL)
        if figures:
            made.setFamily(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family())
        self.setFont(made)
        self.document().setDocumentMargin(Space.S if figures else 0)

    def show_lines(self, lines: Iterable[str]) -> None:
        """Show these lines, from the first."""
        self.setPlainText("\n".join(lines))

    def wish_lines(self, count: int) -> None:
        """Be so many lines high; two, where there is no room."""
        self._lines = count
        self.setMaximumHeight(self._high(count))
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """So many whole lines as are wished for."""
        return QSize(200, self._high(self._lines))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Two lines."""
        return QSize(100, self._high(2))

    def _high(self, lines: int) -> int:
        # lines are laid out in whole pixels, rounded up
        margin = math.ceil(self.document().documentMargin())
        # within a margin a text that just fits is given a scroll bar
        around = 2 * (_FRAME + margin) + (_SPARE if margin else 0)
        return lines * math.ceil(QFontMetricsF(self.font()).height()) + around
