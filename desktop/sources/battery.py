"""How fast the batteries are emptied, as the three systems tell it. Serial numbers are not kept.

Linux: ABI sysfs-class-power. macOS: the AppleSmartBattery entry of the I/O Registry. Windows:
`SYSTEM_BATTERY_STATE` of `CallNtPowerInformation` (Microsoft Learn, winnt.h and powerbase.h).
"""

import contextlib
import sys
from pathlib import Path

from desktop.sources import files
from desktop.sources.commands import LIMIT_S, run_tool, text_or_none

ROOT = Path("/sys/class/power_supply")
_FILES = ("type", "scope", "online", "status", "power_now", "current_now", "voltage_now")
_SYSTEM_BATTERY_STATE = 5
_STATE_BYTES = 32


def read_supplies(root: Path = ROOT) -> dict[str, dict[str, str]]:
    """Linux: by supply, the content of its files of interest."""
    return {folder.name: files.read_lines_of(folder, _FILES) for folder in files.children(root)}


def read_smart_battery(limit_s: float = LIMIT_S) -> str | None:
    """macOS: the battery's entry as `ioreg` prints it; None without a battery or in time."""
    return text_or_none(run_tool(["ioreg", "-rw0", "-d1", "-c", "AppleSmartBattery"], limit_s))


def read_battery_state() -> bytes | None:
    """Windows: the 32 bytes of `SYSTEM_BATTERY_STATE`; None elsewhere and when it is refused."""
    told: bytes | None = None
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415

        state = ctypes.create_string_buffer(_STATE_BYTES)
        # no such library or call
        with contextlib.suppress(OSError, AttributeError):
            call = ctypes.WinDLL("powrprof").CallNtPowerInformation
            if call(_SYSTEM_BATTERY_STATE, None, 0, state, _STATE_BYTES) == 0:
                told = state.raw
    return told
