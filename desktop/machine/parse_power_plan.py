"""Windows' power plan and the power mode laid over it, in one word or two."""

import re
from typing import Final

from desktop.records.machine import PowerSupply
from desktop.sources.registry import PowerModes

_PLANS: Final = {
    "381b4222-f694-41f0-9685-ff5bb260df2e": "balanced",
    "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c": "high performance",
    "a1841308-3541-4fab-bc81-f71556f20b4a": "power saver",
    "e9a42b02-d5df-448d-aa00-03f14749eb61": "ultimate performance",
}
"""Microsoft's own plans; any other may carry a name that its owner wrote, so it is `custom`."""
_MODES: Final = {
    "961cc777-2547-4f9d-8174-7d86181b8a7a": "best power efficiency",
    "3af9b8d9-7c97-431d-ad78-34a8bfea439f": "better performance",
    "ded574b5-45a0-4f42-8737-46345c09c238": "best performance",
}
"""Microsoft's power modes, `Customize the Windows performance power slider`."""
_NO_MODE: Final = "00000000-0000-0000-0000-000000000000"
"""The middle of the slider: the plan as it is."""
_BASE: Final = "balanced"
"""Only over this plan is a mode laid; under another one the registry keeps the last mode."""
_GUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MOST_CHARACTERS: Final = 4096


def power_plan(powercfg: str) -> str | None:
    """`balanced` from powercfg's line with the plan's GUID; None when there is none in it."""
    guid = _guid(powercfg)
    return None if guid is None else _PLANS.get(guid, "custom")


def with_mode(plan: str | None, modes: PowerModes, supply: PowerSupply | None) -> str | None:
    """`balanced, best performance`: the plan with the mode that holds on this supply.

    Args:
        plan: as `power_plan`; a mode counts over `balanced` alone.
        modes: as the registry has them; one without a GUID in it is not known.
        supply: which of the two holds; where it is not known, they must agree.
    """
    mode = _mode(modes, supply) if plan == _BASE else None
    return plan if mode is None else f"{plan}, {mode}"


def _mode(modes: PowerModes, supply: PowerSupply | None) -> str | None:
    on_mains, on_battery = _guid(modes.on_mains or ""), _guid(modes.on_battery or "")
    if supply is PowerSupply.BATTERY:
        guid = on_battery
    elif supply is PowerSupply.MAINS or on_mains == on_battery:
        guid = on_mains
    else:
        guid = None
    if guid is None or guid == _NO_MODE:
        return None
    # one that a computer's maker added
    return _MODES.get(guid, "another mode")


def _guid(text: str) -> str | None:
    found = _GUID.search(text[:_MOST_CHARACTERS])
    return found.group().lower() if found else None
