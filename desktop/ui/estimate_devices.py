"""The parts of a model's page that are tables: ranked devices, sizes, devices without a result."""

from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QWidget

from desktop.estimate import printed
from desktop.estimate.page import ModelPage
from desktop.estimate.page_row import NoResult
from desktop.estimate.page_words import Said, position_said, room_said
from desktop.records.fits import Fits
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
    bandwidth,
    device_fields,
    size_fields,
    without_fields,
)
from desktop.ui.ranked import Ranked, ranked_rows
from desktop.ui.reasons_pane import ReasonsPane


class DevicesPart(QWidget):
    """Devices by how fast they generate, and why the selected one's range is as it is."""

    opened = Signal(str)
    """A configuration's id; of this machine empty."""

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
        self.table.opened.connect(lambda at: self.opened.emit(self.model.record(at).id))
        self.open.clicked.connect(self._open_current)
        top = row(self.search, self.words)
        top.setStretch(0, 1)
        top.setStretch(1, 2)
        parts = column(gap=Space.S)
        parts.addLayout(top)
        parts.addWidget(self.table, 1)
        parts.addWidget(self.pane)
        self.setLayout(parts)

    def show_page(self, page: ModelPage, here: Fits | None = None) -> None:
        """Show its devices; `here` is what is known of the model on this machine."""
        self._page = page
        self._ranked = ranked_rows(page, here)
        holds = (ew.words("ranked.label"), position_words(page), room_words(page.sheet.use.context))
        self.words.setText(" ".join(holds))
        self.table.use_scale(scale_over(r.span for r in self._ranked if r.span))
        self._show()

    def _show(self) -> None:
        if self._page is None:
            return
        chosen = self.table.current
        words = self.search.words
        found = [r for r in self._ranked if all(word in r.names for word in words)]
        unit, context = self._page.profile.memory_unit_bytes, position_words(self._page)
        self.model.show_records(found, device_fields(unit, context))
        if chosen is not None:
            self.table.select(lambda ranked: ranked.id == chosen.id)
        self._pick()

    def _pick(self) -> None:
        ranked, page = self.table.current, self._page
        self.open.setEnabled(ranked is not None)
        if ranked is None or page is None:
            self.pane.show_nothing(_notes(page) if page else ())
        else:
            title = f"{ranked.name} \N{MIDDLE DOT} {ranked.quant.label}"
            self.pane.show_lines(title, ranked.lines)

    def _open_current(self) -> None:
        ranked = self.table.current
        if ranked is not None:
            self.opened.emit(ranked.id)


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
        self.model.show_records(page.sizes, size_fields())


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
    return ew.said(position_said(page.sheet.use.depth))


def room_words(context: int) -> str:
    """What every memory holds for, beside rates of another number of tokens."""
    return ew.said(room_said(context))


def without_lines(found: NoResult, unit: int) -> Iterator[str]:
    """What is known of a device, and why it has no result."""
    device = found.configuration
    words = _tr("Known: {usable} of usable memory, {bandwidth} of peak bandwidth.")
    if device.bandwidth_bytes_s is None:
        words = _tr("Known: {usable} of usable memory. No source tells its peak bandwidth.")
    usable = printed.memory(device.usable_bytes, unit)
    yield words.format(usable=usable, bandwidth=bandwidth(device.bandwidth_bytes_s))
    yield ew.explained(found.reason)


def _notes(page: ModelPage) -> Iterator[str]:
    yield ew.words("ranked.note.band")
    yield _tr("The upright mark is the ceiling; bars stand on one logarithmic scale.")
    yield ew.words("ranked.note.choice")
    yield ew.said(Said("ranked.note.context", {"context": f"{page.full_context:,}"}))
    yield ew.words("ranked.note.order")


def _tr(text: str) -> str:
    return QCoreApplication.translate("EstimateDevices", text)
