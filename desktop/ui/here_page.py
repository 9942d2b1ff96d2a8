"""One model on this machine: every quantization, by its own parts and runs."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

from desktop.estimate.page_words import Said
from desktop.estimate.written_here import WrittenHere
from desktop.records.fits import FitRow, Fits
from desktop.records.model import Model
from desktop.records.rehearsal import Rehearsal
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
from desktop.ui.context_slider import tokens_in_words
from desktop.ui.design import Space
from desktop.ui.fits_fields import (
    Build,
    build_of,
    detail_lines,
    quant_fields,
    reason_line,
    span_of,
    title,
)
from desktop.ui.reasons_pane import ReasonsPane
from desktop.ui.work_strip import WorkStrip
from desktop.ui.written_parts import ARITHMETIC, QUANTS, WrittenParts, filled

LOADING, FILLED = 0, 1


class HerePage(QWidget):
    """A table, and below it why the selected quantization's range is as it is; its arithmetic."""

    back_asked = Signal()
    rehearse_asked = Signal(object)
    """A `FitRow`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._rehearsals: Mapping[Build, Rehearsal] = {}
        self._written: Mapping[str, WrittenHere] = {}
        self._left_out: tuple[str, ...] = ()
        self._blocked = False
        self.back = QuietButton(self.tr("Back"))
        self.back.setToolTip(self.tr("Alt+Left"))
        self.title = Heading()
        self.title.wrap()
        self.holds = Muted()
        self.error = Banner()
        self.model = RecordsModel(quant_fields(), quiet=lambda r: not r.runs, parent=self)
        self.table = RecordsTable(self.model, self.tr("Quantizations on this machine"))
        self.pane = ReasonsPane(
            self.tr("About the selected quantization"),
            self.tr("Select a quantization to see why its range is as wide as it is."),
        )
        self.rehearse = QuietButton(self.tr("Rehearse"))
        self.count = QuietButton(self.tr("Its arithmetic"))
        self.parts = WrittenParts(self)
        self.tabs = Tabs(self.tr("Parts of the page"))
        self.strip = WorkStrip(self.tr("Rehearse"))
        self._stack = QStackedWidget()
        self._connect()
        self._lay_out()

    def begin(self, model: Model) -> None:
        """The page was asked for: nothing to show yet."""
        names = {"model": model.name, "device": self.tr("this machine")}
        self.title.setText(ew.said(Said("device.title", names)))
        self.holds.setText("")
        self.error.hide()
        self.tabs.show_part(QUANTS)
        self._stack.setCurrentIndex(LOADING)

    def show_page(
        self,
        fits: Fits,
        rehearsals: Mapping[Build, Rehearsal],
        written: Mapping[str, WrittenHere],
    ) -> None:
        """Show every quantization; those that were rehearsed say so in their details.

        Args:
            fits: of one model.
            rehearsals: of builds.
            written: bytes and arithmetic, by the quantization's id.
        """
        self._rehearsals, self._written = rehearsals, written
        self._left_out = tuple(map(reason_line, fits.ruled_out))
        words = self.tr("{kind}: estimates, not measurements, for a full context of {context}.")
        context = tokens_in_words(fits.request.context)
        self.holds.setText(words.format(kind=fits.kind, context=context))
        rows = sorted(fits.rows, key=lambda found: -found.quant.rank)
        self.table.use_scale(scale_over(span for r in rows if (span := span_of(r))))
        self.model.show_records(rows)
        self._stack.setCurrentIndex(FILLED)
        self._pick()

    def show_rehearsals(self, rehearsals: Mapping[Build, Rehearsal]) -> None:
        """One more was rehearsed."""
        self._rehearsals = rehearsals
        self._pick()

    def show_failure(self, words: str, advice: str) -> None:
        """There is no page; say why."""
        self.error.say(Kind.ERROR, words, advice)

    def set_blocked(self, *, blocked: bool) -> None:
        """Something is measured: no rehearsal can begin."""
        self._blocked = blocked
        self._pick()

    def _pick(self) -> None:
        found = self.table.current
        can = found is not None and found.runs and not self._blocked
        self.rehearse.setEnabled(can)
        if found is None:
            self.pane.show_nothing(self._left_out)
        else:
            lines = detail_lines(found, self._rehearsals.get(build_of(found)))
            self.pane.show_lines(title(found), lines)
        self._write_out(found)

    def _write_out(self, found: FitRow | None) -> None:
        """Bytes and arithmetic of the selected quantization."""
        written = None if found is None else self._written.get(found.quant.id)
        self.count.setEnabled(written is not None and bool(written.arithmetic))
        if found is None or written is None:
            self.parts.show_quant(found.quant.label if found else None, (), ())
        else:
            self.parts.show_quant(found.quant.label, written.layers, written.arithmetic)

    def _rehearse(self) -> None:
        found: FitRow | None = self.table.current
        if found is not None:
            self.rehearse_asked.emit(found)

    def _connect(self) -> None:
        self.back.clicked.connect(self.back_asked)
        shortcut = QShortcut(QKeySequence("Alt+Left"), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.back_asked)
        self.table.picked.connect(self._pick)
        self.rehearse.clicked.connect(self._rehearse)
        self.count.clicked.connect(lambda: self.tabs.show_part(ARITHMETIC))

    def _lay_out(self) -> None:
        self.pane.buttons.addWidget(self.count)
        self.pane.buttons.addWidget(self.rehearse)
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
        layout.addWidget(self.holds)
        layout.addWidget(self.error)
        layout.addWidget(self.strip)
        layout.addWidget(self._stack, 1)
        fill_page(self, layout, self.tr("Estimate on this machine"))
