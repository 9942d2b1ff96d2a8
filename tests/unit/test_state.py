"""What feeds a machine and its plan: Windows' power mode, and tools that get stuck."""

import threading

import pytest

from desktop.errors import Reason
from desktop.machine.conditions import Readers, survey_conditions
from desktop.machine.parse_power_plan import with_mode
from desktop.machine.state import mac_source, windows_source, windows_state
from desktop.machine.tools import Tool
from desktop.records.machine import PowerSupply
from desktop.sources.registry import PowerModes, read_power_modes
from desktop.sources.system import Battery
from tests.captures.whole import PlantedRegistry

BALANCED = "Power Scheme GUID: 381b4222-f694-41f0-9685-ff5bb260df2e  (Balanced)\r\n"
FAST = "Power Scheme GUID: 8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c  (High performance)\r\n"
SCHEMES = r"HKLM\SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes"
EFFICIENT = "961cc777-2547-4f9d-8174-7d86181b8a7a"
BETTER = "3af9b8d9-7c97-431d-ad78-34a8bfea439f"
BEST = "ded574b5-45a0-4f42-8737-46345c09c238"
NONE = "00000000-0000-0000-0000-000000000000"
MAINS, BATTERY = PowerSupply.MAINS, PowerSupply.BATTERY


def modes(on_mains, on_battery):
    values = {
        "ActivePowerScheme": "381b4222-f694-41f0-9685-ff5bb260df2e",
        "ActiveOverlayAcPowerScheme": on_mains,
        "ActiveOverlayDcPowerScheme": on_battery,
    }
    return read_power_modes(PlantedRegistry({SCHEMES: values}))


@pytest.mark.parametrize(
    ("powercfg", "told", "on_mains", "governor"),
    [
        (BALANCED, modes(BEST, EFFICIENT), True, "balanced, best performance"),
        (BALANCED, modes(BEST, EFFICIENT), False, "balanced, best power efficiency"),
        (BALANCED, modes(BETTER.upper(), NONE), True, "balanced, better performance"),
        # the middle of the slider
        (BALANCED, modes(NONE, BEST), True, "balanced"),
        # the registry keeps the last mode, which holds over the balanced plan only
        (FAST, modes(EFFICIENT, EFFICIENT), True, "high performance"),
        # which of the two holds is not known
        (BALANCED, modes(BEST, EFFICIENT), None, "balanced"),
        (BALANCED, modes(BEST, BEST), None, "balanced, best performance"),
        (
            BALANCED,
            modes("12345678-1234-1234-1234-123456789abc", NONE),
            True,
            "balanced, another mode",
        ),
        # Windows before 1709, and nonsense
        (BALANCED, PowerModes(), True, "balanced"),
        (BALANCED, modes(7, "x" * 100_000), False, "balanced"),
        (None, modes(BEST, BEST), True, None),
    ],
)
def test_windows_power_mode_is_part_of_the_plan(powercfg, told, on_mains, governor):
    state = windows_state(Battery(50.0, on_mains), powercfg, 1, told, virtual=False)
    assert state.governor == governor


def test_a_mode_without_a_plan_is_nothing():
    assert with_mode(None, PowerModes(BEST, BEST), MAINS) is None
    assert with_mode("custom", PowerModes(BEST, BEST), BATTERY) == "custom"


def test_tools_of_the_state_that_get_stuck_are_named_and_cost_nothing_else():
    release = threading.Event()
    batt = "Now drawing from 'AC Power'\n -InternalBattery-0 (id=1)\t72%; charging\n"
    tools = (
        Tool("pmset -g batt", lambda: batt, 30),
        Tool("pmset -g therm", release.wait, 0.05),
        Tool("system_profiler", release.wait, 0.05),
        Tool("pmset -g", lambda: " lowpowermode 1\n", 30),
    )
    readers = Readers(mac_source(tools), lambda: None, lambda: (8, 4))
    try:
        now, failures = survey_conditions(limit_s=30, readers=readers)
    finally:
        release.set()
    assert failures == (
        Reason("source_stuck", {"name": "pmset -g therm"}),
        Reason("source_stuck", {"name": "system_profiler"}),
    )
    assert (now.power_supply, now.battery_percent, now.governor) == (MAINS, 72.0, "low power")


def test_a_stuck_powercfg_is_named_and_the_rest_is_told():
    release = threading.Event()
    plan = Tool("powercfg", release.wait, 0.05)
    readers = Readers(windows_source(plan), lambda: None, lambda: (8, 4))
    try:
        now, failures = survey_conditions(limit_s=30, readers=readers)
    finally:
        release.set()
    assert failures == (Reason("source_stuck", {"name": "powercfg"}),)
    assert (now.governor, now.memory_available_bytes) == (None, 4)
