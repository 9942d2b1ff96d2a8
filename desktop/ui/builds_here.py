"""Builds on this machine, whoever keeps them."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.records.library import Kept
from desktop.records.offers import HeldBuild, Shelf
from desktop.ui import format as fmt
from desktop.ui.builds_fields import held_fields, held_lines, whole
from desktop.ui.components import (
    Action,
    Banner,
    Body,
    Kind,
    QuietButton,
    RecordsModel,
    RecordsTable,
    column,
    row,
)
from desktop.ui.design import Space
from desktop.ui.list_stack import ListStack
from desktop.ui.reasons_pane import ReasonsPane

EMPTY, FILLED = range(2)


class HerePart(QWidget):
    """Shows a `Shelf` and tells what a person wants of one build of it."""

    measure_asked = Signal(object)
    use_asked = Signal(object)
    pin_asked = Signal(object)
    check_asked = Signal(object)
    delete_asked = Signal(object)
    """Each with a `HeldBuild`; deletion is confirmed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shelf: Shelf | None = None
        self._blocked = False
        self._checked: frozenset[str] = frozenset()
        self.model = RecordsModel(
            held_fields(), quiet=lambda h: h.kept is not Kept.WHOLE, parent=self
        )
        self.table = RecordsTable(self.model, self.tr("Builds on this machine"))
        self.none = Body(self.tr("Looking what is on this machine …"))
        self.question = Banner()
        self.pane = ReasonsPane(
            self.tr("About the selected build"), self.tr("Select a build to see what it is.")
        )
        self.measure = QuietButton(self.tr("Measure"))
        self.use = QuietButton(self.tr("How to run it"))
        self.pin = QuietButton(self.tr("Pin"))
        self.check = QuietButton(self.tr("Check again"))
        self.delete = QuietButton(self.tr("Delete"))
        nothing = QWidget()
        words = column(self.none)
        words.addStretch(1)
        nothing.setLayout(words)
        self._stack = ListStack(nothing, table=self.table)
        self._connect()
        self._lay_out()
        self._pick()

    def show_shelf(self, shelf: Shelf) -> None:
        """Show what is here; the selected build stays selected."""
        chosen: HeldBuild | None = self.table.current
        self._shelf = shelf
        self.model.show_records(shelf.held)
        self.none.setText(
            self.tr("No build is on this machine yet. What is downloaded is listed here.")
        )
        self._stack.setCurrentIndex(FILLED if shelf.held else EMPTY)
        if chosen is not None:
            self.table.select(lambda h: (h.name, h.files) == (chosen.name, chosen.files))
        self._pick()

    def set_blocked(self, *, blocked: bool) -> None:
        """Something is measured: nothing else can be."""
        self._blocked = blocked
        self._pick()

    def set_checked(self, names: frozenset[str]) -> None:
        """Builds that are read again now."""
        self._checked = names
        self._pick()

    def _pick(self) -> None:
        held: HeldBuild | None = self.table.current
        if held is None:
            told = () if self._shelf is None else self._shelf.told
            self.pane.show_nothing(map(whole, told))
        else:
            self.pane.show_lines(held.name, held_lines(held))
        usable = held is not None and held.kept is Kept.WHOLE
        own = held is not None and held.ours and held.sha256 is not None
        busy = held is not None and held.name in self._checked
        self.measure.setEnabled(usable and not self._blocked)
        self.use.setEnabled(usable)
        self.pin.setText(self.tr("Unpin") if held and held.pinned else self.tr("Pin"))
        self.pin.setEnabled(own)
        self.check.setEnabled(own and usable and not busy)
        self.delete.setEnabled(own and not busy and not self._blocked)

    def _ask_delete(self) -> None:
        held: HeldBuild | None = self.table.current
        if held is None:
            return
        words = self.tr("Delete {name}?").format(name=held.name)
        frees = self.tr("{size} on the disk; {freed} become free.")
        said = frees.format(size=fmt.size(held.size_bytes), freed=fmt.size(held.freed_bytes))
        if held.pinned:
            said = f"{said} {self.tr('It is pinned.')}"
        delete = Action(self.tr("Delete it"), lambda: self._delete(held))
        self.question.say(Kind.WARN, words, said, (delete,), dismiss=self.tr("Keep it"))
        self.question.focus_dismiss()

    def _delete(self, held: HeldBuild) -> None:
        self.question.hide()
        self.table.setFocus()
        self.delete_asked.emit(held)

    def _tell(self, signal: object) -> None:
        held = self.table.current
        if held is not None:
            signal.emit(held)  # type: ignore[attr-defined] # a bound signal

    def _connect(self) -> None:
        self.table.picked.connect(self._pick)
        self.table.picked.connect(self.question.hide)
        self.table.opened.connect(lambda _: self.measure.setFocus())
        self.measure.clicked.connect(lambda: self._tell(self.measure_asked))
        self.use.clicked.connect(lambda: self._tell(self.use_asked))
        self.pin.clicked.connect(lambda: self._tell(self.pin_asked))
        self.check.clicked.connect(lambda: self._tell(self.check_asked))
        self.delete.clicked.connect(self._ask_delete)
        self.question.dismissed.connect(self.table.setFocus)

    def _lay_out(self) -> None:
        # side by side: so many below each other would take the table's room
        for pair in ((self.measure, self.use), (self.pin, self.check), (self.delete,)):
            self.pane.buttons.addLayout(row(*pair, gap=Space.S))
        self.pane.buttons.addStretch(1)
        parts = column(gap=Space.S)
        parts.addWidget(self._stack, 1)
        parts.addWidget(self.question)
        parts.addWidget(self.pane)
        self.setLayout(parts)
