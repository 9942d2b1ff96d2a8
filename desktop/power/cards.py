"""The power of the cards that a run uses: their energy counters, else their power sensors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from desktop.power.counter import Counter, CounterMeter
from desktop.power.meter import Meter
from desktop.power.momentary import PowerMeter
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source


@dataclass(frozen=True, slots=True)
class CardSensor:
    """What one card can tell. A look that gives None at the start counts as not there."""

    name: str
    """For people."""
    source: str
    """`NVML`, `amdgpu`, `xe`."""
    pci_address: str | None = None
    integrated: bool = False
    """It shares chip and power with the processor."""
    scope: Scope = Scope.BOARD
    count: Callable[[], int | None] | None = None
    """Raw count of its energy counter."""
    unit_j: float = 1.0
    """Joules of one count."""
    watts: Callable[[], float | None] | None = None
    kind: MeterKind = MeterKind.INSTANTANEOUS
    """Of `watts`."""
    busy: Callable[[], float | None] | None = None
    """Share of the time in which it works, 0 to 1."""


def card_meter(
    sensors: Sequence[CardSensor], on_close: Callable[[], None] = lambda: None
) -> Meter | None:
    """One meter over all of these cards; None when some card tells neither energy nor power.

    Counters come first: they miss nothing between two looks.
    """
    if not sensors:
        return None
    # a counter since the driver was loaded is never 0: virtual cards that count nothing say so
    counts = [s.count for s in sensors if s.count is not None and s.count()]
    if len(counts) == len(sensors):
        counters = [Counter(s.unit_j) for s in sensors]
        facts = _facts("Energy counter", sensors, MeterKind.COUNTER)
        return CounterMeter(facts, counters, lambda: [count() for count in counts], on_close)
    watts = [s.watts for s in sensors if s.watts is not None and s.watts() is not None]
    if len(watts) == len(sensors):
        average = any(s.kind is MeterKind.AVERAGE for s in sensors)
        kind = MeterKind.AVERAGE if average else MeterKind.INSTANTANEOUS
        return PowerMeter(_facts("Power", sensors, kind), watts, on_close)
    return None


def _facts(what: str, sensors: Sequence[CardSensor], kind: MeterKind) -> MeterFacts:
    names = ", ".join(map(_named, sensors))
    whole = all(s.scope is Scope.PACKAGE for s in sensors)
    source = " and ".join(dict.fromkeys(s.source for s in sensors))
    detail = f"{what} of {names}; the rest of the machine is not counted."
    scope = Scope.PACKAGE if whole else Scope.BOARD
    return MeterFacts(source, Source.SENSOR, kind, scope, detail)


def _named(sensor: CardSensor) -> str:
    if sensor.integrated:
        return f"{sensor.name} (the whole package, processor included)"
    if sensor.scope is Scope.PACKAGE:
        return f"{sensor.name} (its chip, not the whole board)"
    return sensor.name
