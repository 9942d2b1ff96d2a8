"""Windows' registry and CIM to facts."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from desktop.machine.names import clean, cut
from desktop.machine.parse_cards import INTEL_INTEGRATED_AT
from desktop.machine.vendors import INTEL, PCI_VENDORS, QUALCOMM, is_integrated
from desktop.records.machine import Accelerator
from desktop.sources.numbers import above_zero, card_bytes
from desktop.sources.registry import RegistryAdapter

_PCI_ID: Final = re.compile(r"PCI\\VEN_([0-9A-F]{4})&DEV_[0-9A-F]{4}", re.IGNORECASE)
_QUALCOMM_ID: Final = re.compile(r"ACPI\\(?:VEN_)?QCOM", re.IGNORECASE)
_LOCATION: Final = re.compile(
    r"(?<![0-9])([0-9]{1,3}), ?(?:device )?([0-9]{1,2}), ?(?:function )?([0-7])\)?$"
)
_LAST_BUS: Final = 0xFF
_LAST_DEVICE: Final = 31
_MOST_CHARACTERS: Final = 256
_CLASSES: Final = ("Win32_VideoController", "Win32_Processor", "Win32_ComputerSystem")
_WORKS: Final = 0
"""Win32_VideoController.ConfigManagerErrorCode; all else is a device that does not work: 22 was
disabled, 43 reported a problem (Microsoft, "Error codes in Device Manager")."""
_MICROSOFTS: Final = "Microsoft "
"""Basic Display Adapter, Basic Render Driver, Remote Display Adapter: nothing computes on them,
even where a real card is behind the first, which stands for a driver that is missing."""


def instances(text: str | None, name: str) -> tuple[Mapping[str, object], ...]:
    """The instances of one class in CIM's JSON; none when it is not that JSON."""
    try:
        told = json.loads(text or "")
    except (ValueError, RecursionError):
        return ()
    items = told.get(name) if isinstance(told, dict) else None
    # PowerShell writes a single object without a list around it
    listed = items if isinstance(items, list) else [items]
    return tuple(item for item in listed if isinstance(item, dict))


def tells_anything(cim: str | None) -> bool:
    """Whether CIM answered: a machine has at least a processor. Broken, it gives empty lists."""
    return any(instances(cim, name) for name in _CLASSES)


def accelerators(
    cim: str | None,
    registry: Iterable[RegistryAdapter],
    present: Iterable[str] | None = None,
) -> tuple[Accelerator, ...]:
    """The cards that are present now and work, with address and memory from the registry.

    Args:
        cim: the JSON of `read_cim`; PowerShell may have given nothing.
        registry: the adapters that have, or once had, a driver here.
        present: the devices that are there now, for want of CIM. Without either all that the
            registry knows is taken, which may name a card that was taken out.
    """
    known = {adapter.device_id.upper(): adapter for adapter in registry}
    shown = instances(cim, "Win32_VideoController")
    if shown:
        found = [_present(item, known) for item in shown]
    else:
        here = known.keys() if present is None else {device.upper() for device in present}
        there = (adapter for device, adapter in known.items() if device in here)
        found = [_card(a.name or "", a, a.driver_version) for a in there]
    return tuple(card for card in found if card is not None)


def sockets(cim: str | None) -> int | None:
    """Processors in the machine."""
    for item in instances(cim, "Win32_ComputerSystem"):
        count = above_zero(item.get("NumberOfProcessors"))
        if count is not None:
            return count
    return len(instances(cim, "Win32_Processor")) or None


def pci_address(location: str | None) -> str | None:
    """`0000:01:00.0` from `…;PCI bus %1, device %2, function %3;(1,0,0)`, decimal there."""
    found = _LOCATION.search((location or "").strip()[-_MOST_CHARACTERS:])
    if found is None:
        return None
    bus, device, function = map(int, found.groups())
    there = bus <= _LAST_BUS and device <= _LAST_DEVICE
    return f"0000:{bus:02x}:{device:02x}.{function}" if there else None


def _present(
    item: Mapping[str, object], known: Mapping[str, RegistryAdapter]
) -> Accelerator | None:
    trouble = item.get("ConfigManagerErrorCode")
    if trouble is not None and trouble != _WORKS:
        return None
    device_id = str(item.get("PNPDeviceID") or "")
    name, version = str(item.get("Name") or ""), item.get("DriverVersion")
    adapter = known.get(device_id.upper(), RegistryAdapter(device_id, None, None, None))
    return _card(name, adapter, cut(version) if isinstance(version, str) else None)


def _card(name: str, adapter: RegistryAdapter, driver: str | None) -> Accelerator | None:
    vendor = _vendor(adapter.device_id)
    if vendor is None or not name or name.startswith(_MICROSOFTS):
        return None
    address = pci_address(adapter.location)
    at_intels = vendor == INTEL and address == INTEL_INTEGRATED_AT
    return Accelerator(
        vendor,
        clean(name),
        None,
        at_intels or is_integrated(vendor, name),
        address,
        driver,
        dedicated_bytes=card_bytes(adapter.memory_bytes),
    )


def _vendor(device_id: str) -> str | None:
    # virtual and remote adapters hang on other buses (ROOT, SWD, USB) or are others' PCI devices
    found = _PCI_ID.match(device_id)
    if found is not None:
        return PCI_VENDORS.get(int(found.group(1), 16))
    return QUALCOMM if _QUALCOMM_ID.match(device_id) else None
