"""The state of the machine around a run."""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from desktop.machine import parse_supply
from desktop.records.machine import Conditions, PowerSupply
from desktop.sources import cpuinfo, system, windows
from desktop.sources.supply import battery, has_battery, read_supplies

_CPU_CHIPS: Final = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal")
_HOTTEST_BELIEVED_C: Final = 150.0
_POWER_PLANS: Final = {
    "381b4222-f694-41f0-9685-ff5bb260df2e": "balanced",
    "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c": "high performance",
    "a1841308-3541-4fab-bc81-f71556f20b4a": "power saver",
    "e9a42b02-d5df-448d-aa00-03f14749eb61": "ultimate performance",
}
"""Microsoft's own plans; any other may carry a name that its owner wrote, so it is `custom`."""

_SUPPLIES: Final[dict[bool | None, PowerSupply]] = {
    True: PowerSupply.MAINS,
    False: PowerSupply.BATTERY,
}


def read_conditions(
    other_load_percent: float | None = None, *, virtual: bool = False
) -> Conditions:
    """The state now. Never raises; what the system does not tell is None.

    Args:
        other_load_percent: from `LoadWindow.other_percent`, 0 to 100.
        virtual: in a virtual machine the absence of a battery says nothing about the supply.
    """
    supply, battery_percent = _power(virtual=virtual)
    return Conditions(
        power_supply=supply,
        battery_percent=battery_percent,
        governor=_governor(),
        temperature_c=hottest(system.temperatures()),
        other_load_percent=other_load_percent,
        memory_available_bytes=system.memory_bytes()[1],
    )


def hottest(chips: Mapping[str, Sequence[float]]) -> float | None:
    """The hottest of the processor's sensors, °C. Sensors that show 0 or nonsense are not there."""
    values = [value for chip in _CPU_CHIPS for value in chips.get(chip, ())]
    return max((v for v in values if 0 < v < _HOTTEST_BELIEVED_C), default=None)


def power_plan(powercfg: str) -> str | None:
    """`balanced` from powercfg's line with the plan's GUID; None when there is none in it."""
    found = re.search(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", powercfg, re.IGNORECASE)
    return _POWER_PLANS.get(found.group().lower(), "custom") if found else None


def _governor(platform: str = sys.platform) -> str | None:
    if platform == "win32":
        return power_plan(windows.read_power_plan() or "")
    governors = sorted(set(cpuinfo.read_governors()))
    return ", ".join(governors) or None


def _power(*, virtual: bool) -> tuple[PowerSupply | None, float | None]:
    supplies = read_supplies()
    known = parse_supply.supply(supplies)
    if known is not None:
        return known, parse_supply.battery_percent(supplies)
    found = battery()
    if found is not None:
        return _SUPPLIES.get(found.on_mains), found.percent
    # no battery at all: a wire feeds it, unless the host under it has one
    return None if virtual or has_battery() else PowerSupply.MAINS, None
