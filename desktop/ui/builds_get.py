"""Builds that can be had: what fits first, then with offload, then why not."""

from collections.abc import Iterator, Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from desktop.errors import Reason
from desktop.records.fits import Fit
from desktop.records.offers import BuildOffer, Offers, Place
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.builds_fields import (
    BUILD,
    SIZE,
    SPEED,
    group,
    is_quiet,
    names_in,
    newest,
    offer_fields,
    offer_lines,
    offer_title,
    whole,
)
from desktop.ui.components import (
    Body,
    MenuButton,
    Muted,
    PrimaryButton,
    Progress,
    QuietButton,
    RecordsModel,
    RecordsTable,
    SearchField,
    column,
    row,
    scale_over,
)
from desktop.ui.design import Space
from desktop.ui.fits_fields import span_of
from desktop.ui.found_strip import FoundStrip
from desktop.ui.list_stack import ListStack
from desktop.ui.reasons_pane import ReasonsPane

LOADING, FAILED, EMPTY, FILLED = range(4)
ALL, FITTING, WHOLLY = range(3)
"""The choices of what is shown."""
_SORTS: Final = (
    (-1, Qt.SortOrder.AscendingOrder),
    (SPEED, Qt.SortOrder.DescendingOrder),
    (SIZE, Qt.SortOrder.AscendingOrder),
    (BUILD, Qt.SortOrder.AscendingOrder),
)
_WHOLLY: Final = frozenset({Fit.ON_CARD, Fit.IN_MEMORY})


class GetPart(QWidget):
    """Shows `Offers` and tells what a person wants of one of them."""

    get_asked = Signal(object, bool)
    """A `BuildOffer`, and whether it is measured then."""
    measure_asked = Signal(object)
    """A `HeldBuild`."""
    use_asked = Signal(object)
    """A `BuildOffer`."""
    ask_asked = Signal()
    search_asked = Signal(str)
    add_asked = Signal(str)
    again_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._offers: Offers | None = None
        self._blocked = self._is_busy = False
        self._fetched: frozenset[str] = frozenset()
        self.search = SearchField(self.tr("Search builds"))
        self.show_only = MenuButton(self.tr("Show"), self._choices())
        self.sort_by = MenuButton(self.tr("Sort"), self._sorts())
        self.search_hub = QuietButton(self.tr("Search the hub"))
        self.count = Muted()
        self.name = SearchField(self.tr("Add owner/repository, an address, a file or a folder"))
        self.add = QuietButton(self.tr("Add"))
        self.ask = QuietButton(self.tr("Ask the hub"))
        self.asked = Muted()
        self.found = FoundStrip()
        self.model = RecordsModel(offer_fields(), quiet=is_quiet, parent=self)
        self.table = RecordsTable(self.model, self.tr("Builds that can be had"))
        self.waiting = Progress(self.tr("Progress of working out what fits"))
        self.why = Body()
        self.again = QuietButton(self.tr("Try again"))
        self.none = Body()
        self.pane = ReasonsPane(
            self.tr("About the selected build"),
            self.tr("Select a build to see what it is and why it runs as fast as it does."),
        )
        self.get_and_measure = PrimaryButton(self.tr("Get and measure"))
        self.get = QuietButton(self.tr("Get"))
        self.measure = QuietButton(self.tr("Measure"))
        self.use = QuietButton(self.tr("How to run it"))
        self._stack = ListStack(
            _held(self.waiting), _held(self.why, self.again), _held(self.none), table=self.table
        )
        self._connect()
        self._lay_out()
        self.show_going_on(0.0)
        self._fill()

    def show_going_on(self, fraction: float) -> None:
        """How much of what fits is worked out, 0 to 1; without it nothing can be offered."""
        held_up = self.tr("Waiting until what is measured has ended")
        words = held_up if self._blocked else self.tr("Working out what fits")
        self.waiting.show_step(fraction, words)

    def show_failure(self, reason: Reason) -> None:
        """What fits could not be worked out; what is shown already stays."""
        if self._offers is None:
            self.why.setText(whole(reason))
            self._stack.setCurrentIndex(FAILED)

    def show_offers(self, offers: Offers) -> None:
        """Show them; the selected build stays selected."""
        self._offers = offers
        spans = (span_of(o.fit) for o in offers.offers if o.fit is not None)
        self.table.use_scale(scale_over(span for span in spans if span))
        self._show_asked(offers)
        self._fill()

    def show_busy(self, *, busy: bool) -> None:
        """The hub is asked; or it has answered, or cannot."""
        self._is_busy = busy
        for part in (self.ask, self.search_hub, self.add):
            part.setEnabled(not busy)
        self._show_asked(self._offers)

    def set_blocked(self, *, blocked: bool) -> None:
        """Something is measured: nothing else can be."""
        self._blocked = blocked
        self.show_going_on(0.0)
        self._pick()

    def set_fetched(self, names: frozenset[str]) -> None:
        """Builds that are downloaded now: they need not be asked for again."""
        self._fetched = names
        self._pick()

    def show_added(self, name: str) -> bool:
        """What was added, as it was named: its first build is selected, if it has one here."""
        self.name.clear()
        self.found.take_away(name)
        words = name.casefold()

        def is_of(offer: BuildOffer) -> bool:
            return offer.build.repository.casefold() in words

        if self._offers is None or not any(map(is_of, self._offers.offers)):
            return False
        self.search.clear()
        self.show_only.choose(ALL)
        self.table.select(is_of)
        return True

    def _try_again(self) -> None:
        self._stack.setCurrentIndex(LOADING)
        self.again_asked.emit()

    def _fill(self) -> None:
        if self._offers is None:
            return
        chosen: BuildOffer | None = self.table.current
        offers = self._offers.offers
        found = self._wanted(offers)
        self.model.show_records(found)
        self.count.show()
        self.count.setText(self.tr("{count} of {all}").format(count=len(found), all=len(offers)))
        self.none.setText(self._why_none(offers))
        self._stack.setCurrentIndex(FILLED if found else EMPTY)
        if chosen is not None:
            self.table.select(lambda o: o.build.name == chosen.build.name)
        self._pick()

    def _wanted(self, offers: Sequence[BuildOffer]) -> list[BuildOffer]:
        words = self.search.words
        shown = (o for o in offers if self._is_shown(o) and _has(o, words))
        return sorted(shown, key=group)

    def _is_shown(self, offer: BuildOffer) -> bool:
        choice = self.show_only.choice
        if choice == ALL or offer.fit is None:
            return choice == ALL
        return offer.fit.fit in _WHOLLY if choice == WHOLLY else offer.fit.runs

    def _why_none(self, offers: Sequence[BuildOffer]) -> str:
        if not offers:
            return self.tr(
                "No build is known yet. Ask the hub, search it, or add a repository by its name."
            )
        return self.tr(
            "No build of this list is so. Search the hub for these words, or show all of them."
        )

    def _pick(self) -> None:
        found: BuildOffer | None = self.table.current
        held = None if found is None else found.held
        usable = found is not None and found.place in {Place.HERE, Place.ELSEWHERE}
        can_get = found is not None and not usable and found.build.name not in self._fetched
        for button in (self.get_and_measure, self.get):
            button.setVisible(not usable)
            button.setEnabled(can_get)
        for button in (self.measure, self.use):
            button.setVisible(usable)
        self.measure.setEnabled(usable and not self._blocked and held is not None)
        if found is None:
            self.pane.show_nothing(self._notes())
        else:
            self.pane.show_lines(offer_title(found), offer_lines(found))

    def _notes(self) -> Iterator[str]:
        """How to read the table, and what is said once of all rows."""
        yield self.tr(
            "Builds that fit come first, then those that need the system's memory besides a "
            "card, then those that do not run here. Speeds are estimates, not measurements."
        )
        yield self.tr("Sizes with \N{ALMOST EQUAL TO} are estimates until the hub is asked.")
        if self._offers is not None:
            yield from map(whole, self._offers.told)

    def _show_asked(self, offers: Offers | None) -> None:
        if self._is_busy or offers is None:
            self.asked.setText(self.tr("Asking the hub …") if self._is_busy else "")
            return
        at = newest(offers.offers)
        failed = tuple(map(messages.sentence, () if offers.online else offers.told))
        if at is not None:
            words = self.tr("The hub was last asked on {date}.").format(date=fmt.date(at))
        elif failed:
            words = self.tr("What is shown was shipped with Gram.")
        else:
            words = self.tr("As shipped with Gram; the hub was not asked yet.")
        self.asked.setText(" ".join((*failed, words)))

    def _tell(self, signal: object, *more: object) -> None:
        found = self.table.current
        if found is not None:
            signal.emit(found, *more)  # type: ignore[attr-defined] # a bound signal

    def _open(self) -> None:
        """Return or a double click: the first thing that can be done."""
        for button in (self.get_and_measure, self.measure):
            if button.isVisible() and button.isEnabled():
                button.setFocus()

    def _measure(self) -> None:
        found: BuildOffer | None = self.table.current
        if found is not None and found.held is not None:
            self.measure_asked.emit(found.held)

    def _ask_words(self) -> None:
        words = self.search.text().strip()
        if words:
            self.search_asked.emit(words)
        else:
            self.search.setFocus()

    def _add(self) -> None:
        name = self.name.text().strip()
        if name:
            self.add_asked.emit(name)
        else:
            self.name.setFocus()

    def _connect(self) -> None:
        self.search.textChanged.connect(self._fill)
        self.search.returnPressed.connect(self._ask_words)
        self.show_only.chosen.connect(self._fill)
        self.sort_by.chosen.connect(lambda at: self.table.sortByColumn(*_SORTS[at]))
        self.search_hub.clicked.connect(self._ask_words)
        self.name.returnPressed.connect(self._add)
        self.add.clicked.connect(self._add)
        self.ask.clicked.connect(self.ask_asked)
        self.found.add_asked.connect(self.add_asked)
        self.again.clicked.connect(self._try_again)
        self.table.picked.connect(self._pick)
        self.table.opened.connect(lambda _: self._open())
        self.get_and_measure.clicked.connect(lambda: self._tell(self.get_asked, True))
        self.get.clicked.connect(lambda: self._tell(self.get_asked, False))
        self.measure.clicked.connect(self._measure)
        self.use.clicked.connect(lambda: self._tell(self.use_asked))

    def _lay_out(self) -> None:
        menus = (self.show_only, self.sort_by)
        top = row(self.search, self.search_hub, *menus, self.count, gap=Space.S)
        top.setStretch(0, 1)
        self.count.setWordWrap(False)
        self.count.hide()
        hub = row(self.name, self.add, self.ask, gap=Space.S)
        hub.setStretch(0, 1)
        for button in (self.get_and_measure, self.get, self.measure, self.use):
            self.pane.buttons.addWidget(button)
        self.pane.buttons.addStretch(1)
        parts = column(gap=Space.S)
        parts.addLayout(top)
        parts.addLayout(hub)
        parts.addWidget(self.asked)
        parts.addWidget(self.found)
        parts.addWidget(self._stack, 1)
        parts.addWidget(self.pane)
        self.setLayout(parts)

    def _choices(self) -> tuple[str, ...]:
        return (self.tr("all"), self.tr("what runs here"), self.tr("what fits wholly"))

    def _sorts(self) -> tuple[str, ...]:
        return (
            self.tr("what fits best"),
            self.tr("fastest first"),
            self.tr("smallest first"),
            self.tr("by name"),
        )


def _has(offer: BuildOffer, words: Sequence[str]) -> bool:
    names = names_in(offer) if words else ""
    return all(word in names for word in words)


def _held(*parts: QWidget) -> QWidget:
    holder = QWidget()
    lines = column(*parts)
    for part in parts[1:]:
        lines.setAlignment(part, Qt.AlignmentFlag.AlignLeft)
    lines.addStretch(1)
    holder.setLayout(lines)
    return holder
