"""macOS's `sysctl` and System Information to facts."""

import json
import re
from collections.abc import Mapping

from desktop.machine.vendors import AMD, APPLE, INTEL, NVIDIA, is_integrated
from desktop.records.machine import Accelerator, Cpu

_MIB = 1024 * 1024
_SIZES = {"MB": _MIB, "GB": 1024 * _MIB}


def sysctl_values(text: str) -> dict[str, str]:
    """`name: value` lines."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def cpu(values: Mapping[str, str], usable_cpus: int | None = None) -> Cpu:
    """The processor."""
    return Cpu(
        name=values.get("machdep.cpu.brand_string") or None,
        physical_cores=_number(values.get("hw.physicalcpu")),
        logical_cores=_number(values.get("hw.logicalcpu")),
        sockets=_number(values.get("hw.packages")),
        usable_cpus=usable_cpus,
    )


def apple_chip(values: Mapping[str, str]) -> Accelerator | None:
    """Apple's own chip as an accelerator; None on Macs with Intel's processors.

    Its memory is the limit that its owner set (`iogpu.wired_limit_mb`); without one the system's
    own limit is only told by Metal, so it is None here.
    """
    name = values.get("machdep.cpu.brand_string", "")
    if not name.startswith(APPLE):
        return None
    limit_mib = _number(values.get("iogpu.wired_limit_mb"))
    return Accelerator(APPLE, name, limit_mib * _MIB if limit_mib else None, integrated=True)


def displays(text: str) -> tuple[Accelerator, ...]:
    """The cards of `system_profiler -json SPDisplaysDataType`; none when it is not that JSON."""
    try:
        items = json.loads(text)["SPDisplaysDataType"]
    except (ValueError, KeyError, TypeError):
        return ()
    cards = (_card(item) for item in items if isinstance(item, dict))
    return tuple(card for card in cards if card is not None)


def _card(item: Mapping[str, object]) -> Accelerator | None:
    name = str(item.get("sppci_model", ""))
    vendor = _vendor(f"{item.get('spdisplays_vendor', '')} {name}")
    # the chip itself is told better by sysctl
    if not name or vendor in (None, APPLE):
        return None
    memory_bytes = _size(str(item.get("spdisplays_vram", "")))
    integrated = "spdisplays_vram_shared" in item or is_integrated(str(vendor), name)
    return Accelerator(str(vendor), name, memory_bytes, integrated)


def _vendor(told: str) -> str | None:
    vendors = (APPLE, AMD, NVIDIA, INTEL)
    return next((v for v in vendors if re.search(rf"(?:\b|_){v}\b", told, re.IGNORECASE)), None)


def _size(told: str) -> int | None:
    found = re.fullmatch(r"(\d+) (MB|GB)", told.strip())
    return int(found.group(1)) * _SIZES[found.group(2)] if found else None


def _number(told: str | None) -> int | None:
    return int(told) if told is not None and told.isdecimal() else None
