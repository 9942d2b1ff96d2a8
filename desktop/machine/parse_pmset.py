"""macOS's `pmset` to what feeds the machine, its power mode, and whether heat slows it."""

import re
from typing import Final

from desktop.records.machine import PowerSupply, Thermal
from desktop.sources.numbers import whole

_SUPPLIES: Final = {
    "AC Power": PowerSupply.MAINS,
    "UPS Power": PowerSupply.MAINS,
    "Battery Power": PowerSupply.BATTERY,
}
_POWER_MODES: Final = {"0": "automatic", "1": "low power", "2": "high power"}
_FULL_SPEED: Final = 100
_MOST_CHARACTERS: Final = 4096
"""Of one line."""


def supply(text: str) -> PowerSupply | None:
    """From `Now drawing from 'AC Power'`."""
    found = re.search(r"Now drawing from '([^'\n]{1,40})'", text)
    return _SUPPLIES.get(found.group(1)) if found else None


def battery_percent(text: str) -> float | None:
    """Charge of the machine's own battery, 0 to 100; a mouse's is not listed here."""
    for line in text.splitlines():
        _, own, told = line[:_MOST_CHARACTERS].partition("-InternalBattery-")
        found = re.search(r"\s([0-9]{1,3})%", told) if own else None
        if found is not None:
            return float(found.group(1))
    return None


def power_mode(text: str) -> str | None:
    """`low power`, `automatic` or `high power` from `pmset -g`; None on a macOS without modes.

    Macs that have a high power mode print `powermode` (0, 1, 2), the others `lowpowermode` (0, 1).
    """
    found = re.search(r"^[ \t]*(?:low)?powermode[ \t]+(\d)[ \t\r]*$", text, re.MULTILINE)
    return _POWER_MODES.get(found.group(1)) if found else None


def thermal(text: str) -> Thermal | None:
    """From the last `CPU_Speed_Limit` of `pmset -g therm`.

    That no warning has been recorded says nothing: most of Apple's chips never record one.
    """
    limits = re.findall(r"CPU_Speed_Limit[ \t]*=[ \t]*([0-9]+)", text)
    limit = whole(limits[-1]) if limits else None
    if limit is None:
        return None
    return Thermal.NOMINAL if limit >= _FULL_SPEED else Thermal.THROTTLED
