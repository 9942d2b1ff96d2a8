"""The machine on macOS."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from desktop.machine import parse_mac, parse_profiler
from desktop.machine.cores import usable_cpus
from desktop.machine.tools import SilentError, Tool
from desktop.records.machine import Accelerator, Cpu, MemoryModules
from desktop.sources import mac

TOOL_S = 1.5
"""System Information is slow after a start; whoever has a slow one still has the registry."""
_VIRTUAL_MODEL = "VirtualMac"
"""`hw.model` of guests of Apple's own Virtualization framework."""


def _sysctl(limit_s: float = TOOL_S) -> Tool:
    return Tool("sysctl", lambda: mac.read_sysctl(limit_s), limit_s)


def _profiler(limit_s: float = TOOL_S) -> Tool:
    return Tool("system_profiler", lambda: mac.read_profile(limit_s), limit_s)


def _ioreg(limit_s: float = TOOL_S) -> Tool:
    return Tool("ioreg", lambda: mac.read_agx(limit_s), limit_s)


@dataclass(frozen=True, slots=True)
class MacSources:
    """What this macOS tells; tests pass their own."""

    sysctl: Tool = field(default_factory=_sysctl)
    profiler: Tool = field(default_factory=_profiler)
    ioreg: Tool = field(default_factory=_ioreg)
    usable: Callable[[], int | None] = usable_cpus

    def values(self) -> dict[str, str]:
        """`sysctl`'s."""
        return parse_mac.sysctl_values(self.sysctl.text() or "")


def sources(longer: float = 1.0) -> MacSources:
    """This macOS; `longer` is how many times as long as usual its tools may take."""
    limit_s = longer * TOOL_S
    return MacSources(_sysctl(limit_s), _profiler(limit_s), _ioreg(limit_s))


def read_cpu(told: MacSources) -> Cpu:
    """The processor."""
    return parse_mac.cpu(told.values(), told.usable())


def read_accelerators(told: MacSources) -> tuple[Accelerator, ...]:
    """Apple's chip, or the cards of an older Mac.

    Raises:
        SilentError: none was found, and a tool that would tell of it gave nothing.
    """
    values = told.values()
    chip = parse_mac.apple_chip(values)
    told.ioreg.start()
    shown = told.profiler.text() or ""
    if chip is None:
        found = parse_profiler.displays(shown)
    elif parse_mac.is_virtual(values):
        # a guest's unit is not the chip's: it is called by its own name and has no count of cores
        name, _ = parse_profiler.apple_unit(shown)
        found = (replace(chip, name=name),) if name is not None else ()
    else:
        _, cores = parse_profiler.apple_unit(shown)
        cores = cores or parse_mac.agx_cores(told.ioreg.text() or "")
        found = (replace(chip, gpu_cores=cores),)
    if not found and not (values and parse_profiler.tells_displays(shown)):
        raise SilentError("nothing tells of cards")
    return found


def read_modules(told: MacSources) -> MemoryModules | None:
    """The memory's modules."""
    return parse_profiler.modules(told.profiler.text() or "")


def read_virtual(told: MacSources) -> str | None:
    """Whether macOS runs in a virtual machine, and whose where the model tells.

    Raises:
        SilentError: `sysctl` gave nothing.
    """
    values = told.values()
    if not values:
        raise SilentError("sysctl tells nothing")
    if not parse_mac.is_virtual(values):
        return None
    apples = values.get("hw.model", "").startswith(_VIRTUAL_MODEL)
    return "Apple Virtualization" if apples else "virtual machine"
