"""`system_profiler -json` of macOS to facts. Its keys differ between Apple's and Intel's Macs."""

import json
import re
from collections.abc import Mapping

from desktop.machine.names import clean, cut, vendor_of
from desktop.machine.parse_modules import Module, kind_of, of_modules
from desktop.machine.vendors import APPLE, is_integrated
from desktop.records.machine import Accelerator, MemoryModules
from desktop.sources.numbers import above_zero, card_bytes

_MIB = 1024 * 1024
_SIZES = {"MB": _MIB, "GB": 1024 * _MIB}


def displays(text: str) -> tuple[Accelerator, ...]:
    """The cards of the graphics part but for Apple's chip; none when it is not that JSON."""
    cards = (_card(item) for item in _items(text, "SPDisplaysDataType"))
    return tuple(card for card in cards if card is not None)


def tells_displays(text: str) -> bool:
    """Whether the graphics part is there: each Mac has one."""
    return bool(_items(text, "SPDisplaysDataType"))


def apple_unit(text: str) -> tuple[str | None, int | None]:
    """Apple's graphics unit: its name, and its number of cores."""
    for item in _items(text, "SPDisplaysDataType"):
        if _vendor(item) == APPLE:
            cores = above_zero(str(item.get("sppci_cores", "")))
            name = cut(str(item.get("sppci_model", "")))
            return name or None, cores
    return None, None


def display_attached(text: str) -> bool | None:
    """Whether any card drives a screen; None when the text is not the graphics part."""
    items = _items(text, "SPDisplaysDataType")
    return any(item.get("spdisplays_ndrvs") for item in items) if items else None


def modules(text: str) -> MemoryModules | None:
    """The memory: slots on Intel's Macs, one line for a chip's own memory on Apple's."""
    items = _items(text, "SPMemoryDataType")
    slots = [slot for item in items for slot in _list(item.get("_items"))]
    if slots:
        return of_modules(_module(s) for s in slots if _is_there(s))
    kinds = [kind_of(str(item.get("dimm_type", ""))) for item in items]
    return MemoryModules(kind=kinds[0]) if kinds and kinds[0] is not None else None


def _card(item: Mapping[str, object]) -> Accelerator | None:
    name, vendor = str(item.get("sppci_model", "")), _vendor(item)
    # the chip itself is told better by sysctl
    if not name or vendor is None or vendor == APPLE:
        return None
    shared = _size(str(item.get("spdisplays_vram_shared", "")))
    integrated = "spdisplays_vram_shared" in item or is_integrated(vendor, name)
    return Accelerator(
        vendor,
        clean(name),
        None,
        integrated,
        dedicated_bytes=None if integrated else _size(str(item.get("spdisplays_vram", ""))),
        shared_bytes=shared if integrated else None,
        external=_external(item),
    )


def _external(item: Mapping[str, object]) -> bool | None:
    kind = item.get("sppci_device_type")
    return None if kind is None else kind == "spdisplays_egpu"


def _is_there(slot: Mapping[str, object]) -> bool:
    size = slot.get("dimm_size")
    return size is not None and size != "empty"


def _module(slot: Mapping[str, object]) -> Module:
    speed = re.match(r"([0-9]{1,18}) M", str(slot.get("dimm_speed", "")))
    return Module(
        kind_of(str(slot.get("dimm_type", ""))),
        above_zero(speed.group(1)) if speed else None,
        str(slot.get("_name", "")),
    )


def _vendor(item: Mapping[str, object]) -> str | None:
    told = str(item.get("spdisplays_vendor", "")).removeprefix("sppci_vendor_")
    return vendor_of(told) or vendor_of(str(item.get("sppci_model", "")))


def _size(told: str) -> int | None:
    found = re.fullmatch(r"([0-9]{1,9}) (MB|GB)", told.strip())
    return card_bytes(int(found.group(1)) * _SIZES[found.group(2)]) if found else None


def _items(text: str, part: str) -> list[Mapping[str, object]]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return _list(told.get(part)) if isinstance(told, dict) else []


def _list(told: object) -> list[Mapping[str, object]]:
    return [item for item in told if isinstance(item, dict)] if isinstance(told, list) else []
