"""Windows' registry: display adapters that have, or once had, a driver; names of the machine."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from desktop.sources.texts import line

DISPLAY_CLASS: Final = "{4d36e968-e325-11ce-bfc1-08002be10318}"
"""Microsoft's device setup class of display adapters."""
_CLASSES: Final = r"SYSTEM\CurrentControlSet\Control\Class"
_DEVICES: Final = r"SYSTEM\CurrentControlSet\Enum"
_CPU: Final = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_BIOS: Final = r"HARDWARE\DESCRIPTION\System\BIOS"
_POWER: Final = r"SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes"
_BUSES: Final = ("PCI", "ACPI")
"""ACPI: the graphics unit of Qualcomm's chips."""
_SIZES_END: Final = 0xFFF00000


class Registry(Protocol):
    """`HKEY_LOCAL_MACHINE`; tests pass their own."""

    def value(self, key: str, name: str) -> object:
        """One value, None when it is not there."""

    def children(self, key: str) -> tuple[str, ...]:
        """The names of the keys below one, none when it is not there."""


class MachineRegistry:
    """This machine's registry; empty on other systems."""

    def value(self, key: str, name: str) -> object:
        """As `Registry.value`."""
        value: object = None
        if sys.platform == "win32":
            import winreg  # noqa: PLC0415

            with (
                contextlib.suppress(OSError),
                winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as found,
            ):
                value = winreg.QueryValueEx(found, name)[0]
        return value

    def children(self, key: str) -> tuple[str, ...]:
        """As `Registry.children`."""
        names: list[str] = []
        if sys.platform == "win32":
            import winreg  # noqa: PLC0415

            with (
                contextlib.suppress(OSError),
                winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as found,
            ):
                # an open key is asked for the next child until there is none: then OSError
                while True:
                    names.append(winreg.EnumKey(found, len(names)))
        return tuple(names)


@dataclass(frozen=True, slots=True)
class RegistryAdapter:
    """One display adapter that has, or once had, a driver here."""

    device_id: str
    r"""`PCI\VEN_10DE&DEV_2684&SUBSYS_…\4&2283F625&0&0019`: the same as CIM's PNPDeviceID."""
    location: str | None
    """`…;PCI bus %1, device %2, function %3;(1,0,0)`."""
    name: str | None
    memory_bytes: int | None
    """`HardwareInformation.qwMemorySize`; WMI's AdapterRAM ends at 4 GiB and is never read.

    Microsoft, "Registering hardware information".
    """
    driver_version: str | None = None


@dataclass(frozen=True, slots=True)
class PowerModes:
    """The power modes laid over the plan, as GUIDs; None where this Windows has none."""

    on_mains: str | None = None
    on_battery: str | None = None


def read_power_modes(registry: Registry) -> PowerModes:
    """What the slider of `Power mode` in Windows' settings stands at (since Windows 10 1709)."""
    names = ("ActiveOverlayAcPowerScheme", "ActiveOverlayDcPowerScheme")
    return PowerModes(*(_text(registry.value(_POWER, name)) for name in names))


def read_cpu_name(registry: Registry) -> str | None:
    """The processor's own name."""
    return _text(registry.value(_CPU, "ProcessorNameString"))


def read_maker(registry: Registry) -> tuple[str | None, str | None]:
    """Who made the machine, and which product it is."""
    names = ("SystemManufacturer", "SystemProductName")
    maker, product = (_text(registry.value(_BIOS, name)) for name in names)
    return maker, product


def read_adapters(registry: Registry) -> tuple[RegistryAdapter, ...]:
    """All display adapters of the registry. Those that were taken out stay in it."""
    devices = (device for bus in _BUSES for device in _devices(registry, bus))
    adapters = (_adapter(registry, device) for device in devices)
    return tuple(adapter for adapter in adapters if adapter is not None)


def _devices(registry: Registry, bus: str) -> Iterator[str]:
    for model in registry.children(rf"{_DEVICES}\{bus}"):
        for instance in registry.children(rf"{_DEVICES}\{bus}\{model}"):
            yield rf"{bus}\{model}\{instance}"


def _adapter(registry: Registry, device_id: str) -> RegistryAdapter | None:
    key = rf"{_DEVICES}\{device_id}"
    driver = _text(registry.value(key, "Driver")) or ""
    # the class and the number of the device's own key: another number may be a card's that is gone
    if not driver.lower().startswith(DISPLAY_CLASS):
        return None
    own = rf"{_CLASSES}\{driver}"
    return RegistryAdapter(
        device_id=device_id,
        location=_text(registry.value(key, "LocationInformation")),
        name=_text(registry.value(own, "DriverDesc")),
        memory_bytes=_memory(registry, own),
        driver_version=_text(registry.value(own, "DriverVersion")),
    )


def _memory(registry: Registry, key: str) -> int | None:
    size = _size(registry.value(key, "HardwareInformation.qwMemorySize"))
    if size is not None:
        return size
    # old drivers know the 32-bit value only, which says nothing where it is at its end
    small = _size(registry.value(key, "HardwareInformation.MemorySize"))
    return small if small is not None and small < _SIZES_END else None


def _size(told: object) -> int | None:
    # some drivers write the 64-bit number as raw little-endian bytes
    size = int.from_bytes(told, "little") if isinstance(told, bytes) else told
    return size if isinstance(size, int) and size > 0 else None


def _text(told: object) -> str | None:
    return line(told) if isinstance(told, str) else None
