"""`/proc/cpuinfo` to facts. Field names: Linux, arch/x86 and arch/arm64 `kernel/cpu/proc.c`."""

import re
from typing import Final

from desktop.machine.names import cut

_ARM, _QUALCOMM, _APPLE, _AMPERE = 0x41, 0x51, 0x61, 0xC0
_DESIGNS: Final = {
    (_ARM, 0xD03): "Cortex-A53",
    (_ARM, 0xD04): "Cortex-A35",
    (_ARM, 0xD05): "Cortex-A55",
    (_ARM, 0xD07): "Cortex-A57",
    (_ARM, 0xD08): "Cortex-A72",
    (_ARM, 0xD09): "Cortex-A73",
    (_ARM, 0xD0A): "Cortex-A75",
    (_ARM, 0xD0B): "Cortex-A76",
    (_ARM, 0xD0C): "Neoverse-N1",
    (_ARM, 0xD0D): "Cortex-A77",
    (_ARM, 0xD40): "Neoverse-V1",
    (_ARM, 0xD41): "Cortex-A78",
    (_ARM, 0xD42): "Cortex-A78AE",
    (_ARM, 0xD44): "Cortex-X1",
    (_ARM, 0xD46): "Cortex-A510",
    (_ARM, 0xD47): "Cortex-A710",
    (_ARM, 0xD48): "Cortex-X2",
    (_ARM, 0xD49): "Neoverse-N2",
    (_ARM, 0xD4B): "Cortex-A78C",
    (_ARM, 0xD4D): "Cortex-A715",
    (_ARM, 0xD4E): "Cortex-X3",
    (_ARM, 0xD4F): "Neoverse-V2",
    (_ARM, 0xD80): "Cortex-A520",
    (_ARM, 0xD81): "Cortex-A720",
    (_ARM, 0xD82): "Cortex-X4",
    (_ARM, 0xD84): "Neoverse-V3",
    (_ARM, 0xD85): "Cortex-X925",
    (_ARM, 0xD87): "Cortex-A725",
    (_QUALCOMM, 0x001): "Oryon",
    (_APPLE, 0x022): "Icestorm",
    (_APPLE, 0x023): "Firestorm",
    (_APPLE, 0x032): "Blizzard",
    (_APPLE, 0x033): "Avalanche",
    (_AMPERE, 0xAC3): "Ampere-1",
    (_AMPERE, 0xAC4): "Ampere-1a",
}
"""By implementer and part number (MIDR_EL1), from ARM's technical reference manuals and the
kernel's `arch/arm64/include/asm/cputype.h`."""


_MOST_CHARACTERS: Final = 4096
"""Of one line; all flags of a processor take half of it."""


def cpu_name(text: str, board: str | None = None) -> str | None:
    """`AMD EPYC 7763 64-Core Processor`; on ARM the board and the core's design, if told.

    Args:
        text: of `/proc/cpuinfo`.
        board: what the device tree calls it, where cpuinfo names none.
    """
    name = _first(text, "model name")
    # 32-bit kernels on ARM put the architecture there, which names no processor
    if name is not None and not name.startswith("ARMv"):
        return cut(" ".join(name.split()))
    parts = [part for part in (_board(text) or board, _designs(text)) if part]
    return cut(" · ".join(parts)) or None


def sockets(text: str) -> int | None:
    """Processors in the machine; None where the kernel does not number them (ARM, some VMs)."""
    return len(set(_values(text, "physical id"))) or None


def has_hypervisor_flag(text: str) -> bool:
    """Whether an x86 processor says that a hypervisor is under it (CPUID leaf 1, ECX bit 31)."""
    return "hypervisor" in (_first(text, "flags") or "").split()


def _board(text: str) -> str | None:
    model = _first(text, "Model")
    return re.sub(r"\s+Rev\s+\S+$", "", cut(model)) if model else None


def _designs(text: str) -> str:
    # one machine may mix fast and slow cores: each design is named once, in the kernel's order
    implementers = _values(text, "CPU implementer")
    parts = _values(text, "CPU part")
    pairs = dict.fromkeys(zip(implementers, parts, strict=False))
    return " + ".join(name for name in (_design(*pair) for pair in pairs) if name)


def _design(implementer: str, part: str) -> str | None:
    try:
        return _DESIGNS.get((int(implementer, 16), int(part, 16)))
    except ValueError:
        return None


def _values(text: str, key: str) -> list[str]:
    found = re.findall(rf"^{re.escape(key)}[ \t]*:(.*)$", text, re.MULTILINE)
    values = (value[:_MOST_CHARACTERS].strip() for value in found)
    return [value for value in values if value]


def _first(text: str, key: str) -> str | None:
    return next(iter(_values(text, key)), None)
