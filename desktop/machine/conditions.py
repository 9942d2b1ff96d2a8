"""The state of the machine around a run."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from desktop.machine import linux, parse_pmset, parse_profiler
from desktop.machine import windows as on_windows
from desktop.machine.memory import memory_bytes
from desktop.machine.tools import Tool
from desktop.records.machine import Conditions, PowerSupply, Thermal
from desktop.sources import mac, system, temperatures, windows
from desktop.sources.limits import Deadline, Pending

LIMIT_S: Final = 2.0

_CPU_CHIPS: Final = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal")
_HOTTEST_BELIEVED_C: Final = 150.0
_FULLEST_BELIEVED: Final = 200.0
_TOOL_S: Final = 1.5
"""Less than `LIMIT_S`: what a stuck tool leaves out must not cost the rest."""
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


_NOTHING: Final = State(None, None, None, None, None)


@dataclass(frozen=True, slots=True)
class Readers:
    """Where the state comes from; tests pass their own. Each may block or raise."""

    state: Callable[[bool], State] = lambda virtual: read_state(virtual=virtual)
    temperature_c: Callable[[], float | None] = lambda: hottest(temperatures.read_chips(_CPU_CHIPS))
    memory: Callable[[], tuple[int | None, int | None]] = memory_bytes


def read_conditions(
    other_load_percent: float | None = None,
    *,
    virtual: bool = False,
    limit_s: float = LIMIT_S,
    readers: Readers | None = None,
) -> Conditions:
    """The state now, within `limit_s`. Never raises; what the system does not tell is None.

    Args:
        other_load_percent: from `LoadWindow.other_percent`, 0 to 100.
        virtual: in a virtual machine the absence of a battery says nothing about the supply.
        limit_s: what has not answered by then is given up on.
        readers: of this system where None.
    """
    chosen, deadline = readers or Readers(), Deadline(limit_s)
    told = Pending("state", lambda: chosen.state(virtual))
    heat = Pending("temperature", chosen.temperature_c)
    memory = Pending("memory", chosen.memory)
    state = told.result(deadline.left_s()) or _NOTHING
    return Conditions(
        power_supply=state.power_supply,
        battery_percent=_at_most_full(state.battery_percent),
        governor=state.governor,
        temperature_c=heat.result(deadline.left_s()),
        other_load_percent=other_load_percent,
        memory_available_bytes=(memory.result(deadline.left_s()) or (None, None))[1],
        thermal=state.thermal,
        display_attached=state.display_attached,
    )


def read_state(platform: str = sys.platform, *, virtual: bool = False) -> State:
    """As this system tells it."""
    if platform == "win32":
        return windows_state(
            system.battery(),
            windows.read_power_plan(_TOOL_S),
            windows.read_monitors(),
            virtual=virtual,
        )
    if platform == "darwin":
        return mac_state(*_mac_texts())
    return linux_state(virtual=virtual)


def _mac_texts() -> tuple[str | None, str | None, str | None, str | None]:
    batt = Tool("pmset", mac.read_battery, _TOOL_S)
    therm = Tool("pmset", mac.read_thermal, _TOOL_S)
    profile = Tool("system_profiler", mac.read_displays, _TOOL_S)
    settings = Tool("pmset", mac.read_power_settings, _TOOL_S)
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
    # a worn battery's gauge may say a little more than 100
    if percent is None or not 0 <= percent <= _FULLEST_BELIEVED:
        return None
    return min(100.0, percent)
