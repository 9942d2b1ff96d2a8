"""The machine's own benchmark: its parts as they were measured, and the button that measures."""

from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.records.events import Progress as Step
from desktop.records.machine import Device
from desktop.records.parts import PartRate, PartSkip, PartTest
from desktop.records.run import Note
from desktop.ui import format as fmt
from desktop.ui import parts_words as words
from desktop.ui.components import (
    Card,
    Column,
    Muted,
    PrimaryButton,
    Progress,
    RowsModel,
    Table,
    as_primary,
    as_stop,
)

_TESTS = (
    PartTest.MATMUL_F16,
    PartTest.MATVEC_F16,
    PartTest.MATVEC_Q8_0,
    PartTest.MATVEC_Q6_K,
    PartTest.MATVEC_Q4_K,
    PartTest.MATVEC_Q4_0,
    PartTest.COPY,
    PartTest.SMALL_GRAPH,
)


class PartsCard(Card):
    """One row for each device; on the processor one for one thread and one for all."""

    measure_asked = Signal()
    stop_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Parts, as measured"), parent)
        self._measuring = False
        self._rates: tuple[PartRate, ...] = ()
        self._skipped: tuple[PartSkip, ...] = ()
        self._notes: tuple[Note, ...] = ()
        self._devices: dict[str, Device] = {}
        self._step, self._left = "", ""
        self.button = PrimaryButton("")
        self.button.clicked.connect(self._pressed)
        self.head.addWidget(self.button)
        self.words = Muted()
        self.progress = Progress(self.tr("Progress of measuring the parts"))
        self.model = RowsModel(self._columns(), self)
        self.table = Table(self.model, self.tr("Parts"))
        self.note = Muted()
        for part in (self.words, self.progress, self.table, self.note):
            self.body.addWidget(part)
        self.show_idle()
        self.show_rates((), None, None)

    def show_rates(
        self,
        rates: Iterable[PartRate],
        at: str | None,
        key_id: str | None,
        notes: Iterable[Note] = (),
    ) -> None:
        """Show what is kept, of the devices shown last.

        Args:
            rates: with their marks.
            at: RFC 3339 text; None where nothing is kept.
            key_id: whose signature it bears.
            notes: why to read them with care.
        """
        self._rates, self._notes = tuple(rates), tuple(notes)
        self._fill()
        if not self._rates:
            said = self.tr(
                "Not measured yet. It takes under a minute and shows what the engine gets out of "
                "each device: products, memory, and the fixed cost of a graph."
            )
        elif at is None:
            said = self.tr("Measured just now, not signed and not kept.")
        else:
            signed = self.tr("Measured {when}, signed {key}. Median and spread (95 %).")
            said = signed.format(when=fmt.date(at), key=fmt.short_key(key_id or ""))
        self.words.setText(said)

    def show_devices(self, devices: Iterable[Device], skipped: Iterable[PartSkip] = ()) -> None:
        """What the devices are, and which of their tests gave no figure."""
        self._devices = {device.name: device for device in devices}
        self._skipped = tuple(skipped)
        self._fill()

    def show_step(self, step: Step) -> None:
        """The device and the test that are measured now, and the time left."""
        self._step = words.step(step)
        self._left = "" if step.time_left_s is None else fmt.time_left(step.time_left_s)
        self._show_progress(step.fraction)

    def show_part(self, rate: PartRate, fraction: float) -> None:
        """One part more is measured."""
        self._rates = (*self._rates, rate)
        self._fill()
        self._show_progress(fraction)

    def show_missed(self, skip: PartSkip, fraction: float) -> None:
        """One test gave no figure."""
        self._skipped = (*self._skipped, skip)
        self._fill()
        self._show_progress(fraction)

    def show_started(self) -> None:
        """Measuring begins; what was shown makes room."""
        self._measuring = True
        self._rates, self._notes = (), ()
        self.show_devices(())
        self.words.hide()
        self._step, self._left = self.tr("Starting"), ""
        self._show_progress(0.0)
        self.progress.show()
        self._show_button(self.tr("Stop"))
        as_stop(self.button)

    def show_stopping(self) -> None:
        """The end was asked for and is awaited."""
        self._show_button(self.tr("Stopping …"))
        self.button.setEnabled(False)

    def show_idle(self) -> None:
        """Nothing is measured now."""
        self._measuring = False
        self.words.show()
        self.progress.hide()
        self._show_button(self.tr("Measure the parts"))
        as_primary(self.button)

    def set_blocked(self, blocked: bool) -> None:  # noqa: FBT001 - a signal's argument
        """Something else is measured: the button waits."""
        self.button.setEnabled(not blocked)

    def _pressed(self) -> None:
        if self._measuring:
            self.stop_asked.emit()
        else:
            self.measure_asked.emit()

    def _show_button(self, text: str) -> None:
        self.button.setText(text)
        self.button.setAccessibleName(text)
        self.button.setEnabled(True)

    def _show_progress(self, fraction: float) -> None:
        count = len(self._rates)
        said = f"{self._step} · {words.so_far(count)}" if count else self._step
        self.progress.show_step(fraction, said, self._left)

    def _fill(self) -> None:
        groups = tuple(dict.fromkeys((r.device, r.threads) for r in self._rates))
        self.model.replace([self._texts(group) for group in groups])
        self.table.fit_rows()
        self.table.setVisible(bool(groups))
        notes = words.notes(self._rates, self._skipped, self._notes)
        self.note.setText("\n".join(notes))
        self.note.setVisible(bool(notes))

    def _columns(self) -> tuple[Column, ...]:
        return (
            Column(self.tr("Device"), stretch=True),
            Column(self.tr("F16 product\nTFLOP/s"), numeric=True),
            Column(self.tr("Memory, F16\nGB/s"), numeric=True),
            Column(self.tr("Q8_0\nGB/s"), numeric=True),
            Column(self.tr("Q6_K\nGB/s"), numeric=True),
            Column(self.tr("Q4_K\nGB/s"), numeric=True),
            Column(self.tr("Q4_0\nGB/s"), numeric=True),
            Column(self.tr("Copy\nGB/s"), numeric=True),
            Column(self.tr("Small graph\nµs"), numeric=True),
        )

    def _texts(self, group: words.Group) -> tuple[str, ...]:
        of = {r.test: r for r in self._rates if (r.device, r.threads) == group}
        device = words.device_cell(group, self._devices.get(group[0]))
        return (device, *(words.figure(of.get(test)) for test in _TESTS))
