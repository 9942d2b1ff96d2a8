"""Windows' display adapters to accelerators."""

import json
import re
from collections.abc import Iterable, Mapping

from desktop.machine.vendors import PCI_VENDORS, is_integrated
from desktop.records.machine import Accelerator
from desktop.sources.windows import RegistryAdapter

_ID = re.compile(r"VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.IGNORECASE)


def accelerators(
    present: str | None, registry: Iterable[RegistryAdapter]
) -> tuple[Accelerator, ...]:
    """The cards that are present now, with their memory from the registry.

    Args:
        present: JSON of Win32_VideoController; None when PowerShell gave nothing, then all that
            the registry knows is taken, which may name a card that was taken out.
        registry: the adapters' driver keys.
    """
    adapters = tuple(registry)
    if present is None:
        cards = (_card(a.name or "", a.matching_id, None, adapters) for a in adapters)
    else:
        cards = (_present(item, adapters) for item in _items(present))
    return tuple(card for card in cards if card is not None)


def _present(
    item: Mapping[str, object], adapters: tuple[RegistryAdapter, ...]
) -> Accelerator | None:
    driver = item.get("DriverVersion")
    version = driver if isinstance(driver, str) else None
    return _card(str(item.get("Name") or ""), str(item.get("PNPDeviceID") or ""), version, adapters)


def _card(
    name: str, device: str, driver: str | None, adapters: tuple[RegistryAdapter, ...]
) -> Accelerator | None:
    found = _ID.search(device)
    vendor = PCI_VENDORS.get(int(found.group(1), 16)) if found else None
    if found is None or vendor is None or not name:
        return None
    integrated = is_integrated(vendor, name)
    memory_bytes = _memory(found.group().lower(), adapters)
    return Accelerator(vendor, " ".join(name.split()), memory_bytes, integrated, None, driver)


def _memory(device: str, adapters: tuple[RegistryAdapter, ...]) -> int | None:
    sizes = [a.memory_bytes for a in adapters if device in a.matching_id.lower()]
    return next((size for size in sizes if size is not None), None)


def _items(text: str) -> list[Mapping[str, object]]:
    # PowerShell writes a single object without a list around it
    try:
        told = json.loads(text)
    except ValueError:
        return []
    items = told if isinstance(told, list) else [told]
    return [item for item in items if isinstance(item, dict)]
