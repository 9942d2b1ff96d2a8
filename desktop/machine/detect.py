"""Detection: all sources asked at once, what they tell merged into one Machine."""

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass

from desktop.machine import linux, mac, windows
from desktop.machine.merge import merge
from desktop.machine.parse_cards import from_nvml
from desktop.machine.parse_release import architecture, windows_version
from desktop.records.machine import Accelerator, Cpu, Machine
from desktop.sources import nvml, release, system
from desktop.sources.limits import Deadline, Pending

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
    nvml_cards: Callable[[], tuple[nvml.NvmlCard, ...]] = nvml.read_cards
    memory: Callable[[], tuple[int | None, int | None]] = system.memory_bytes
    architecture: Callable[[], str] = release.read_architecture


@dataclass(frozen=True, slots=True)
class Survey:
    """A machine, and the sources that were given up on, each `name: why`."""

    machine: Machine
    failures: tuple[str, ...]


def detect(limit_s: float = LIMIT_S) -> Machine:
    """This machine, within `limit_s` seconds. Never raises; what nobody told is None."""
    found = survey(limit_s)
    for failure in found.failures:
        log.warning("detection gave up on %s", failure)
    return found.machine


def survey(limit_s: float = LIMIT_S, probes: Probes | None = None) -> Survey:
    """As `detect`, with the names of the sources that failed or did not answer in time."""
    chosen = probes or system_probes()
    deadline = Deadline(limit_s)
    version = Pending("version", chosen.version)
    cpu = Pending("processor", chosen.cpu)
    cards = Pending("cards", chosen.cards)
    nvidia = Pending("NVML", chosen.nvml_cards)
    virtual = Pending("virtual machine", chosen.virtual)
    memory = Pending("memory", chosen.memory)
    told = Pending("architecture", chosen.architecture)
    ram_bytes, _ = memory.result(deadline.left_s()) or (None, None)
    nvml_cards = nvidia.result(deadline.left_s()) or ()
    machine = Machine(
        os=chosen.os,
        os_version=version.result(deadline.left_s()) or "unknown",
        architecture=architecture(told.result(deadline.left_s()) or ""),
        cpu=cpu.result(deadline.left_s()) or Cpu(None, None, None),
        ram_bytes=ram_bytes,
        accelerators=_join(nvml_cards, cards.result(deadline.left_s()) or ()),
        virtual=virtual.result(deadline.left_s()),
    )
    pending: tuple[Pending[object], ...] = (version, cpu, cards, nvidia, virtual, memory, told)
    failures = tuple(f"{p.name}: {p.failure}" for p in pending if p.failure is not None)
    return Survey(machine, failures)


def system_probes(platform: str = sys.platform) -> Probes:
    """The readers of this system, by `sys.platform`'s word for it."""
    if platform == "win32":
        return Probes(
            "Windows",
            lambda: windows_version(release.read_windows_build()),
            windows.read_cpu,
            windows.read_accelerators,
            windows.read_virtual,
        )
    if platform == "darwin":
        return Probes(
            "macOS",
            lambda: release.read_mac_version() or "unknown",
            mac.read_cpu,
            mac.read_accelerators,
            mac.read_virtual,
        )
    return Probes(
        "Linux",
        linux.read_version,
        linux.read_cpu,
        linux.read_pci_accelerators,
        linux.read_virtual,
    )


def _join(
    nvml_cards: tuple[nvml.NvmlCard, ...], others: tuple[Accelerator, ...]
) -> tuple[Accelerator, ...]:
    nvidia = tuple(map(from_nvml, nvml_cards))
    # without addresses (Windows) the same card would be listed twice: NVML's word is the better
    if nvidia:
        others = tuple(c for c in others if c.vendor != "NVIDIA" or c.pci_address is not None)
    return merge(nvidia, others)
