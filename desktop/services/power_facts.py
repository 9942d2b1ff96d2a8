"""What reads the power of this machine, and its watts now: `gram power`."""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from desktop.clock import now_ns
from desktop.errors import BenchError
from desktop.machine.detect import detect
from desktop.paths import Paths
from desktop.power.choose import look_around
from desktop.power.energy import energy_of
from desktop.power.integrate import power_samples
from desktop.power.meter import Meter
from desktop.power.sampler import Sampler
from desktop.power.search import Looked
from desktop.power.tally import RECENT_NS, Tally, Tallying, whole_span
from desktop.records.energy import MeterFacts
from desktop.records.machine import Accelerator, Device, DeviceKind
from desktop.services.facts import engine_devices

log = logging.getLogger(__name__)
NOW_NS: Final = RECENT_NS
"""What "now" means: the last second, or the last reading of a slower source."""


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """One place that was looked at for watts."""

    name: str
    state: str
    """`used`, `readable` (a better one is used), `not readable`."""
    detail: str


@dataclass(frozen=True, slots=True)
class PowerNow:
    """What the meter told so far."""

    meter: MeterFacts
    watts_w: float | None
    """Of the last second; None where the meter has fallen silent."""
    mean_w: float | None
    energy_j: float | None
    """Of the covered part of `seconds`."""
    seconds: float
    """Since the start."""
    covered: float | None
    """Share of `seconds` that the readings cover."""
    dropped: int
    """Looks that gave nothing to use."""


@dataclass(frozen=True, slots=True)
class PowerFacts:
    """What `gram power` tells: the meter that a run here would have, and all that was looked at."""

    now: PowerNow
    places: tuple[PlaceFacts, ...]


class PowerReading:
    """A context manager that reads a meter, and closes it.

    `places` is what else was looked at. It may be open for days: only sums of the readings are
    kept.
    """

    def __init__(
        self,
        meter: Meter,
        places: tuple[PlaceFacts, ...] = (),
        clock: Callable[[], int] = now_ns,
    ) -> None:
        self.places = places
        self._meter = meter
        self._clock = clock
        self._kept = Tallying(meter.max_gap_ns)
        self._sampler = Sampler(meter, clock=clock, kept=self._kept)
        self._began_ns = clock()

    def __enter__(self) -> Self:
        self._began_ns = self._clock()
        self._sampler.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._sampler.close()

    def now(self) -> PowerNow:
        """The watts now, and the joules and mean watts since the start."""
        return power_now(self._kept.tally, self._meter, self._began_ns, self._clock())


def power_now(tally: Tally, meter: Meter, began_ns: int, at_ns: int) -> PowerNow:
    """The sum of what a meter told: nothing where it told nothing, or has fallen silent.

    Args:
        tally: of its readings.
        meter: what they are of.
        began_ns: when it began to be read, by the readings' clock.
        at_ns: this moment, by the same clock.
    """
    start_ns, end_ns = whole_span(tally, began_ns, at_ns)
    seconds, covered_s = (end_ns - start_ns) / 1e9, tally.covered_ns / 1e9
    known = covered_s > 0
    return PowerNow(
        meter=meter.facts,
        watts_w=_to_milliwatts(_watts_now_w(tally, meter.facts, end_ns)),
        mean_w=_to_milliwatts(tally.energy_j / covered_s) if known else None,
        energy_j=tally.energy_j if known else None,
        seconds=seconds,
        covered=min(1.0, covered_s / seconds) if known else None,
        dropped=meter.dropped,
    )


def _to_milliwatts(watts_w: float | None) -> float | None:
    """No meter tells more: what stands behind is left of joules that were divided by seconds."""
    return None if watts_w is None else round(watts_w, 3)


def _watts_now_w(tally: Tally, facts: MeterFacts, end_ns: int) -> float | None:
    """Mean of the last second before `end_ns`, else the one momentary reading that there is."""
    if tally.last_ns is None or tally.last_ns < end_ns:
        return None
    window = (end_ns - NOW_NS, end_ns)
    recent = energy_of([window], tally.recent, None, facts, tally.max_gap_ns)
    if recent is not None:
        return recent.energy_j / (recent.covered * NOW_NS / 1e9)
    last = power_samples(tally.recent)[-1:]
    return last[0].watts_w if last else None


def open_reading(paths: Paths) -> PowerReading:
    """The meter that a run on this machine's cards (or its processor) would have; takes seconds.

    Where the engine tells nothing, the cards that the system lists stand in for its devices.
    """
    machine = detect()
    try:
        devices = engine_devices(paths).devices
    except BenchError as e:
        log.warning("the engine tells nothing: %s", e)
        devices = tuple(map(_as_device, machine.accelerators))
    places, meter = _sorted_out(look_around(machine, devices))
    return PowerReading(meter, places)


def _as_device(card: Accelerator) -> Device:
    kind = DeviceKind.IGPU if card.integrated else DeviceKind.GPU
    return Device(card.name, card.name, kind, "", card.memory_bytes, pci_address=card.pci_address)


def _sorted_out(looked: tuple[Looked, ...]) -> tuple[tuple[PlaceFacts, ...], Meter]:
    """What was found in words, and the first meter; all others are closed."""
    used: Meter | None = None
    places = []
    with ExitStack() as unused:
        for name, found in looked:
            if isinstance(found, str):
                places.append(PlaceFacts(name, "not readable", found))
                continue
            places.append(PlaceFacts(name, "readable" if used else "used", found.facts.detail))
            if used is None:
                used = found
            else:
                unused.callback(found.close)
    if used is None:
        raise AssertionError("the model is always there")
    return tuple(places), used
