"""Linux's power supplies to what feeds the machine. Values: kernel ABI, sysfs-class-power."""

from collections.abc import Mapping

from desktop.records.machine import PowerSupply
from desktop.sources.numbers import whole


def supply(supplies: Mapping[str, Mapping[str, str]]) -> PowerSupply | None:
    """What feeds the machine; None where no supply is listed (desktops, virtual machines)."""
    own = _own(supplies)
    mains = [s for s in own if s.get("type") in {"Mains", "USB", "Wireless"}]
    if any(s.get("online") not in {None, "0"} for s in mains):
        return PowerSupply.MAINS
    batteries = [s for s in own if s.get("type") == "Battery"]
    if any(s.get("status") == "Discharging" for s in batteries):
        return PowerSupply.BATTERY
    if any(s.get("status") in {"Charging", "Full", "Not charging"} for s in batteries):
        return PowerSupply.MAINS
    return PowerSupply.BATTERY if batteries and mains else None


def battery_percent(supplies: Mapping[str, Mapping[str, str]]) -> float | None:
    """Charge of the first battery that can run the machine, 0 to 100."""
    batteries = (s for s in _own(supplies) if s.get("type") == "Battery")
    charges = (s.get("capacity", "") for s in batteries)
    known = (whole(charge) for charge in charges)
    return next((float(c) for c in known if c is not None and c >= 0), None)


def has_battery(supplies: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether a battery can run this machine; those of mice and headsets do not count."""
    return any(s.get("type") == "Battery" for s in _own(supplies))


def _own(supplies: Mapping[str, Mapping[str, str]]) -> list[Mapping[str, str]]:
    # scope Device: the battery of a mouse or a headset
    return [s for s in supplies.values() if s.get("scope") != "Device"]
