"""Detection: all sources asked at once, what they tell merged into one Machine."""

import logging
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from desktop.errors import Reason
from desktop.machine import linux, mac, windows
from desktop.machine.memory import memory_bytes
from desktop.machine.memory_rule import settled
from desktop.machine.nvidia_list import NvidiaList
from desktop.machine.parse_release import architecture, windows_version
from desktop.machine.tools import Tool, failures
from desktop.records.machine import Accelerator, Cpu, Machine, MemoryModules
from desktop.sources import nvml, release
from desktop.sources.limits import Deadline, Pending
from desktop.sources.numbers import ram_bytes

log = logging.getLogger(__name__)

LIMIT_S = 2.0


@dataclass(frozen=True, slots=True)
class Probes:
    """The readers of one system, each independent of the others; tests pass their own."""

    os: str
    version: Callable[[], str]
    cpu: Callable[[], Cpu]
    cards: Callable[[], tuple[Accelerator, ...]]
    virtual: Callable[[], str | None]
    modules: Callable[[], MemoryModules | None]
    tools: tuple[Tool, ...] = ()
    nvml_cards: Callable[[], Iterable[nvml.NvmlCard]] = nvml.read_cards
    memory: Callable[[], tuple[int | None, int | None]] = memory_bytes
    architecture: Callable[[], str] = release.read_architecture


@dataclass(frozen=True, slots=True)
class Survey:
    """A machine, and why the sources that gave nothing were given up on."""

    machine: Machine
    failures: tuple[Reason, ...]


def detect(limit_s: float = LIMIT_S) -> Machine:
    """This machine, within `limit_s` seconds. Never raises; what nobody told is None."""
    found = survey(limit_s)
    for failure in found.failures:
        log.warning("detection: %s", failure.text())
    return found.machine


def survey(limit_s: float = LIMIT_S, probes: Probes | None = None) -> Survey:
    """As `detect`, with the sources that failed or did not answer in time."""
    chosen = probes or system_probes()
    deadline = Deadline(limit_s)
    version = Pending("The system's version", chosen.version)
    cpu = Pending("The processor", chosen.cpu)
    cards = Pending("The list of cards", chosen.cards)
    nvidia = NvidiaList(chosen.nvml_cards)
    virtual = Pending("The search for a virtual machine", chosen.virtual)
    memory = Pending("The memory", chosen.memory)
    modules = Pending("The list of memory modules", chosen.modules)
    told = Pending("The architecture", chosen.architecture)
    pending = (version, cpu, cards, virtual, memory, modules, told)
    for probe in (*pending, nvidia.pending):
        probe.result(deadline.left_s())
    accelerators, untold = nvidia.joined(cards.result(0) or ())
    total_bytes, _ = memory.result(0) or (None, None)
    machine = Machine(
        os=chosen.os,
        os_version=version.result(0) or "unknown",
        architecture=architecture(told.result(0) or ""),
        cpu=cpu.result(0) or Cpu(None, None, None),
        ram_bytes=ram_bytes(total_bytes),
        accelerators=accelerators,
        virtual=virtual.result(0),
        modules=modules.result(0),
    )
    return Survey(settled(machine), failures(pending, chosen.tools) + untold)


def system_probes(platform: str = sys.platform) -> Probes:
    """The readers of this system, by `sys.platform`'s word for it."""
    if platform == "win32":
        return windows_probes(windows.WindowsSources())
    if platform == "darwin":
        return mac_probes(mac.MacSources())
    return Probes(
        "Linux",
        linux.read_version,
        linux.read_cpu,
        linux.read_accelerators,
        linux.read_virtual,
        linux.read_modules,
    )


def windows_probes(told: windows.WindowsSources) -> Probes:
    """Those of Windows."""
    return Probes(
        "Windows",
        lambda: windows_version(release.read_windows_build()),
        lambda: windows.read_cpu(told),
        lambda: windows.read_accelerators(told),
        lambda: windows.read_virtual(told),
        lambda: windows.read_modules(told),
        (told.cim,),
    )


def mac_probes(told: mac.MacSources) -> Probes:
    """Those of macOS."""
    return Probes(
        "macOS",
        lambda: release.read_mac_version() or "unknown",
        lambda: mac.read_cpu(told),
        lambda: mac.read_accelerators(told),
        lambda: mac.read_virtual(told),
        lambda: mac.read_modules(told),
        (told.sysctl, told.profiler, told.ioreg),
    )
