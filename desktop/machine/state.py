"""What feeds the machine, its plan, its heat and its screen, as each system tells them."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from desktop.machine import linux, parse_pmset, parse_profiler
from desktop.machine import windows as on_windows
from desktop.machine.parse_power_plan import power_plan, with_mode
from desktop.machine.tools import Tool
from desktop.records.machine import PowerSupply, Thermal
from desktop.sources import mac, registry, system, windows
from desktop.sources.registry import MachineRegistry, PowerModes

_TOOL_S: Final = 1.5
"""Less than the limit of all conditions: what a stuck tool leaves out must not cost the rest."""
_MAC_TOOLS: Final = {
    "pmset -g batt": mac.read_battery,
    "pmset -g therm": mac.read_thermal,
    "system_profiler": mac.read_displays,
    "pmset -g": mac.read_power_settings,
}
_NO_MODES: Final = PowerModes()


class State(NamedTuple):
    """What differs between the systems."""

    power_supply: PowerSupply | None
    battery_percent: float | None
    governor: str | None
    thermal: Thermal | None
    display_attached: bool | None


NOTHING: Final = State(None, None, None, None, None)


@dataclass(frozen=True, slots=True)
class StateSource:
    """One look at a system's state: whoever looks again makes a new one."""

    read: Callable[[bool], State]
    """Whether it is a virtual machine is handed in; it may block or raise."""
    tools: tuple[Tool, ...] = ()
    """What it asks; each may get stuck, and says so itself."""


def state_source(platform: str = sys.platform) -> StateSource:
    """This system's, by `sys.platform`'s word for it."""
    if platform == "win32":
        return windows_source(Tool("powercfg", lambda: windows.read_power_plan(_TOOL_S), _TOOL_S))
    if platform == "darwin":
        return mac_source(Tool(name, call, _TOOL_S) for name, call in _MAC_TOOLS.items())
    return StateSource(lambda virtual: linux_state(virtual=virtual))


def windows_source(plan: Tool) -> StateSource:
    """Windows', where a tool tells the power plan and calls tell the rest."""

    def read(virtual: bool) -> State:  # noqa: FBT001 - as `StateSource.read` has it
        modes = registry.read_power_modes(MachineRegistry())
        monitors = windows.read_monitors()
        return windows_state(system.battery(), plan.text(), monitors, modes, virtual=virtual)

    return StateSource(read, (plan,))


def mac_source(asked: Iterable[Tool]) -> StateSource:
    """macOS's, told by tools alone: those of `_MAC_TOOLS`, in that order."""
    tools = tuple(asked)

    def read(_virtual: bool) -> State:  # noqa: FBT001 - as `StateSource.read` has it
        # all at once, so that together they take no longer than one
        for tool in tools:
            tool.start()
        return mac_state(*(tool.text() for tool in tools))

    return StateSource(read, tools)


def linux_state(root: Path = linux.ROOT, *, virtual: bool = False) -> State:
    """From `/sys`."""
    supply, percent = linux.read_supply(root, virtual=virtual)
    governor, thermal = linux.read_governor(root), linux.read_thermal(root)
    return State(supply, percent, governor, thermal, linux.read_display(root))


def windows_state(
    battery: system.Battery | None,
    powercfg: str | None,
    monitors: int | None,
    modes: PowerModes = _NO_MODES,
    *,
    virtual: bool,
) -> State:
    """Windows tells nothing of heat that means the same on every machine."""
    supply, percent = on_windows.supply(battery, virtual=virtual)
    plan = with_mode(power_plan(powercfg or ""), modes, supply)
    return State(supply, percent, plan, None, on_windows.display_attached(monitors))


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
