"""The machine's own benchmark: its parts as they were measured, and the button that measures."""

from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.records.parts import PartRate, PartTest
from desktop.ui import format as fmt
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
_TERA, _GIGA, _MICRO = 1e12, 1e9, 1e-6


class PartsCard(Card):
    """One row for each device; on the processor one for one thread and one for all."""

    measure_asked = Signal()
    stop_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Parts, as measured"), parent)
        self._measuring = False
        self._rates: tuple[PartRate, ...] = ()
        self.button = PrimaryButton("")
        self.button.clicked.connect(self._pressed)
        self.head.addWidget(self.button)
        self.words = Muted()
        self.progress = Progress(self.tr("Progress of measuring the parts"))
        self.model = RowsModel(self._columns(), self)
        self.table = Table(self.model, self.tr("Parts"))
        for part in (self.words, self.progress, self.table):
            self.body.addWidget(part)
        self.show_idle()
        self.show_rates((), None, None)

    def show_rates(self, rates: Iterable[PartRate], at: str | None, key_id: str | None) -> None:
        """Show what is kept; `at` is RFC 3339 text."""
        self._rates = tuple(rates)
        self._fill()
        if not self._rates:
            said = self.tr(
                "Not measured yet. It takes under a minute and shows what the engine gets out of "
                "each device: products, memory, and the fixed cost of a graph."
            )
        elif at is None:
            said = self.tr("Measured just now, not signed and not kept.")
        else:
            words = self.tr("Measured {when}, signed {key}. Median and spread (95 %).")
            said = words.format(when=fmt.date(at), key=fmt.short_key(key_id or ""))
        self.words.setText(said)

    def show_part(self, rate: PartRate, fraction: float) -> None:
        """One part more is measured."""
        self._rates = (*self._rates, rate)
        self._fill()
        words = self.tr("{count} figures so far").format(count=len(self._rates))
        self.progress.show_step(fraction, words)

    def show_started(self) -> None:
        """Measuring begins; what was shown makes room."""
        self._measuring = True
        self._rates = ()
        self._fill()
        self.words.hide()
        self.progress.show_step(0.0, self.tr("Starting"))
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

    def _fill(self) -> None:
        devices = tuple(dict.fromkeys((r.device, r.threads) for r in self._rates))
        self.model.replace([self._texts(*device) for device in devices])
        self.table.fit_rows()
        self.table.setVisible(bool(devices))

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

    def _texts(self, device: str, threads: int | None) -> tuple[str, ...]:
        of = {r.test: r for r in self._rates if (r.device, r.threads) == (device, threads)}
        return (self._device(device, threads), *(_figure(of.get(test)) for test in _TESTS))

    def _device(self, device: str, threads: int | None) -> str:
        if threads is None:
            return device
        if threads == 1:
            return self.tr("{device}, 1 thread").format(device=device)
        return self.tr("{device}, {count} threads").format(device=device, count=threads)


def _figure(rate: PartRate | None) -> str:
    if rate is None:
        return fmt.DASH
    number = fmt.number(rate.median / _unit(rate.test))
    return number if rate.spread is None else f"{number}\n{fmt.spread(rate.spread)}"


def _unit(test: PartTest) -> float:
    if test is PartTest.MATMUL_F16:
        return _TERA
    return _MICRO if test is PartTest.SMALL_GRAPH else _GIGA
