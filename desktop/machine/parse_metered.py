"""What systems say of their connection, to a state."""

import json
from typing import Final

from desktop.records.metered import MeteredState

_NETWORK_MANAGER: Final = {
    1: MeteredState.YES,
    2: MeteredState.NO,
    3: MeteredState.GUESS_YES,
    4: MeteredState.GUESS_NO,
}
"""NMMetered (NetworkManager's D-Bus reference, "nm-dbus-types"); 0 is not known."""
_UNRESTRICTED: Final = 1
_LIMITED: Final = frozenset({2, 3})
"""NetworkCostType (Microsoft Learn): Fixed is free up to a limit, Variable costs by the byte; 0 is
not known."""
_MOST_CHARACTERS: Final = 4096


def by_network_manager(value: object) -> MeteredState:
    """Of the property `Metered`, a number of D-Bus's type u; all else is not known."""
    if not isinstance(value, int) or isinstance(value, bool):
        return MeteredState.NOT_KNOWN
    return _NETWORK_MANAGER.get(value, MeteredState.NOT_KNOWN)


def by_windows(text: str) -> MeteredState:
    """Of the JSON of `sources.metered_windows.read_cost`.

    Roaming, or over its limit, a connection costs whatever its kind (Microsoft Learn, "Managing
    metered network cost constraints").
    """
    try:
        cost = json.loads(text[:_MOST_CHARACTERS])
    except (ValueError, RecursionError):
        return MeteredState.NOT_KNOWN
    if not isinstance(cost, dict):
        return MeteredState.NOT_KNOWN
    kind = cost.get("NetworkCostType")
    dear = cost.get("Roaming") is True or cost.get("OverDataLimit") is True
    if not isinstance(kind, int) or isinstance(kind, bool):
        kind = None
    if dear or kind in _LIMITED:
        return MeteredState.YES
    return MeteredState.NO if kind == _UNRESTRICTED else MeteredState.NOT_KNOWN
