"""The builds that fit: searched, filtered, sorted, and the selected one's details."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from desktop.records.fits import Fit, FitRow, Fits
from desktop.records.rehearsal import Rehearsal
from desktop.ui import format as fmt
from desktop.ui.components import (
    Body,
    MenuButton,
    Muted,
    QuietButton,
    RecordsModel,
    RecordsTable,
    Scale,
    SearchField,
    column,
    row,
)
from desktop.ui.design import Space
from desktop.ui.fits_fields import (
    GENERATION,
    MEMORY,
    MODEL,
    QUANT,
    Build,
    bar_words,
    build_of,
    detail_lines,
    fit_fields,
    names_of,
    reason_line,
    title,
)
from desktop.ui.reasons_pane import ReasonsPane

ALL, FITTING, ON_CARD = range(3)
"""The choices of what is shown."""
_SHOWN: Final = {
    ALL: frozenset(Fit),
    FITTING: frozenset(fit for fit in Fit if fit.runs),
    ON_CARD: frozenset({Fit.ON_CARD}),
}
_SORTS: Final = (
    (-1, Qt.SortOrder.AscendingOrder),
    (GENERATION, Qt.SortOrder.DescendingOrder),
    (MEMORY, Qt.SortOrder.AscendingOrder),
    (QUANT, Qt.SortOrder.DescendingOrder),
    (MODEL, Qt.SortOrder.AscendingOrder),
)


class FitsList(QWidget):
    """Shows `Fits` and tells what a person wants of one of them."""

    opened = Signal(object)
    """A `FitRow`."""
    rehearse_asked = Signal(object)
    """A `FitRow`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fits: Fits | None = None
        self._names: dict[Build, str] = {}
        self._rehearsals: Mapping[Build, Rehearsal] = {}
        self._blocked = False
        self.search = SearchField(self.tr("Search models and quantizations"))
        self.show_only = MenuButton(self.tr("Show"), self._choices(with_card=True))
        self.sort_by = MenuButton(self.tr("Sort"), self._sorts())
        self.count = Muted()
        self.model = RecordsModel(fit_fields(), quiet=lambda r: not r.runs, parent=self)
        self.table = RecordsTable(self.model, self.tr("What fits"))
        self.none = Body(self.tr("No build of this list has these words."))
        self.pane = ReasonsPane(
            self.tr("About the selected build"),
            self.tr("Select a build to see why its range is as wide as it is."),
        )
        self.open = QuietButton(self.tr("Open estimate"))
        self.rehearse = QuietButton(self.tr("Rehearse"))
        self._stack = QStackedWidget()
        self._connect()
        self._lay_out()

    def show_fits(self, fits: Fits, rehearsals: Mapping[Build, Rehearsal]) -> None:
        """Show the rows of one context; the selected build stays selected."""
        before = self._fits
        if before is None or (before.on_card_bytes is None) != (fits.on_card_bytes is None):
            self.show_only.set_choices(self._choices(with_card=fits.on_card_bytes is not None))
        self._fits = fits
        self._rehearsals = rehearsals
        self._names = {build_of(r): names_of(r) for r in fits.rows}
        self._fill()

    def use_scale(self, scale: Scale) -> None:
        """Draw all ranges on this scale."""
        self.table.use_scale(scale)

    def set_blocked(self, *, blocked: bool) -> None:
        """Something is measured: no rehearsal can begin."""
        self._blocked = blocked
        self._pick()

    def _fill(self) -> None:
        if self._fits is None:
            return
        chosen, words = self.table.current, self.search.words
        fitting = _SHOWN[self.show_only.choice]
        found = [
            r
            for r in self._fits.rows
            if r.fit in fitting and all(word in self._names[build_of(r)] for word in words)
        ]
        self.model.show_records(found)
        self._stack.setCurrentIndex(0 if found else 1)
        said = self.tr("{count} of {all}").format(count=len(found), all=len(self._fits.rows))
        self.count.setText(said)
        if chosen is not None:
            self.table.select(lambda r: r.model.id == chosen.model.id)
        self._pick()

    def _pick(self) -> None:
        found = self.table.current
        self.open.setEnabled(found is not None)
        can = found is not None and found.runs and not self._blocked
        self.rehearse.setEnabled(can)
        if found is None:
            self.pane.show_nothing(self._notes())
        else:
            rehearsal = self._rehearsals.get(build_of(found))
            self.pane.show_lines(title(found), detail_lines(found, rehearsal))

    def _notes(self) -> Iterable[str]:
        """How to read the table, and what is said once of all rows."""
        yield bar_words()
        if self._fits is not None:
            words = self.tr(
                "Of each model one quantization is listed, of those that most publishers make: the "
                "best in quality whose whole range is above {rate} tokens a second; where none is, "
                "the fastest, or a better one whose range overlaps the fastest's; where no speed "
                "is known, the smallest of good quality."
            )
            yield words.format(rate=fmt.number(self._fits.request.at_least_tok_s))
            yield from map(reason_line, (*self._fits.limits, *self._fits.told))

    def _tell(self, tell: Callable[[FitRow], object]) -> None:
        found = self.table.current
        if found is not None:
            tell(found)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._fill)
        self.show_only.chosen.connect(self._fill)
        self.sort_by.chosen.connect(lambda at: self.table.sortByColumn(*_SORTS[at]))
        self.table.picked.connect(self._pick)
        self.table.opened.connect(lambda at: self.opened.emit(self.model.record(at)))
        self.open.clicked.connect(lambda: self._tell(self.opened.emit))
        self.rehearse.clicked.connect(lambda: self._tell(self.rehearse_asked.emit))

    def _lay_out(self) -> None:
        top = row(self.search, self.show_only, self.sort_by, self.count, gap=Space.S)
        top.setStretch(0, 1)
        self.count.setWordWrap(False)
        nothing = QWidget()
        words = column(self.none)
        words.setAlignment(Qt.AlignmentFlag.AlignTop)
        nothing.setLayout(words)
        self._stack.addWidget(self.table)
        self._stack.addWidget(nothing)
        for button in (self.open, self.rehearse):
            self.pane.buttons.addWidget(button)
        self.pane.buttons.addStretch(1)
        self.rehearse.setToolTip(
            self.tr(
                "Measure a file of this build's shapes with random weights: seconds instead of a "
                "download."
            )
        )
        parts = column(gap=Space.S)
        parts.addLayout(top)
        parts.addWidget(self._stack, 1)
        parts.addWidget(self.pane)
        self.setLayout(parts)

    def _choices(self, *, with_card: bool) -> tuple[str, ...]:
        if not with_card:
            return (self.tr("all"), self.tr("fits in memory"))
        return (self.tr("all"), self.tr("fits, offload too"), self.tr("fits on the card"))

    def _sorts(self) -> tuple[str, ...]:
        return (
            self.tr("what fits best"),
            self.tr("fastest first"),
            self.tr("least memory first"),
            self.tr("best quality first"),
            self.tr("by name"),
        )
