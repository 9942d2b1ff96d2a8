"""Macs: Apple's counters of its own chips, else `powermetrics` where it may be run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from desktop.clock import now_ns
from desktop.power.counter import Counter, CounterMeter
from desktop.power.meter import Meter, Reading
from desktop.power.parse_powermetrics import read_sample, split
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.sources.apple_power import AppleCounts, EnergyReader

IOREPORT = "IOReport"
POWERMETRICS = "powermetrics"
RENEWED_NS = 2_500_000_000
"""On some chips all counters but the graphics processor's are renewed only about once a second."""
NO_COUNTERS = "Apple's energy counters (IOReport) could not be read."
NOT_APPLE = "Apple's energy counters are those of Apple chips; this processor is none."
NO_POWERMETRICS = (
    "Apple's powermetrics needs an administrator; Gram uses it when started as root, or where "
    "sudo asks no password for it."
)
_PARTS = ("processor", "graphics", "its memory", "DRAM", "neural engine")
_ESTIMATES = "Apple calls its figures estimates."


def ioreport_meter(reader: EnergyReader) -> Meter | str:
    """Package energy of an Apple chip: processor, graphics, memory, neural engine.

    Parts that this chip has no counter for are left out and not named.
    """
    first = reader.counts()
    if first is None or first.cpu_mj is None or first.gpu_mj is None:
        return NO_COUNTERS
    there = [i for i, value in enumerate(_values(first)) if value is not None]
    named = ", ".join(_PARTS[i] for i in there)
    detail = f"Apple's energy counters: {named}. {_ESTIMATES}"
    facts = MeterFacts(IOREPORT, Source.SENSOR, MeterKind.COUNTER, Scope.PACKAGE, detail)

    def look() -> list[int | None]:
        counts = reader.counts()
        return [None if counts is None else _values(counts)[i] for i in there]

    # the processor always works when it is read; the other parts are switched off while idle
    counters = [Counter(1e-3, may_rest=i > 0) for i in there]
    return CounterMeter(facts, counters, look, max_gap_ns=RENEWED_NS, together=True)


def _values(counts: AppleCounts) -> tuple[int | None, ...]:
    parts = (counts.cpu_mj, counts.gpu_mj, counts.gpu_memory_mj)
    return (*parts, counts.dram_mj, counts.neural_mj)


class Tool(Protocol):
    """A running powermetrics; tests pass their own."""

    def new_bytes(self) -> bytes:
        """What it printed since the last look, never waiting."""
        ...

    def close(self) -> None:
        """End it."""
        ...


@dataclass(slots=True)
class PowermetricsMeter:
    """Adds up the joules of every sample that the tool prints: none is passed over (case H02)."""

    tool: Tool
    clock: Callable[[], int] = now_ns
    max_gap_ns: int = RENEWED_NS
    dropped: int = field(default=0, init=False)
    _rest: bytes = field(default=b"", init=False)
    _energy_j: float | None = field(default=None, init=False)
    _restart: bool = field(default=False, init=False)

    @property
    def facts(self) -> MeterFacts:
        """Each sample is a mean over its time; their joules are summed without gaps."""
        detail = f"Sum of all samples of Apple's powermetrics. {_ESTIMATES}"
        return MeterFacts(POWERMETRICS, Source.SENSOR, MeterKind.AVERAGE, Scope.PACKAGE, detail)

    def read(self) -> Reading | None:
        """Joules until the newest sample; None when there is no new one."""
        whole, self._rest = split(self._rest + self.tool.new_bytes())
        samples = [read_sample(plist) for plist in whole if plist.strip()]
        good = [s.energy_j for s in samples if s is not None]
        self.dropped += len(samples) - len(good)
        # also where all of them are damaged: their joules are missing from the next reading
        self._restart = self._restart or len(good) < len(samples)
        if not good:
            return None
        # what the first sample covers began before there was a reading
        self._energy_j = 0.0 if self._energy_j is None else self._energy_j + sum(good)
        restart, self._restart = self._restart, False
        return Reading(self.clock(), energy_j=self._energy_j, restart=restart)

    def close(self) -> None:
        """End the tool."""
        self.tool.close()
