"""macOS's `pmset` to what feeds the machine, its power mode, and whether heat slows it."""

import re
from typing import Final

from desktop.records.machine import PowerSupply, Thermal

_SUPPLIES: Final = {
    "AC Power": PowerSupply.MAINS,
    "UPS Power": PowerSupply.MAINS,
    "Battery Power": PowerSupply.BATTERY,
}
_POWER_MODES: Final = {"0": "automatic", "1": "low power", "2": "high power"}
_FULL_SPEED: Final = 100


def supply(text: str) -> PowerSupply | None:
    """From `Now drawing from 'AC Power'`."""
    found = re.search(r"Now drawing from '([^']+)'", text)
    return _SUPPLIES.get(found.group(1)) if found else None


def battery_percent(text: str) -> float | None:
    """Charge of the machine's own battery, 0 to 100; a mouse's is not listed here."""
    found = re.search(r"-InternalBattery-\d+[^\n]*?\s(\d{1,3})%", text)
    return float(found.group(1)) if found else None


def power_mode(text: str) -> str | None:
    """`low power`, `automatic` or `high power` from `pmset -g`; None on a macOS without modes.

    Macs that have a high power mode print `powermode` (0, 1, 2), the others `lowpowermode` (0, 1).
    """
    found = re.search(r"^\s*(?:low)?powermode\s+(\d)\s*$", text, re.MULTILINE)
    return _POWER_MODES.get(found.group(1)) if found else None


def thermal(text: str) -> Thermal | None:
    """From the last `CPU_Speed_Limit` of `pmset -g therm`.

    That no warning has been recorded says nothing: most of Apple's chips never record one.
    """
    limits = re.findall(r"CPU_Speed_Limit\s*=\s*(\d+)", text)
    if not limits:
        return None
    return Thermal.NOMINAL if int(limits[-1]) >= _FULL_SPEED else Thermal.THROTTLED
