"""Repositories that a search on the hub found: each can be added."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from desktop.ui import format as fmt
from desktop.ui.components import Body, Muted, QuietButton, row
from desktop.ui.design import Space

_MOST: Final = 5


class FoundStrip(QFrame):
    """Names with a button each; hidden until something was searched."""

    add_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setAccessibleName(self.tr("Repositories found on the hub"))
        self.words = Muted()
        self.close_button = QuietButton(self.tr("Close"))
        self.close_button.setAccessibleName(self.tr("Close what was found"))
        self.close_button.clicked.connect(self.hide)
        self._names: tuple[str, ...] = ()
        self._rows: list[QWidget] = []
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(Space.M, Space.S, Space.M, Space.S)
        self._lines.setSpacing(Space.XS)
        head = row(self.words, self.close_button, gap=Space.S)
        head.setStretch(0, 1)
        self._lines.addLayout(head)
        self.hide()

    def show_found(self, names: Sequence[str]) -> None:
        """Show the first few of what a search found; where it found nothing, that."""
        self._show(names)
        self.show()

    def take_away(self, name: str) -> None:
        """One was added."""
        if name in self._names:
            self._show([found for found in self._names if found != name])
            self.setHidden(not self._names)

    def _show(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        for old in self._rows:
            old.hide()
            self._lines.removeWidget(old)
            old.deleteLater()
        self._rows = [self._line(name) for name in names[:_MOST]]
        for made in self._rows:
            self._lines.addWidget(made)
        self.words.setText(self._said(len(names)))

    def _said(self, count: int) -> str:
        if not count:
            return self.tr("The hub knows no other repository of builds with these words.")
        if count > _MOST:
            words = self.tr("On the hub there are besides, the first {most} of {count}:")
            return words.format(most=_MOST, count=count)
        return self.tr("On the hub there are besides:")

    def _line(self, name: str) -> QWidget:
        made = QWidget()
        button = QuietButton(self.tr("Add"))
        button.setAccessibleName(self.tr("Add {name}").format(name=name))
        button.clicked.connect(partial(self.add_asked.emit, name))
        line = row(Body(fmt.breakable(name)), button, gap=Space.S)
        line.setStretch(0, 1)
        made.setLayout(line)
        return made
