"""What Windows tells: the registry, and CIM through PowerShell for what is present now."""

import contextlib
import sys
from dataclasses import dataclass

from desktop.sources.commands import LIMIT_S, run_tool, text_or_none

_ADAPTERS = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
_CPU = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_BIOS = r"HARDWARE\DESCRIPTION\System\BIOS"
_PRESENT = (
    "[Console]::OutputEncoding=[Text.Encoding]::UTF8;"
    "Get-CimInstance Win32_VideoController"
    " | Select-Object Name,PNPDeviceID,DriverVersion,AdapterCompatibility"
    " | ConvertTo-Json -Compress"
)


@dataclass(frozen=True, slots=True)
class RegistryAdapter:
    """One display adapter's driver key. Keys of cards that were taken out stay behind."""

    matching_id: str
    r"""`pci\ven_10de&dev_2684&subsys_…`."""
    name: str | None
    memory_bytes: int | None
    """`HardwareInformation.qwMemorySize`; WMI's AdapterRAM ends at 4 GiB and is never read."""


def read_present_adapters(limit_s: float = LIMIT_S) -> str | None:
    """JSON of the display adapters that are present now."""
    command = ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", _PRESENT]
    return text_or_none(run_tool(command, limit_s))


def read_power_plan(limit_s: float = LIMIT_S) -> str | None:
    """`powercfg`'s line on the active plan; its name may be the owner's own words."""
    return text_or_none(run_tool(["powercfg.exe", "/getactivescheme"], limit_s))


def read_cpu_name() -> str | None:
    """The processor's own name."""
    return _registry_text(_CPU, "ProcessorNameString")


def read_maker() -> tuple[str | None, str | None]:
    """Who made the machine, and which product it is."""
    return _registry_text(_BIOS, "SystemManufacturer"), _registry_text(_BIOS, "SystemProductName")


def read_registry_adapters() -> tuple[RegistryAdapter, ...]:
    """All display adapters that ever had a driver here."""
    adapters = (_adapter(rf"{_ADAPTERS}\{index:04d}") for index in range(32))
    return tuple(adapter for adapter in adapters if adapter is not None)


def _adapter(key: str) -> RegistryAdapter | None:
    matching_id = _registry_text(key, "MatchingDeviceId")
    if matching_id is None:
        return None
    memory = _registry_value(key, "HardwareInformation.qwMemorySize")
    # some drivers write the 64-bit number as raw little-endian bytes
    size = int.from_bytes(memory, "little") if isinstance(memory, bytes) else memory
    memory_bytes = size if isinstance(size, int) and size > 0 else None
    return RegistryAdapter(matching_id, _registry_text(key, "DriverDesc"), memory_bytes)


def _registry_text(key: str, name: str) -> str | None:
    value = _registry_value(key, name)
    return value.strip() or None if isinstance(value, str) else None


def _registry_value(key: str, name: str) -> object:
    value: object = None
    if sys.platform == "win32":
        import winreg  # noqa: PLC0415

        # a key or a value that is not there
        with contextlib.suppress(OSError), winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as found:
            value = winreg.QueryValueEx(found, name)[0]
    return value
