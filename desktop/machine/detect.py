"""Detection: all sources asked at once, what they tell merged into one Machine."""

import logging
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from desktop.errors import Reason
from desktop.machine import linux, mac, windows
from desktop.machine.memory import memory_bytes
from desktop.machine.memory_rule import settled
from desktop.machine.nvidia_list import NvidiaList, may_hide
from desktop.machine.parse_release import architecture, windows_version
from desktop.machine.tools import Tool, failures
from desktop.records.machine import Accelerator, Cpu, Machine, MemoryModules, Search
from desktop.sources import nvml, release
from desktop.sources.limits import Deadline, Pending
from desktop.sources.numbers import ram_bytes

log = logging.getLogger(__name__)
T = TypeVar("T")

LIMIT_S: Final = 2.0
PATIENT_S: Final = 20.0
"""How long a measurement waits for what did not answer at once: cards may sleep, and each of many
takes a second or two to wake."""
_ASKED_ONCE: Final = frozenset({"source_missing", "source_refused"})
"""What stays as it is, however long one waits."""


@dataclass(frozen=True, slots=True)
class Probes:
    """The readers of one system, each independent of the others; tests pass their own.

    `cards` and `virtual` raise where they could not look: no card is another thing.
    """

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


def detect_to_measure(
    first_s: float = LIMIT_S,
    again_s: float = PATIENT_S,
    probes: Callable[[float], Probes] | None = None,
) -> Machine:
    """As `detect`; what gave no answer is asked once more, and longer.

    What is measured and signed should name its cards, and can wait for them.

    Args:
        first_s: the limit of the first time.
        again_s: that of the second.
        probes: for a limit in seconds; of this system where None.
    """
    chosen = probes or (lambda limit_s: system_probes(longer=limit_s / LIMIT_S))
    found = survey(first_s, chosen(first_s))
    if any(failure.code not in _ASKED_ONCE for failure in found.failures):
        log.info("asking once more: %s", "; ".join(f.text() for f in found.failures))
        found = survey(again_s, chosen(again_s))
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
    listed, unlisted = _found(cards)
    accelerators, untold = nvidia.joined(listed or ())
    around, unsearched = _found(virtual)
    lost = {Search.CARDS: unlisted or may_hide(accelerators, untold), Search.VIRTUAL: unsearched}
    total_bytes, _ = memory.result(0) or (None, None)
    machine = Machine(
        os=chosen.os,
        os_version=version.result(0) or "unknown",
        architecture=architecture(told.result(0) or ""),
        cpu=cpu.result(0) or Cpu(None, None, None),
        ram_bytes=ram_bytes(total_bytes),
        accelerators=accelerators,
        virtual=around,
        modules=modules.result(0),
        unknown=tuple(search for search in Search if lost[search]),
    )
    return Survey(settled(machine), failures(pending, chosen.tools) + untold)


def _found(search: Pending[T]) -> tuple[T | None, bool]:
    """What a search gave, and whether it failed or goes on: then its silence says nothing."""
    # in this order: it may end in between
    failed = search.failure is not None
    return (None, True) if failed else (search.result(0), False)


def system_probes(platform: str = sys.platform, longer: float = 1.0) -> Probes:
    """The readers of this system.

    Args:
        platform: `sys.platform`'s word for it.
        longer: how many times as long as usual the system's tools may take.
    """
    if platform == "win32":
        return windows_probes(windows.sources(longer))
    if platform == "darwin":
        return mac_probes(mac.sources(longer))
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
