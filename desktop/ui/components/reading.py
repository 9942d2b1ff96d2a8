"""Text to read, select and scroll by keyboard: longer than a label, never changed."""

from collections.abc import Iterable

from PySide6.QtCore import QSize
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from desktop.ui.design import Type, font

_FRAME = 2
"""Pixels of the style's border, which shows the focus."""


class Reading(QPlainTextEdit):
    """Lines of plain text. `figures` sets them in letters of equal width, for arithmetic."""

    def __init__(self, name: str, *, figures: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        made = font(Type.SMALL)
        if figures:
            made.setFamily(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family())
        self.setFont(made)
        self.document().setDocumentMargin(0)

    def show_lines(self, lines: Iterable[str]) -> None:
        """Show these lines, from the first."""
        self.setPlainText("\n".join(lines))

    def fix_lines(self, count: int) -> None:
        """Be exactly so many lines high: no line is cut."""
        self.setFixedHeight(count * self.fontMetrics().lineSpacing() + 2 * _FRAME)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Small: it scrolls, and takes what the page has to spare."""
        return QSize(200, 4 * self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Two lines."""
        return QSize(100, 2 * self.fontMetrics().height())
