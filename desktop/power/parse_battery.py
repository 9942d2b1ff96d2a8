"""The discharge rate of the machine's batteries, from what three systems print. Pure.

A rate is only taken while the batteries alone feed the machine: on mains, and while one of them is
charged, it is not what the machine uses.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from desktop.sources.numbers import whole

NO_BATTERY = "This machine has no battery of its own."
ON_MAINS = "The machine is on mains, so its battery does not tell what it uses."
CHARGING = "A battery is being charged, so it does not tell what the machine uses."
NO_RATE = "The battery does not tell how fast it is emptied."
_UNKNOWN_RATE = 0x80000000
_WRAP = 2**64
_WRAP_DIGITS: Final = 20
_MOST_W: Final = 2_000.0
"""More than any battery of a machine gives: its gauge is broken."""
_SMART_VALUE = re.compile(r'^[ \t|]*"(\w{1,64})" = (-?[0-9]{1,20}|Yes|No)[ \t\r]*$', re.MULTILINE)
_EXTERNAL = {"Mains", "USB", "Wireless"}


@dataclass(frozen=True, slots=True)
class Discharge:
    """Watts that leave the batteries, or why they are not known."""

    watts_w: float | None
    why: str = ""


def linux_discharge(supplies: Mapping[str, Mapping[str, str]]) -> Discharge:
    """From `/sys/class/power_supply`: microwatts, or microamperes times microvolts.

    Those of mice and headsets (`scope` Device) do not count. Of several batteries, those that are
    emptied are added up; an idle one gives nothing. Signs differ from driver to driver (ABI
    sysfs-class-power), so the status decides, not the sign.
    """
    own = [s for s in supplies.values() if s.get("scope") != "Device"]
    batteries = [s for s in own if s.get("type") == "Battery"]
    states = {s.get("status") for s in batteries}
    if not batteries:
        return Discharge(None, NO_BATTERY)
    if "Charging" in states:
        return Discharge(None, CHARGING)
    if "Discharging" not in states or any(map(_feeds, own)):
        return Discharge(None, ON_MAINS)
    watts = [_supply_w(s) for s in batteries if s.get("status") == "Discharging"]
    known = [w for w in watts if w is not None]
    return _rate(sum(known)) if len(known) == len(watts) else Discharge(None, NO_RATE)


def _feeds(supply: Mapping[str, str]) -> bool:
    # 1: a fixed voltage; 2: a programmable one, USB PD's PPS (ABI sysfs-class-power)
    return supply.get("type") in _EXTERNAL and supply.get("online") not in {None, "0"}


def _supply_w(supply: Mapping[str, str]) -> float | None:
    power_uw = whole(supply.get("power_now"))
    if power_uw:
        return abs(power_uw) / 1e6
    current_ua, voltage_uv = whole(supply.get("current_now")), whole(supply.get("voltage_now"))
    if not current_ua or not voltage_uv:
        # 0 is what gauges say before they know
        return None
    return abs(current_ua) * voltage_uv / 1e12


def _rate(watts_w: float) -> Discharge:
    return Discharge(watts_w) if 0 < watts_w <= _MOST_W else Discharge(None, NO_RATE)


def mac_discharge(ioreg: str | None) -> Discharge:
    """From `ioreg -c AppleSmartBattery`: milliamperes (as unsigned 64 bit) and millivolts."""
    told = dict(_SMART_VALUE.findall(ioreg or ""))
    if not told or told.get("BatteryInstalled") == "No":
        return Discharge(None, NO_BATTERY)
    if told.get("IsCharging") == "Yes":
        return Discharge(None, CHARGING)
    if told.get("ExternalConnected") == "Yes":
        return Discharge(None, ON_MAINS)
    current_ma = _signed(told.get("InstantAmperage")) or _signed(told.get("Amperage"))
    voltage_mv = whole(told.get("Voltage")) or whole(told.get("AppleRawBatteryVoltage"))
    if not current_ma or current_ma > 0 or not voltage_mv:
        return Discharge(None, NO_RATE)
    return _rate(-current_ma * voltage_mv / 1e6)


def _signed(text: str | None) -> int | None:
    value = whole(text, _WRAP_DIGITS)
    return value - _WRAP if value is not None and value >= _WRAP // 2 else value


def windows_discharge(state: bytes | None) -> Discharge:
    """From `SYSTEM_BATTERY_STATE` (winnt.h): milliwatts, negative while it is emptied."""
    if state is None or len(state) < struct.calcsize("<4B4xIIi"):
        return Discharge(None, NO_BATTERY)
    mains, present, charging, discharging, _, _, rate_mw = struct.unpack_from("<4B4xIIi", state)
    if not present:
        return Discharge(None, NO_BATTERY)
    if charging:
        return Discharge(None, CHARGING)
    if mains or not discharging:
        return Discharge(None, ON_MAINS)
    if rate_mw >= 0 or rate_mw + 2**32 == _UNKNOWN_RATE:
        return Discharge(None, NO_RATE)
    return _rate(-rate_mw / 1e3)
