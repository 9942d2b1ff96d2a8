"""The parts of a model's page that are tables: ranked devices, sizes, devices without a result."""

from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QWidget

from desktop.estimate import printed
from desktop.estimate.page import ModelPage
from desktop.estimate.page_row import NoResult, PageRow
from desktop.estimate.page_words import Said
from desktop.records.estimate import Configuration
from desktop.ui import estimate_words as ew
from desktop.ui.components import (
    Muted,
    QuietButton,
    RecordsModel,
    RecordsTable,
    SearchField,
    column,
    row,
    scale_over,
)
from desktop.ui.design import Space
from desktop.ui.estimate_fields import (
    Ranked,
    bandwidth,
    device_fields,
    size_fields,
    without_fields,
)
from desktop.ui.reasons_pane import ReasonsPane, reason_lines


class DevicesPart(QWidget):
    """Devices by how fast they generate, and why the selected one's range is as it is."""

    opened = Signal(str)
    """A configuration's id."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page: ModelPage | None = None
        self._ranked: tuple[Ranked, ...] = ()
        self.words = Muted()
        self.search = SearchField(self.tr("Search devices"))
        self.model = RecordsModel(device_fields(), pinned=lambda r: r.here, parent=self)
        self.table = RecordsTable(self.model, ew.words("ranked.heading"))
        self.pane = ReasonsPane(
            self.tr("About the selected device"),
            self.tr("Select a device to see why its range is as wide as it is."),
        )
        self.open = QuietButton(self.tr("Open device"))
        self.pane.buttons.addWidget(self.open)
        self.pane.buttons.addStretch(1)
        self.search.textChanged.connect(self._show)
        self.table.picked.connect(self._pick)
        self.table.opened.connect(lambda at: self.opened.emit(_id(self.model.record(at).row)))
        self.open.clicked.connect(self._open_current)
        top = row(self.search, self.words)
        top.setStretch(0, 1)
        top.setStretch(1, 2)
        parts = column(gap=Space.S)
        parts.addLayout(top)
        parts.addWidget(self.table, 1)
        parts.addWidget(self.pane)
        self.setLayout(parts)

    def show_page(self, page: ModelPage, here: PageRow | None = None) -> None:
        """Show its devices; `here` is this machine, where it has an estimate."""
        self._page = page
        with_cache = page.profile.ceiling_with_cache
        first = () if here is None else (Ranked(None, here, with_cache),)
        rest = (Ranked(rank, row, with_cache) for rank, row in enumerate(page.rows, 1))
        self._ranked = (*first, *rest)
        self.words.setText(f"{ew.words('ranked.label')} {position_words(page)}")
        self.table.use_scale(scale_over(ranked.span for ranked in self._ranked))
        self._show()

    def _show(self) -> None:
        if self._page is None:
            return
        chosen = self.table.current
        words = self.search.words
        found = [ranked for ranked in self._ranked if _has(ranked.row.configuration, words)]
        unit, context = self._page.profile.memory_unit_bytes, position_words(self._page)
        self.model.show_records(found, device_fields(unit, context))
        if chosen is not None:
            self.table.select(lambda ranked: _id(ranked.row) == _id(chosen.row))
        self._pick()

    def _pick(self) -> None:
        ranked, page = self.table.current, self._page
        self.open.setEnabled(ranked is not None)
        if ranked is None or page is None:
            self.pane.show_nothing(_notes(page) if page else ())
        else:
            title = f"{ranked.row.configuration.name} \N{MIDDLE DOT} {ranked.row.best.quant.label}"
            self.pane.show_lines(title, ranked_lines(ranked, page))

    def _open_current(self) -> None:
        ranked = self.table.current
        if ranked is not None:
            self.opened.emit(_id(ranked.row))


class SizesPart(QWidget):
    """The model's weights in each quantization."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = RecordsModel(size_fields(), parent=self)
        self.table = RecordsTable(self.model, ew.words("sizes.heading"))
        notes = Muted(ew.words("sizes.note.basis", "sizes.note.quality"))
        parts = column(notes, self.table, gap=Space.S)
        parts.setStretch(1, 1)
        self.setLayout(parts)

    def show_page(self, page: ModelPage) -> None:
        """Show its sizes, the best quality first."""
        self.model.show_records(page.sizes, size_fields(page.profile.memory_unit_bytes))


class WithoutPart(QWidget):
    """Devices that have a reason instead of a number."""

    opened = Signal(str)
    """A configuration's id."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._unit = printed.GIB
        self.model = RecordsModel(without_fields(), parent=self)
        self.table = RecordsTable(self.model, ew.words("none.heading"))
        self.pane = ReasonsPane(
            self.tr("About the selected device"),
            self.tr("Select a device to read the whole reason."),
        )
        self.table.picked.connect(self._pick)
        self.table.opened.connect(
            lambda at: self.opened.emit(self.model.record(at).configuration.id)
        )
        notes = Muted(ew.words("none.note.reason", "none.note.slow", "none.note.quant"))
        parts = column(notes, self.table, self.pane, gap=Space.S)
        parts.setStretch(1, 1)
        self.setLayout(parts)

    def show_page(self, page: ModelPage) -> None:
        """Show those of its devices."""
        self._unit = page.profile.memory_unit_bytes
        self.model.show_records(page.without, without_fields(self._unit))
        self._pick()

    def _pick(self) -> None:
        found = self.table.current
        if found is None:
            self.pane.show_nothing()
        else:
            self.pane.show_lines(found.configuration.name, without_lines(found, self._unit))


def position_words(page: ModelPage) -> str:
    """What every rate of the page holds for."""
    return ew.said(Said("head.position", {"position": f"{page.sheet.use.depth:,}"}))


def ranked_lines(ranked: Ranked, page: ModelPage) -> Iterator[str]:
    """All that a row says, where it may have had no room, and what its reasons mean."""
    found = ranked.row
    runner_up = found.runner_up.quant.label if found.runner_up else ""
    full = found.at_full_context.best
    words = _tr("Estimate: {span} tok/s, ceiling {ceiling} tok/s. Under {target}.")
    yield words.format(
        span=printed.span(found.speed),
        ceiling=printed.rate(ranked.span.ceiling or 0),
        target=found.best.target.id,
    )
    if runner_up:
        yield _tr("The next quantization is {quant}.").format(quant=runner_up)
    fitting = full.quant.label if full else _tr("nothing fits")
    words = _tr("At the model's full context of {tokens} tokens: {quant}.")
    yield words.format(tokens=f"{page.full_context:,}", quant=fitting)
    if found.estimate.tier is not None:
        yield ew.tier_words(found.estimate.tier, page.profile.id)
    yield from reason_lines(found.estimate.reasons)


def without_lines(found: NoResult, unit: int) -> Iterator[str]:
    """What is known of a device, and why it has no result."""
    device = found.configuration
    words = _tr("Known: {usable} of usable memory, {bandwidth} of peak bandwidth.")
    usable = printed.memory(device.usable_bytes, unit)
    yield words.format(usable=usable, bandwidth=bandwidth(device.bandwidth_bytes_s))
    yield ew.explained(found.reason)


def _notes(page: ModelPage) -> Iterator[str]:
    yield ew.words("ranked.note.band")
    yield _tr("The upright mark is the ceiling; bars stand on one logarithmic scale.")
    yield ew.words("ranked.note.choice")
    yield ew.said(Said("ranked.note.context", {"context": f"{page.full_context:,}"}))
    yield ew.words("ranked.note.order")


def _has(device: Configuration, words: tuple[str, ...]) -> bool:
    names = f"{device.name} {device.id} {device.vendor}".casefold()
    return all(word in names for word in words)


def _tr(text: str) -> str:
    return QCoreApplication.translate("EstimateDevices", text)


def _id(found: PageRow) -> str:
    return found.configuration.id
