"""What reads the power of this machine, and its watts now: `gram power`."""

import logging
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from desktop.errors import BenchError
from desktop.machine.detect import detect
from desktop.paths import Paths
from desktop.power.choose import look_around
from desktop.power.energy import energy_of
from desktop.power.integrate import power_samples
from desktop.power.meter import Meter, Reading
from desktop.power.sampler import Sampler
from desktop.power.search import Looked
from desktop.records.energy import Energy, MeterFacts
from desktop.records.machine import Accelerator, Device, DeviceKind
from desktop.services.facts import engine_devices

log = logging.getLogger(__name__)
NOW_NS: Final = 1_000_000_000
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
    """Of the last second."""
    mean_w: float | None
    energy_j: float | None
    """Of the covered part of `seconds`."""
    seconds: float
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

    `places` is what else was looked at.
    """

    def __init__(self, meter: Meter, places: tuple[PlaceFacts, ...] = ()) -> None:
        self.places = places
        self._meter = meter
        self._sampler = Sampler(meter)

    def __enter__(self) -> Self:
        self._sampler.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._sampler.close()

    def now(self) -> PowerNow:
        """The watts now, and the joules and mean watts since the start."""
        return power_now(self._sampler.readings(), self._meter)


def power_now(readings: tuple[Reading, ...], meter: Meter) -> PowerNow:
    """The sum of what a meter told: nothing where it told nothing."""
    facts, dropped = meter.facts, meter.dropped
    if not readings:
        return PowerNow(facts, None, None, None, 0.0, None, dropped)
    start_ns, end_ns = readings[0].at_ns, readings[-1].at_ns
    whole = energy_of([(start_ns, end_ns)], readings, None, facts, meter.max_gap_ns)
    recent = energy_of(
        [(max(start_ns, end_ns - NOW_NS), end_ns)], readings, None, facts, meter.max_gap_ns
    )
    seconds = (end_ns - start_ns) / 1e9
    last = power_samples(readings)[-1:]
    now_w = _mean_w(recent, min(seconds, NOW_NS / 1e9)) or (last[0].watts_w if last else None)
    return PowerNow(
        facts,
        now_w,
        _mean_w(whole, seconds),
        whole.energy_j if whole else None,
        seconds,
        whole.covered if whole else None,
        dropped,
    )


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


def _mean_w(energy: Energy | None, seconds: float) -> float | None:
    if energy is None or not energy.covered or not seconds:
        return None
    return energy.energy_j / energy.covered / seconds
