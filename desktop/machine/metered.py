"""Whether the connection that a download would use is metered, as the system says.

The network is not asked, and nothing is started for it. macOS tells it only to programs that watch
a path of Network.framework (`nw_path_is_expensive`), with blocks and a dispatch queue: not known
there.
"""

import os
import sys
from collections.abc import Mapping

from desktop.machine.parse_metered import by_network_manager, by_windows
from desktop.records.metered import Metered, MeteredState
from desktop.sources import metered_windows
from desktop.sources.commands import LIMIT_S, text_or_none


def metered(
    environment: Mapping[str, str], limit_s: float = LIMIT_S, platform: str = sys.platform
) -> Metered:
    """What this system says. Never raises; not for the UI thread.

    Args:
        environment: may name the system's bus, `DBUS_SYSTEM_BUS_ADDRESS`.
        limit_s: after this many seconds it is not known.
        platform: `sys.platform`'s word.
    """
    if platform == "win32":
        text = text_or_none(metered_windows.read_cost(limit_s))
        return _told("Windows", MeteredState.NOT_KNOWN if text is None else by_windows(text))
    if platform == "linux":
        # jeepney is there on Linux only
        from desktop.sources.metered_linux import read_metered  # noqa: PLC0415

        return _told("NetworkManager", by_network_manager(read_metered(environment, limit_s)))
    return Metered()


def is_metered() -> bool:
    """Whether a large download should be asked about first on this connection."""
    return metered(os.environ).asks_first


def _told(source: str, state: MeteredState) -> Metered:
    return Metered() if state is MeteredState.NOT_KNOWN else Metered(state, source)
