"""`/proc/cpuinfo` to facts. Field names: Linux, arch/x86 and arch/arm64 `kernel/cpu/proc.c`."""

import re
from typing import Final

_ARM: Final = 0x41
_ARM_PARTS: Final = {
    0xD03: "Cortex-A53",
    0xD05: "Cortex-A55",
    0xD07: "Cortex-A57",
    0xD08: "Cortex-A72",
    0xD09: "Cortex-A73",
    0xD0A: "Cortex-A75",
    0xD0B: "Cortex-A76",
    0xD0C: "Neoverse-N1",
    0xD0D: "Cortex-A77",
    0xD40: "Neoverse-V1",
    0xD41: "Cortex-A78",
    0xD44: "Cortex-X1",
    0xD46: "Cortex-A510",
    0xD47: "Cortex-A710",
    0xD48: "Cortex-X2",
    0xD49: "Neoverse-N2",
    0xD4D: "Cortex-A715",
    0xD4E: "Cortex-X3",
    0xD4F: "Neoverse-V2",
    0xD80: "Cortex-A520",
    0xD81: "Cortex-A720",
    0xD82: "Cortex-X4",
}
"""Part numbers of the implementer ARM, from its technical reference manuals (MIDR_EL1)."""


def cpu_name(text: str) -> str | None:
    """`AMD EPYC 7763 64-Core Processor`; on ARM the board and the core's design, if told."""
    name = _first(text, "model name")
    # 32-bit kernels on ARM put the architecture there, which names no processor
    if name is not None and not name.startswith("ARMv"):
        return " ".join(name.split())
    parts = [part for part in (_board(text), _designs(text)) if part]
    return " · ".join(parts) or None


def sockets(text: str) -> int | None:
    """Processors in the machine; None where the kernel does not number them (ARM, some VMs)."""
    return len(set(_values(text, "physical id"))) or None


def has_hypervisor_flag(text: str) -> bool:
    """Whether an x86 processor says that a hypervisor is under it (CPUID leaf 1, ECX bit 31)."""
    return "hypervisor" in (_first(text, "flags") or "").split()


def _board(text: str) -> str | None:
    model = _first(text, "Model")
    return re.sub(r"\s+Rev\s+\S+$", "", model) if model else None


def _designs(text: str) -> str:
    # one machine may mix fast and slow cores: each design is named once, in the kernel's order
    implementers = _values(text, "CPU implementer")
    parts = _values(text, "CPU part")
    pairs = dict.fromkeys(zip(implementers, parts, strict=False))
    return " + ".join(name for name in (_design(*pair) for pair in pairs) if name)


def _design(implementer: str, part: str) -> str | None:
    try:
        return _ARM_PARTS.get(int(part, 16)) if int(implementer, 16) == _ARM else None
    except ValueError:
        return None


def _values(text: str, key: str) -> list[str]:
    return re.findall(rf"^{re.escape(key)}[ \t]*:[ \t]*(\S.*?)[ \t]*$", text, re.MULTILINE)


def _first(text: str, key: str) -> str | None:
    return next(iter(_values(text, key)), None)
