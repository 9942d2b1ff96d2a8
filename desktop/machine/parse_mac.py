"""macOS's `sysctl` and IORegistry to facts."""

import re
from collections.abc import Mapping

from desktop.machine.names import cut
from desktop.machine.parse_instructions import of_sysctl
from desktop.machine.vendors import APPLE
from desktop.records.machine import Accelerator, Cpu
from desktop.sources.numbers import above_zero, card_bytes

_MIB = 1024 * 1024


def sysctl_values(text: str) -> dict[str, str]:
    """`name: value` lines."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def cpu(values: Mapping[str, str], usable_cpus: int | None = None) -> Cpu:
    """The processor."""
    return Cpu(
        name=cut(values.get("machdep.cpu.brand_string", "")) or None,
        physical_cores=above_zero(values.get("hw.physicalcpu")),
        logical_cores=above_zero(values.get("hw.logicalcpu")),
        sockets=above_zero(values.get("hw.packages")),
        usable_cpus=usable_cpus,
        instruction_sets=of_sysctl(values),
    )


def apple_chip(values: Mapping[str, str]) -> Accelerator | None:
    """Apple's own chip as an accelerator; None on Macs with Intel's processors.

    Its memory is the limit that its owner set (`iogpu.wired_limit_mb`); without one the system's
    own limit is only told by Metal, so it is None here.
    """
    name = cut(values.get("machdep.cpu.brand_string", ""))
    if not name.startswith(APPLE):
        return None
    limit_mib = above_zero(values.get("iogpu.wired_limit_mb"))
    limit_bytes = card_bytes(limit_mib * _MIB) if limit_mib else None
    return Accelerator(APPLE, name, limit_bytes, integrated=True)


def is_virtual(values: Mapping[str, str]) -> bool:
    """Whether a hypervisor is under this macOS."""
    return values.get("kern.hv_vmm_present") == "1"


def agx_cores(text: str) -> int | None:
    """`"gpu-core-count" = 10` of the IORegistry's AGXAccelerator."""
    found = re.search(r'"gpu-core-count"[ \t]*=[ \t]*([0-9]+)', text)
    return above_zero(found.group(1)) if found else None
