"""Builds that can be had: what fits first, then with offload, then why not."""

import re
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
    found_repository,
    group,
    is_found,
    is_quiet,
    names_in,
    newest,
    offer_fields,
    offer_lines,
    offer_title,
    reading_lines,
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
from desktop.ui.hub_words import HubName
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
    token_asked = Signal(object)
    """A `BuildOffer` that is gated."""
    ask_asked = Signal()
    search_asked = Signal(str)
    add_asked = Signal(str)
    again_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._offers: Offers | None = None
        self._blocked = self._is_busy = False
        self._fetched: frozenset[str] = frozenset()
        self._hub = HubName()
        self._asked_words = ""
        self._searched: str | None = None
        self._found: tuple[str, ...] = ()
        self.search = SearchField("")
        self.show_only = MenuButton(self.tr("Show"), self._choices())
        self.sort_by = MenuButton(self.tr("Sort"), self._sorts())
        self.search_hub = QuietButton("")
        self.count = Muted()
        self.name = SearchField(self.tr("Add owner/repository, an address, a file or a folder"))
        self.add = QuietButton(self.tr("Add"))
        self.add.setToolTip(
            self.tr("List the builds of a repository, or use your own file or folder of builds")
        )
        self.ask = QuietButton("")
        self.asked = Muted()
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
        self.show_builds = PrimaryButton(self.tr("Show builds"))
        self.token = QuietButton(self.tr("Give a token"))
        self._stack = ListStack(
            _held(self.waiting), _held(self.why, self.again), _held(self.none), table=self.table
        )
        self._connect()
        self._lay_out()
        self.use_hub(self._hub)
        self.show_going_on(0.0)
        self._fill()

    def use_hub(self, hub: HubName) -> None:
        """Name the hub that is searched and asked."""
        self._hub = hub
        name = self.tr("Search this list and {hub}").format(hub=hub.name)
        self.search.setPlaceholderText(name)
        self.search.setAccessibleName(name)
        words = self.tr("Words narrow the list at once; Return searches {hub} for them too")
        self.search.setToolTip(words.format(hub=hub.name))
        self.search_hub.setText(self.tr("Search {hub}").format(hub=hub.short))
        words = self.tr("Look for repositories with these words on {hub}")
        self.search_hub.setToolTip(words.format(hub=hub.explained))
        self.ask.setText(self.tr("Refresh from {hub}").format(hub=hub.short))
        words = self.tr("Ask {hub}, which builds there are of these models, and their sizes")
        self.ask.setToolTip(words.format(hub=hub.name))
        self._show_asked(self._offers)
        self._pick()

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

    def show_found(self, names: Sequence[str]) -> None:
        """Repositories that the search found: they stand above all, for as long as its words do."""
        self._searched, self._found = self._asked_words, tuple(names)
        self._show_asked(self._offers)
        self._fill()
        if names:
            self.table.select(is_found)

    def show_busy(self, *, busy: bool) -> None:
        """The hub is asked; or it has answered, or cannot."""
        self._is_busy = busy
        for part in (self.ask, self.search_hub, self.add, self.show_builds):
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
        """What was added, as it was named: its builds are listed, the first of them selected.

        False where it has none in this list.
        """
        self.name.clear()
        self._found = tuple(found for found in self._found if found != name)
        offers = self._offers.offers if self._offers else ()
        repository = next((r for r in (o.build.repository for o in offers) if _names(name, r)), "")
        if not repository:
            self._fill()
            return False
        self.search.setText(repository)
        self.show_only.choose(ALL)
        self.table.select(lambda offer: offer.build.repository == repository)
        return True

    def repository_of(self, name: str) -> str:
        """Of the build that is offered under this name, `owner/repo`; empty: it is not here."""
        offers = self._offers.offers if self._offers else ()
        found = (o.build.repository for o in offers if o.build.name == name)
        return next(found, "")

    def _try_again(self) -> None:
        self._stack.setCurrentIndex(LOADING)
        self.again_asked.emit()

    def _fill(self) -> None:
        if self._offers is None:
            return
        chosen: BuildOffer | None = self.table.current
        offers = self._offers.offers
        found = self._wanted(offers)
        self.model.show_records((*map(found_repository, self._shown_found()), *found))
        self.count.show()
        self.count.setText(self.tr("{count} of {all}").format(count=len(found), all=len(offers)))
        self.none.setText(self._why_none(offers))
        self._stack.setCurrentIndex(FILLED if self.model.rowCount() else EMPTY)
        if chosen is not None:
            self.table.select(lambda o: o.build.name == chosen.build.name)
        self._pick()

    def _wanted(self, offers: Sequence[BuildOffer]) -> list[BuildOffer]:
        words = self.search.words
        shown = (o for o in offers if self._is_shown(o) and _has(o, words))
        return sorted(shown, key=group)

    def _shown_found(self) -> tuple[str, ...]:
        return self._found if self._is_searched() else ()

    def _is_searched(self) -> bool:
        """Whether the words are those that the hub has answered."""
        return self._searched is not None and self._searched == self.search.text().strip()

    def _is_shown(self, offer: BuildOffer) -> bool:
        choice = self.show_only.choice
        if choice == ALL or offer.fit is None:
            return choice == ALL
        return offer.fit.fit in _WHOLLY if choice == WHOLLY else offer.fit.runs

    def _why_none(self, offers: Sequence[BuildOffer]) -> str:
        if not offers:
            words = self.tr(
                "No build is known yet. Refresh from {hub}, search it, or add a repository by its "
                "name."
            )
            return words.format(hub=self._hub.name)
        if self._is_searched():
            return self.tr("No build of this list is so. Search for other words, or show all.")
        words = self.tr(
            "No build of this list is so. Press Return to search {hub} for these words, or show "
            "all of them."
        )
        return words.format(hub=self._hub.name)

    def _pick(self) -> None:
        found: BuildOffer | None = self.table.current
        held = None if found is None else found.held
        usable = found is not None and found.place in {Place.HERE, Place.ELSEWHERE}
        unlisted = found is not None and is_found(found)
        can_get = found is not None and not usable and found.build.name not in self._fetched
        self.show_builds.setVisible(unlisted)
        self.show_builds.setEnabled(not self._is_busy)
        for button in (self.get_and_measure, self.get):
            button.setVisible(not usable and not unlisted)
            button.setEnabled(can_get)
        for button in (self.measure, self.use):
            button.setVisible(usable)
        self.token.setVisible(found is not None and not usable and bool(found.build.gated))
        self.measure.setEnabled(usable and not self._blocked and held is not None)
        if found is None:
            self.pane.show_nothing(self._notes())
        else:
            page = self._hub.page(found.build.repository)
            self.pane.show_lines(offer_title(found), offer_lines(found, page))

    def _notes(self) -> Iterator[str]:
        """How to read the table, and what is said once of all rows."""
        yield from reading_lines(self._hub.name)
        if self._offers is not None:
            yield from map(whole, self._offers.told)

    def _show_asked(self, offers: Offers | None) -> None:
        if self._is_busy or offers is None:
            words = self.tr("Asking {hub} …").format(hub=self._hub.name)
            self.asked.setText(words if self._is_busy else "")
            return
        if self._is_searched():
            self.asked.setText(self._said_found())
            return
        failed = tuple(map(messages.sentence, () if offers.online else offers.told))
        helps = self.tr("Return searches there too.")
        self.asked.setText(" ".join((*failed, self._said_asked(offers, failed), helps)))

    def _said_asked(self, offers: Offers, failed: Sequence[str]) -> str:
        at, hub = newest(offers.offers), self._hub.explained
        if at is not None:
            words = self.tr("{hub} was last asked on {date}.")
            return words.format(hub=hub, date=fmt.date(at))
        if failed:
            return self.tr("What is shown was shipped with Gram, not listed by {hub}.").format(
                hub=hub
            )
        return self.tr("As shipped with Gram; {hub} was not asked yet.").format(hub=hub)

    def _said_found(self) -> str:
        count, hub = len(self._found), self._hub.name
        if not count:
            words = self.tr("{hub} knows no other repository of builds with these words.")
            return words.format(hub=hub)
        if count == 1:
            words = self.tr("{hub} has one repository with these words, above the list's builds.")
            return words.format(hub=hub)
        words = self.tr("{hub} has {count} repositories with these words, above the list's builds.")
        return words.format(hub=hub, count=count)

    def _tell(self, signal: object, *more: object) -> None:
        found = self.table.current
        if found is not None:
            signal.emit(found, *more)  # type: ignore[attr-defined] # a bound signal

    def _open(self) -> None:
        """Return or a double click: the first thing that can be done."""
        for button in (self.show_builds, self.get_and_measure, self.measure):
            if button.isVisible() and button.isEnabled():
                button.setFocus()

    def _measure(self) -> None:
        found: BuildOffer | None = self.table.current
        if found is not None and found.held is not None:
            self.measure_asked.emit(found.held)

    def _show_builds(self) -> None:
        found: BuildOffer | None = self.table.current
        if found is not None:
            self.add_asked.emit(found.build.repository)

    def _search_changed(self) -> None:
        self._show_asked(self._offers)
        self._fill()

    def _ask_words(self) -> None:
        words = self.search.text().strip()
        if words:
            self._asked_words = words
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
        self.search.textChanged.connect(self._search_changed)
        self.search.returnPressed.connect(self._ask_words)
        self.show_only.chosen.connect(self._fill)
        self.sort_by.chosen.connect(lambda at: self.table.sortByColumn(*_SORTS[at]))
        self.search_hub.clicked.connect(self._ask_words)
        self.name.returnPressed.connect(self._add)
        self.add.clicked.connect(self._add)
        self.ask.clicked.connect(self.ask_asked)
        self.show_builds.clicked.connect(self._show_builds)
        self.token.clicked.connect(lambda: self._tell(self.token_asked))
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
        for button in (
            self.show_builds,
            self.get_and_measure,
            self.get,
            self.measure,
            self.use,
            self.token,
        ):
            self.pane.buttons.addWidget(button)
        self.pane.buttons.addStretch(1)
        parts = column(gap=Space.S)
        parts.addLayout(top)
        parts.addLayout(hub)
        parts.addWidget(self.asked)
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


def _names(text: str, repository: str) -> bool:
    """Whether a text means the repository: alone, or in an address or a build's name."""
    found = rf"(^|/){re.escape(repository)}($|[/:?#@])"
    return re.search(found, text.strip(), re.IGNORECASE) is not None


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
