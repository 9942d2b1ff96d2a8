"""The machine on Linux."""

from pathlib import Path

from desktop.machine import parse_cpuinfo, parse_release
from desktop.machine.cores import usable_cpus
from desktop.machine.parse_cards import NameTables, from_pci
from desktop.machine.parse_virtual import names_virtual, virtual_name
from desktop.records.machine import Accelerator, Cpu
from desktop.sources import cards, cpuinfo, dmi, release, system

ROOT = Path("/")


def read_version(root: Path = ROOT) -> str:
    """The distribution and the kernel's number."""
    return parse_release.linux_version(release.read_os_release(root), release.read_kernel())


def read_cpu(root: Path = ROOT) -> Cpu:
    """The processor."""
    text = cpuinfo.read_cpuinfo(root) or ""
    physical, logical = system.cpu_counts()
    return Cpu(
        name=parse_cpuinfo.cpu_name(text),
        physical_cores=physical,
        logical_cores=logical,
        sockets=parse_cpuinfo.sockets(text),
        usable_cpus=usable_cpus(),
    )


def read_pci_accelerators(root: Path = ROOT) -> tuple[Accelerator, ...]:
    """The cards on the PCI bus that can compute."""
    found = cards.read_cards(root)
    if not found:
        return ()
    tables = NameTables(cards.read_pci_ids(root), cards.read_amdgpu_ids(root))
    accelerators = (from_pci(card, tables) for card in found)
    return tuple(card for card in accelerators if card is not None)


def read_virtual(root: Path = ROOT) -> str | None:
    """The virtual machine or container around this system."""
    marks = dmi.read_marks(root)
    flag = parse_cpuinfo.has_hypervisor_flag(cpuinfo.read_cpuinfo(root) or "")
    # lscpu is started only where the firmware's tables are silent
    silent = names_virtual(marks.vendor, marks.product) is None
    lscpu = dmi.read_lscpu() if flag and silent else None
    return virtual_name(marks, lscpu, hypervisor_flag=flag)
