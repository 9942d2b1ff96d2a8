"""The battery's discharge rate: the power of the whole machine while nothing else feeds it."""

from collections.abc import Callable

from desktop.power.meter import Meter
from desktop.power.momentary import PowerMeter
from desktop.power.parse_battery import Discharge
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source

NAME = "battery"
EVERY_NS = 950_000_000
"""Gauges have news about once a second at best, and asking them costs time in the firmware."""
_MISSES = 4
DETAIL = (
    "Discharge rate of the battery: the whole machine, screen included. Gauges are renewed "
    "every second at best, some only once a minute."
)


def battery_meter(look: Callable[[], Discharge], every_ns: int = EVERY_NS) -> Meter | str:
    """A meter over `look`; why not, while the battery does not feed the machine alone."""
    first = look()
    if first.watts_w is None:
        return first.why
    facts = MeterFacts(NAME, Source.SENSOR, MeterKind.INSTANTANEOUS, Scope.SYSTEM, DETAIL)
    gap_ns = _MISSES * every_ns
    return PowerMeter(facts, [lambda: look().watts_w], every_ns=every_ns, max_gap_ns=gap_ns)
