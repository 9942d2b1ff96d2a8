"""What Windows tells: CIM through PowerShell, and calls of its own libraries."""

import ctypes
import sys
from types import MappingProxyType
from typing import Final

from desktop.sources.commands import LIMIT_S, ToolFailure, run_tool
from desktop.sources.registry import DISPLAY_CLASS

CIM_PROPERTIES: Final = MappingProxyType(
    {
        "Win32_VideoController": (
            "Name",
            "PNPDeviceID",
            "DriverVersion",
            "AdapterCompatibility",
            "CurrentHorizontalResolution",
            "ConfigManagerErrorCode",
        ),
        "Win32_Processor": ("Name", "NumberOfCores", "NumberOfLogicalProcessors"),
        "Win32_PhysicalMemory": (
            "Capacity",
            "SMBIOSMemoryType",
            "ConfiguredClockSpeed",
            "DataWidth",
            "BankLabel",
            "DeviceLocator",
        ),
        "Win32_ComputerSystem": ("Manufacturer", "Model", "NumberOfProcessors"),
    }
)
"""All that is asked for: no serial numbers, no names of machine or owner. AdapterRAM, which ends at
4 GiB, is not among them."""

_FEATURES: Final = MappingProxyType(
    {
        19: "neon",
        38: "sse4_2",
        39: "avx",
        40: "avx2",
        41: "avx512f",
        43: "asimddp",
        46: "sve",
        47: "sve2",
        60: "bmi2",
        66: "i8mm",
        67: "asimdhp",
        68: "bf16",
    }
)
"""Numbers of IsProcessorFeaturePresent (Microsoft, processthreadsapi.h), in Linux's words."""

_PRESENT_OF_CLASS: Final = 0x100 | 0x200
"""CM_GETIDLIST_FILTER_PRESENT, CM_GETIDLIST_FILTER_CLASS."""

_MONITORS, _REMOTE_SESSION = 80, 0x1000
"""GetSystemMetrics: SM_CMONITORS, SM_REMOTESESSION (Microsoft, winuser.h)."""


def read_cim(limit_s: float = LIMIT_S) -> str | ToolFailure:
    """JSON of what is present now: an object of class to list of instances."""
    wanted = "".join(
        f"$r['{name}']=@(Get-CimInstance {name} -Property {','.join(names)}"
        f" | Select-Object {','.join(names)});"
        for name, names in CIM_PROPERTIES.items()
    )
    script = (
        "$ErrorActionPreference='SilentlyContinue';"
        "[Console]::OutputEncoding=[Text.Encoding]::UTF8;"
        f"$r=@{{}};{wanted}ConvertTo-Json $r -Compress -Depth 3"
    )
    command = ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", script]
    return run_tool(command, limit_s)


def read_power_plan(limit_s: float = LIMIT_S) -> str | ToolFailure:
    """`powercfg`'s line on the active plan; its name may be the owner's own words."""
    return run_tool(["powercfg.exe", "/getactivescheme"], limit_s)


def read_features() -> tuple[str, ...]:
    """Instruction sets that Windows has a number for, in Linux's words; FMA has none."""
    found: list[str] = []
    if sys.platform == "win32":
        present = ctypes.windll.kernel32.IsProcessorFeaturePresent
        found = [name for number, name in _FEATURES.items() if present(number)]
    return tuple(found)


def read_present() -> tuple[str, ...] | None:
    """The display adapters that are there now, by device id; None where the call is refused.

    A second way to what CIM tells, without PowerShell (Microsoft, cfgmgr32.h).
    """
    found: tuple[str, ...] | None = None
    if sys.platform == "win32":
        size = ctypes.c_ulong()
        library = ctypes.windll.cfgmgr32
        refused = library.CM_Get_Device_ID_List_SizeW(
            ctypes.byref(size), DISPLAY_CLASS, _PRESENT_OF_CLASS
        )
        ids = ctypes.create_unicode_buffer(size.value + 1)
        if not refused and not library.CM_Get_Device_ID_ListW(
            DISPLAY_CLASS, ids, size, _PRESENT_OF_CLASS
        ):
            found = tuple(word for word in "".join(ids).split("\0") if word)
    return found


def read_monitors() -> int | None:
    """Screens of this session; None in a remote one, whose screen is elsewhere."""
    count: int | None = None
    if sys.platform == "win32":
        metrics = ctypes.windll.user32.GetSystemMetrics
        count = None if metrics(_REMOTE_SESSION) else int(metrics(_MONITORS))
    return count
