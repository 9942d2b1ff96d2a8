"""The place of a section in the window: built at the first look.

What such pages import takes longer than the rest of the window together.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from desktop.ui.components import Heading, Muted, column
from desktop.ui.design import Space

S = TypeVar("S", bound=QWidget)


class Holder(QWidget, Generic[S]):
    """Words until the section is there."""

    def __init__(
        self, title: str, words: str, make: Callable[[], S], parent: QWidget | None = None
    ) -> None:
        """Make it.

        Args:
            title: of the section's first page.
            words: what is done until it is there.
            make: imports and builds the section.
            parent: owns it.
        """
        super().__init__(parent)
        self.setObjectName("page")
        self._make = make
        self._section: S | None = None
        waiting = QWidget()
        lines = column(Heading(title), Muted(words), gap=Space.XS)
        lines.setContentsMargins(Space.XL, Space.XL, Space.XL, Space.XL)
        lines.addStretch(1)
        waiting.setLayout(lines)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(waiting)

    @property
    def section(self) -> S:
        """The pages; built when they are first asked for."""
        if self._section is None:
            self._section = self._make()
            self._stack.addWidget(self._section)
            self._stack.setCurrentWidget(self._section)
        return self._section

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Build the section once these words are on the screen."""
        super().showEvent(event)
        if self._section is None:
            QTimer.singleShot(0, self, lambda: self.section)
