"""The memory's modules, from three systems' records of the firmware's table (SMBIOS type 17)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from desktop.machine.names import cut
from desktop.records.machine import MemoryModules
from desktop.sources.numbers import above_zero

_SMBIOS_KINDS: Final = {
    18: "DDR",
    19: "DDR2",
    20: "DDR2",
    24: "DDR3",
    26: "DDR4",
    27: "LPDDR",
    28: "LPDDR2",
    29: "LPDDR3",
    30: "LPDDR4",
    32: "HBM",
    33: "HBM2",
    34: "DDR5",
    35: "LPDDR5",
    36: "HBM3",
}
"""DMTF DSP0134 (SMBIOS), 7.18.2. It has no number for LPDDR4X and LPDDR5X."""
_KIND: Final = re.compile(r"(?:LP)?DDR\d?X?|HBM\d?E?")
_CHANNEL: Final = re.compile(
    r"(?:(?:controller|mc|node|cpu|proc|p)[ _]?\d+[ _-]*)?channel[ _-]?(?:[a-p](?![a-z])|\d+)",
    re.IGNORECASE,
)
_MOST_MT_S: Final = 100_000
"""Several times the quickest memory there is; more is a slip of the firmware."""
_MOST_BITS: Final = 8192
"""Of one module: stacks of HBM have some thousands. SMBIOS writes 65535 where it is unknown."""


@dataclass(frozen=True, slots=True)
class Module:
    """One module that is there."""

    kind: str | None
    speed_mt_s: int | None
    """Configured."""
    place: str
    """All that the firmware calls the slot."""
    data_bits: int | None = None
    """Data lines, without those of error correction."""


def of_modules(found: Iterable[Module]) -> MemoryModules | None:
    """Many modules in one word; None where nothing of them is told (virtual machines).

    One speed for all: the controller runs at the slowest's. Channels only where each slot's name
    speaks of one: they have 64 bits each with DIMMs, 16 or 32 with LPDDR, so that their number is
    no width.
    """
    modules = tuple(found)
    kinds = {module.kind for module in modules}
    speeds = [module.speed_mt_s for module in modules if (module.speed_mt_s or 0) <= _MOST_MT_S]
    kind = kinds.pop() if len(kinds) == 1 else None
    known = [speed for speed in speeds if speed]
    if kind is None and not known:
        return None
    speed = min(known) if known and len(known) == len(modules) else None
    channels = _channels(modules)
    return MemoryModules(
        kind,
        speed,
        len(set(channels)) if channels else None,
        len(modules),
        _bus_bits(modules, channels),
    )


def of_udev(text: str) -> MemoryModules | None:
    """From udev's record: `E:MEMORY_DEVICE_0_TYPE=DDR5` (systemd, `dmi_memory_id`)."""
    slots: dict[str, dict[str, str]] = {}
    for slot, name, value in re.findall(r"^E:MEMORY_DEVICE_(\d+)_(\w+)=(.*)$", text, re.MULTILINE):
        slots.setdefault(slot, {})[name] = value.strip()
    return of_modules(_of_udev(s) for s in slots.values() if _is_there(s))


def of_cim(instances: Iterable[Mapping[str, object]]) -> MemoryModules | None:
    """From Windows' Win32_PhysicalMemory; ConfiguredClockSpeed is in megatransfers nowadays."""
    return of_modules(_of_cim(item) for item in instances if item.get("Capacity") != 0)


def kind_of(told: str) -> str | None:
    """`DDR5`; None for `RAM`, `Unknown`, `<OUT OF SPEC>`."""
    word = told.strip().upper()
    return word if _KIND.fullmatch(word) else None


def _is_there(slot: Mapping[str, str]) -> bool:
    return slot.get("PRESENT") != "0" and slot.get("SIZE", "0") != "0"


def _of_udev(slot: Mapping[str, str]) -> Module:
    return Module(
        kind_of(slot.get("TYPE", "")),
        above_zero(slot.get("CONFIGURED_SPEED_MTS")),
        f"{slot.get('BANK_LOCATOR', '')} {slot.get('LOCATOR', '')}",
        _data_bits(slot.get("DATA_WIDTH")),
    )


def _of_cim(item: Mapping[str, object]) -> Module:
    return Module(
        _SMBIOS_KINDS.get(above_zero(item.get("SMBIOSMemoryType")) or 0),
        above_zero(item.get("ConfiguredClockSpeed")),
        f"{item.get('BankLabel') or ''} {item.get('DeviceLocator') or ''}",
        _data_bits(item.get("DataWidth")),
    )


def _data_bits(told: object) -> int | None:
    bits = above_zero(told)
    return bits if bits is not None and bits <= _MOST_BITS else None


def _channels(modules: tuple[Module, ...]) -> list[str]:
    """Of each module the channel; empty where one does not name its own."""
    named = [_CHANNEL.search(cut(module.place)) for module in modules]
    words = [re.sub(r"[ _-]", "", found.group().lower()) for found in named if found]
    return words if len(words) == len(modules) else []


def _bus_bits(modules: tuple[Module, ...], channels: list[str]) -> int | None:
    """The channels' widths together: two modules of one channel share its lines."""
    # one module alone is one channel, whatever it is called
    names = channels or [module.place for module in modules[:1]]
    if len(names) != len(modules):
        return None
    widths: dict[str, int] = {}
    for name, module in zip(names, modules, strict=True):
        if module.data_bits is None:
            return None
        widths[name] = max(module.data_bits, widths.get(name, 0))
    return sum(widths.values()) or None
