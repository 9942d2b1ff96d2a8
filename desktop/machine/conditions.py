"""The state of the machine around a run."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from desktop.machine import linux, parse_pmset, parse_profiler
from desktop.machine import windows as on_windows
from desktop.machine.memory import memory_bytes
from desktop.machine.tools import Tool
from desktop.records.machine import Conditions, PowerSupply, Thermal
from desktop.sources import mac, system, temperatures, windows

_CPU_CHIPS: Final = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal")
_HOTTEST_BELIEVED_C: Final = 150.0
_MAC_TOOL_S: Final = 1.5
_POWER_PLANS: Final = {
    "381b4222-f694-41f0-9685-ff5bb260df2e": "balanced",
    "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c": "high performance",
    "a1841308-3541-4fab-bc81-f71556f20b4a": "power saver",
    "e9a42b02-d5df-448d-aa00-03f14749eb61": "ultimate performance",
}
"""Microsoft's own plans; any other may carry a name that its owner wrote, so it is `custom`."""


class State(NamedTuple):
    """What differs between the systems."""

    power_supply: PowerSupply | None
    battery_percent: float | None
    governor: str | None
    thermal: Thermal | None
    display_attached: bool | None


def read_conditions(
    other_load_percent: float | None = None, *, virtual: bool = False
) -> Conditions:
    """The state now. Never raises; what the system does not tell is None.

    Args:
        other_load_percent: from `LoadWindow.other_percent`, 0 to 100.
        virtual: in a virtual machine the absence of a battery says nothing about the supply.
    """
    state = read_state(virtual=virtual)
    return Conditions(
        power_supply=state.power_supply,
        # a worn battery's gauge may say more than 100
        battery_percent=_at_most_full(state.battery_percent),
        governor=state.governor,
        temperature_c=hottest(temperatures.read_chips(_CPU_CHIPS)),
        other_load_percent=other_load_percent,
        memory_available_bytes=memory_bytes()[1],
        thermal=state.thermal,
        display_attached=state.display_attached,
    )


def read_state(platform: str = sys.platform, *, virtual: bool = False) -> State:
    """As this system tells it."""
    if platform == "win32":
        return windows_state(
            system.battery(),
            windows.read_power_plan(),
            windows.read_monitors(),
            virtual=virtual,
        )
    if platform == "darwin":
        return mac_state(*_mac_texts())
    return linux_state(virtual=virtual)


def _mac_texts() -> tuple[str | None, str | None, str | None, str | None]:
    batt = Tool("pmset", mac.read_battery, _MAC_TOOL_S)
    therm = Tool("pmset", mac.read_thermal, _MAC_TOOL_S)
    profile = Tool("system_profiler", mac.read_displays, _MAC_TOOL_S)
    settings = Tool("pmset", mac.read_power_settings, _MAC_TOOL_S)
    # all at once, so that together they take no longer than one
    for tool in (batt, therm, profile, settings):
        tool.start()
    return batt.text(), therm.text(), profile.text(), settings.text()


def linux_state(root: Path = linux.ROOT, *, virtual: bool = False) -> State:
    """From `/sys`."""
    supply, percent = linux.read_supply(root, virtual=virtual)
    governor, thermal = linux.read_governor(root), linux.read_thermal(root)
    return State(supply, percent, governor, thermal, linux.read_display(root))


def windows_state(
    battery: system.Battery | None, powercfg: str | None, monitors: int | None, *, virtual: bool
) -> State:
    """Windows tells nothing of heat that means the same on every machine."""
    supply, percent = on_windows.supply(battery, virtual=virtual)
    display = on_windows.display_attached(monitors)
    return State(supply, percent, power_plan(powercfg or ""), None, display)


def mac_state(
    batt: str | None, therm: str | None, profile: str | None, settings: str | None = None
) -> State:
    """From `pmset` and System Information; macOS's power mode stands where others have a plan."""
    return State(
        parse_pmset.supply(batt or ""),
        parse_pmset.battery_percent(batt or ""),
        parse_pmset.power_mode(settings or ""),
        parse_pmset.thermal(therm or ""),
        parse_profiler.display_attached(profile or ""),
    )


def hottest(chips: Mapping[str, Sequence[int]]) -> float | None:
    """The hottest of the processor's sensors, °C. Sensors that show 0 or nonsense are not there.

    Args:
        chips: thousandths of a degree by chip.
    """
    values = [value / 1000 for chip in _CPU_CHIPS for value in chips.get(chip, ())]
    return max((v for v in values if 0 < v < _HOTTEST_BELIEVED_C), default=None)


def power_plan(powercfg: str) -> str | None:
    """`balanced` from powercfg's line with the plan's GUID; None when there is none in it."""
    found = re.search(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", powercfg, re.IGNORECASE)
    return _POWER_PLANS.get(found.group().lower(), "custom") if found else None


def _at_most_full(percent: float | None) -> float | None:
    return None if percent is None else min(100.0, percent)
