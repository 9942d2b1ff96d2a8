"""One model on one device: every quantization on it, bytes by layer group, the arithmetic."""

from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

from desktop.estimate import printed
from desktop.estimate.device_page import DevicePage, QuantRow
from desktop.estimate.page_words import Said, position_said
from desktop.estimate.sheet import Sheet
from desktop.ui import estimate_words as ew
from desktop.ui.components import (
    Banner,
    Heading,
    Kind,
    Muted,
    QuietButton,
    RecordsModel,
    RecordsTable,
    Tabs,
    column,
    fill_page,
    row,
    scale_over,
)
from desktop.ui.design import Space
from desktop.ui.estimate_devices import room_words
from desktop.ui.estimate_fields import (
    bandwidth,
    quant_fields,
    span_of,
)
from desktop.ui.reasons_pane import ReasonsPane, reason_lines
from desktop.ui.written_parts import ARITHMETIC, QUANTS, WrittenParts, filled

LOADING, FILLED = 0, 1


class DeviceEstimatePage(QWidget):
    """Bytes and arithmetic are of one quantization; another one is asked for by `quant_asked`."""

    back_asked = Signal()
    quant_asked = Signal(str)
    """A quantization's id."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._sheet: Sheet | None = None
        self._part = QUANTS
        self.back = QuietButton(self.tr("Back"))
        self.back.setToolTip(self.tr("Alt+Left"))
        self.title = Heading()
        self.title.wrap()
        self.facts = Muted()
        self.holds = Muted()
        self.error = Banner()
        self.model = RecordsModel(quant_fields(), quiet=lambda r: r.reason is not None, parent=self)
        self.table = RecordsTable(self.model, ew.words("device.quants"))
        self.pane = ReasonsPane(
            self.tr("About the selected quantization"),
            self.tr("Select a quantization to see why its range is as wide as it is."),
        )
        self.count = QuietButton(self.tr("Its arithmetic"))
        self.parts = WrittenParts(self)
        self.tabs = Tabs(self.tr("Parts of the page"))
        self._stack = QStackedWidget()
        self._connect()
        self._lay_out()

    def begin(self) -> None:
        """A device's page was asked for: nothing to show yet."""
        self._part = QUANTS
        self.title.setText("")
        self.facts.setText("")
        self.holds.setText("")
        self.error.hide()
        self._stack.setCurrentIndex(LOADING)

    def show_page(self, sheet: Sheet, page: DevicePage) -> None:
        """Show it, on the part that was asked for."""
        self._sheet = sheet
        names = {"model": sheet.model.name, "device": page.configuration.name}
        self.title.setText(ew.said(Said("device.title", names)))
        self.facts.setText(" \N{MIDDLE DOT} ".join(device_facts(sheet, page)))
        rates = f"{ew.words('ranked.label')} {ew.said(position_said(sheet.use.depth))}"
        self.holds.setText(f"{rates} {room_words(sheet.use.context)}")
        self._show_quants(sheet, page, rates)
        self._show_shown(page)
        self._stack.setCurrentIndex(FILLED)
        self.tabs.show_part(self._part)

    def show_failure(self, words: str, advice: str) -> None:
        """There is no page; say why."""
        self.error.say(Kind.ERROR, words, advice)

    def _show_quants(self, sheet: Sheet, page: DevicePage, rates: str) -> None:
        spans = [span for found in page.quants if (span := span_of(found)) is not None]
        self.table.use_scale(scale_over(spans))
        fields = quant_fields(sheet.profile.memory_unit_bytes, rates)
        self.model.show_records(page.quants, fields)
        shown = page.shown.id if page.shown else None
        self.table.select(lambda found: found.quant.id == shown)
        self._pick()

    def _show_shown(self, page: DevicePage) -> None:
        """Bytes and arithmetic of the quantization that is shown."""
        label = page.shown.label if page.shown else None
        self.parts.show_quant(label, page.layers, page.arithmetic)

    def _pick(self) -> None:
        found, sheet = self.table.current, self._sheet
        self.count.setEnabled(found is not None and found.option is not None)
        if found is None or sheet is None:
            self.pane.show_nothing()
        else:
            self.pane.show_lines(found.quant.label, quant_lines(found))

    def _ask(self) -> None:
        found = self.table.current
        if found is not None and found.option is not None:
            self._part = ARITHMETIC
            self.quant_asked.emit(found.quant.id)

    def _connect(self) -> None:
        self.back.clicked.connect(self.back_asked)
        shortcut = QShortcut(QKeySequence("Alt+Left"), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.back_asked)
        self.table.picked.connect(self._pick)
        self.table.opened.connect(lambda _: self._ask())
        self.count.clicked.connect(self._ask)
        self.tabs.changed.connect(self._turned)

    def _turned(self, part: int) -> None:
        self._part = part

    def _lay_out(self) -> None:
        self.pane.buttons.addWidget(self.count)
        self.pane.buttons.addStretch(1)
        self.tabs.add(self.tr("Quantizations"), filled(self.table, self.pane))
        self.parts.add_to(self.tabs)
        waiting = QWidget()
        words = column(Muted(self.tr("Working it out …")))
        words.setAlignment(Qt.AlignmentFlag.AlignTop)
        waiting.setLayout(words)
        self._stack.addWidget(waiting)
        self._stack.addWidget(self.tabs)
        head = row(self.back, self.title)
        head.setStretch(1, 1)
        head.setAlignment(self.back, Qt.AlignmentFlag.AlignTop)
        layout = column(gap=Space.M)
        layout.addLayout(head)
        layout.addLayout(column(self.facts, self.holds, gap=Space.XS))
        layout.addWidget(self.error)
        layout.addWidget(self._stack, 1)
        fill_page(self, layout, self.tr("Estimate on a device"))


def device_facts(sheet: Sheet, page: DevicePage) -> Iterator[str]:
    """What is known of the device, and what it would run."""
    device, unit = page.configuration, sheet.profile.memory_unit_bytes
    yield device.id
    words = _tr("{usable} of {memory} usable")
    usable, memory = (
        printed.memory(size, unit) for size in (device.usable_bytes, device.memory_bytes)
    )
    yield words.format(usable=usable, memory=memory)
    yield bandwidth(device.bandwidth_bytes_s)
    yield printed.price(device.price_usd) if device.price_usd else _tr("price not known")
    best, runner_up = page.choice.best, page.choice.runner_up
    if best is None:
        yield ew.short(page.choice.reason) if page.choice.reason else _tr("nothing runs here")
        return
    yield _tr("recommended {quant}").format(quant=best.quant.label)
    if runner_up is not None:
        yield _tr("next {quant}").format(quant=runner_up.quant.label)


def quant_lines(found: QuantRow) -> Iterator[str]:
    """Why a quantization's range is as it is, or why there is none."""
    if found.reason is not None:
        yield ew.explained(found.reason)
    estimate = found.estimate
    if estimate is None or estimate.decode is None:
        return
    words = _tr("Estimate: {span} tok/s, ceiling {ceiling} tok/s.")
    ceiling = printed.rate(estimate.decode.ceiling_tok_s)
    yield words.format(span=printed.span(estimate.decode), ceiling=ceiling)
    yield from ew.prompt_lines(estimate)
    if found.option is not None and found.option.bare.weights_bytes < found.weights.capacity_bytes:
        yield ew.words("device.note.needs")
    if estimate.tier is not None:
        yield ew.tier_words(estimate.tier)
    yield from reason_lines(estimate.reasons)


def _tr(text: str) -> str:
    return QCoreApplication.translate("DeviceEstimate", text)
