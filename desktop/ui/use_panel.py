"""How to run a build best here: a card for each program, with what to copy."""

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.records.offers import BuildUse, UseWay
from desktop.ui import format as fmt
from desktop.ui.builds_fields import whole
from desktop.ui.components import (
    Body,
    Card,
    Heading,
    Muted,
    QuietButton,
    Reading,
    column,
    fill_page,
    row,
)
from desktop.ui.design import Space

_LEAST_LINES, _MOST_LINES = 2, 12


class UsePanel(QWidget):
    """A page with a way back."""

    back_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._shown: list[QWidget] = []
        self.back = QuietButton(self.tr("Back"))
        self.back.setToolTip(self.tr("Alt+Left"))
        self.title = Heading()
        self.title.wrap()
        self.told = Muted()
        self.copied = Muted()
        self._cards = QVBoxLayout()
        self._connect()
        self._lay_out()

    def show_use(self, use: BuildUse) -> None:
        """Show each program's command and settings."""
        for old in self._shown:
            old.hide()
            self._cards.removeWidget(old)
            old.deleteLater()
        self.title.setText(self.tr("How to run {name}").format(name=fmt.breakable(use.name)))
        self.told.setText("\n".join(map(whole, use.told)))
        self.told.setVisible(bool(use.told))
        self.copied.setText("")
        self._shown = [self._card(way) for way in use.ways]
        for card in self._shown:
            self._cards.addWidget(card)

    def _card(self, way: UseWay) -> Card:
        card = Card(way.program)
        for part in self._parts(way):
            card.body.addWidget(part)
        return card

    def _parts(self, way: UseWay) -> Iterator[QWidget]:
        if way.command:
            name = self.tr("Command of {program}").format(program=way.program)
            yield self._text(name, way.command, self.tr("Copy"))
        if way.file:
            yield Muted(self.tr("The file that it names:"))
            name = self.tr("File of {program}").format(program=way.program)
            yield self._text(name, way.file, self.tr("Copy the file"))
        for step in way.steps:
            yield Body(whole(step))

    def _text(self, name: str, text: str, words: str) -> QWidget:
        shown = _Whole(name, figures=True)
        shown.show_lines(text.splitlines())
        copy = QuietButton(words)
        copy.setAccessibleName(f"{words}: {name}")
        copy.clicked.connect(partial(self._copy, name, text))
        holder = QWidget()
        line = row(shown, copy, gap=Space.S)
        line.setStretch(0, 1)
        line.setAlignment(copy, Qt.AlignmentFlag.AlignTop)
        holder.setLayout(line)
        return holder

    def _copy(self, name: str, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.copied.setText(self.tr("Copied: {name}").format(name=name))

    def _connect(self) -> None:
        self.back.clicked.connect(self.back_asked)
        shortcut = QShortcut(QKeySequence("Alt+Left"), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.back_asked)

    def _lay_out(self) -> None:
        head = row(self.back, self.title)
        head.setStretch(1, 1)
        head.setAlignment(self.back, Qt.AlignmentFlag.AlignTop)
        self._cards.setSpacing(Space.M)
        layout = column(gap=Space.M)
        layout.addLayout(head)
        layout.addWidget(self.told)
        layout.addLayout(self._cards)
        layout.addWidget(self.copied)
        layout.addStretch(1)
        fill_page(self, layout, self.tr("How to run a build"))


class _Whole(Reading):
    """As high as its text is at the width that it has, within what a card has room for."""

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Lines break elsewhere then."""
        super().resizeEvent(event)
        # a plain text's height is told in lines
        lines = round(self.document().size().height())
        self.wish_lines(min(_MOST_LINES, max(_LEAST_LINES, lines)))
