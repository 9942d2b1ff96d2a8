"""Watts modelled from the whole machine's CPU load, where no sensor can be read."""

from collections.abc import Callable
from dataclasses import dataclass, field

from desktop.clock import now_ns
from desktop.power.meter import Reading
from desktop.power.power_model import PowerModel
from desktop.records.energy import MeterFacts, MeterKind, Source
from desktop.sources.system import CpuTimes

NAME = "CPU load"


@dataclass(slots=True)
class ModelledMeter:
    """Adds up modelled joules: each step is the mean load since the step before it."""

    model: PowerModel
    cpu_times: Callable[[], CpuTimes | None]
    note: str = ""
    clock: Callable[[], int] = now_ns
    dropped: int = field(default=0, init=False)
    _energy_j: float = field(default=0.0, init=False)
    _before: tuple[int, CpuTimes] | None = field(default=None, init=False)

    @property
    def facts(self) -> MeterFacts:
        """Says that it is modelled, by which formula, and why no sensor was used."""
        detail = f"{self.model.formula()} {self.note}".strip()
        return MeterFacts(NAME, Source.MODELLED, MeterKind.AVERAGE, self.model.scope, detail)

    def read(self) -> Reading | None:
        """Joules so far; None while the system's CPU times have not moved on."""
        times, at_ns = self.cpu_times(), self.clock()
        if times is None or (self._before and times.total_s <= self._before[1].total_s):
            self.dropped += 1
            return None
        if self._before is not None:
            before_ns, before = self._before
            load = (times.busy_s - before.busy_s) / (times.total_s - before.total_s)
            seconds = (at_ns - before_ns) / 1e9
            self._energy_j += self.model.watts_w(min(1.0, max(0.0, load))) * seconds
        self._before = (at_ns, times)
        return Reading(at_ns, energy_j=self._energy_j)

    def close(self) -> None:
        """Nothing is held."""


@dataclass(slots=True)
class NoMeter:
    """Stands in where not even a model can be made: it reads nothing."""

    facts: MeterFacts
    dropped: int = field(default=0, init=False)

    def read(self) -> Reading | None:
        """Nothing."""
        self.dropped += 1
        return None

    def close(self) -> None:
        """Nothing is held."""
