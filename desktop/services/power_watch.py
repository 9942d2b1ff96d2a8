"""The power of one run: a meter for what it uses, its idle baseline, its sampler."""

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Self

from desktop.power.choose import choose_meter
from desktop.power.energy import energy_of, measure_idle
from desktop.power.integrate import Window
from desktop.power.sampler import KeepsAll, Sampler
from desktop.records.energy import Energy, MeterFacts, PowerSample
from desktop.records.events import Power, RunEvent
from desktop.records.machine import Device, Machine
from desktop.services.curves import LiveCurves

IDLE_S: Final = 1.0
TELL_NS: Final = 1_000_000_000


class PowerWatch:
    """A context manager that owns the meter and its thread.

    `devices` are those of the engine that the run uses, or the names of cards alone.
    """

    def __init__(
        self,
        machine: Machine,
        devices: Sequence[Device | str],
        curves: LiveCurves,
        post: Callable[[RunEvent], None],
    ) -> None:
        self._meter = choose_meter(machine, devices)
        self._curves = curves
        self._post = post
        self._idle_w: float | None = None
        self._sampler = Sampler(self._meter, kept=KeepsAll(self._sampled))
        self._told = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._sampler.close()

    def close(self) -> None:
        """Let the meter of a watch go that was never entered."""
        self._sampler.close()

    @property
    def facts(self) -> MeterFacts:
        """The meter's."""
        return self._meter.facts

    def start(self, stopper: threading.Event) -> None:
        """Begin to sample, and wait for the idle baseline (ends early when `stopper` is set)."""
        self._sampler.start()
        self._idle_w = measure_idle(self._sampler, IDLE_S, stopper)

    def energy(self, windows: Sequence[Window]) -> Energy | None:
        """Energy of the windows; None when nothing of them was covered."""
        meter = self._meter
        readings = self._sampler.readings()
        return energy_of(windows, readings, self._idle_w, meter.facts, meter.max_gap_ns)

    def _sampled(self, sample: PowerSample) -> None:
        """On the sampler's thread. Doors pull the curve; one sample a second is posted as well."""
        self._curves.add_power(sample)
        if sample.at_ns - self._told >= TELL_NS:
            self._told = sample.at_ns
            self._post(Power(sample, self._meter.facts, TELL_NS + self._meter.max_gap_ns))
