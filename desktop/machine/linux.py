"""The machine on Linux."""

from collections.abc import Callable
from pathlib import Path

from desktop.machine import parse_cpuinfo, parse_modules, parse_release, parse_state, parse_supply
from desktop.machine.cores import usable_cpus
from desktop.machine.parse_cards import NameTables, from_pci
from desktop.machine.parse_instructions import of_cpuinfo
from desktop.machine.parse_platform import apple_chip, from_platform
from desktop.machine.parse_virtual import names_virtual, virtual_name
from desktop.machine.tools import SilentError
from desktop.records.machine import Accelerator, Cpu, MemoryModules, PowerSupply, Thermal
from desktop.sources import cards, cpuinfo, dmi, release, supply, system

ROOT = Path("/")
_MOST_GOVERNORS = 4
_MOST_CHARACTERS = 32


def read_version(root: Path = ROOT) -> str:
    """The distribution and the kernel's number."""
    return parse_release.linux_version(release.read_os_release(root), release.read_kernel())


def read_cpu(
    root: Path = ROOT,
    counts: Callable[[], tuple[int | None, int | None]] = system.cpu_counts,
    usable: Callable[[], int | None] = usable_cpus,
) -> Cpu:
    """The processor."""
    text = cpuinfo.read_cpuinfo(root) or ""
    tree = cards.read_device_tree(root)
    physical, logical = counts()
    return Cpu(
        name=apple_chip(tree) or parse_cpuinfo.cpu_name(text, tree.model),
        physical_cores=physical,
        logical_cores=logical,
        sockets=parse_cpuinfo.sockets(text),
        usable_cpus=usable(),
        instruction_sets=of_cpuinfo(text),
    )


def read_accelerators(root: Path = ROOT) -> tuple[Accelerator, ...]:
    """The cards on the PCI bus and the graphics units of small boards that can compute.

    Raises:
        OSError: none was found, and they could not be looked for.
    """
    units = from_platform(cards.read_platform_cards(root), cards.read_device_tree(root))
    found = cards.read_cards(root)
    if not found:
        if not units:
            cards.check_listed(root)
        return units
    tables = NameTables(cards.read_pci_ids(root), cards.read_amdgpu_ids(root))
    accelerators = (from_pci(card, tables) for card in found)
    return (*(card for card in accelerators if card is not None), *units)


def read_modules(root: Path = ROOT) -> MemoryModules | None:
    """The memory's modules, where udev has read the firmware's table."""
    return parse_modules.of_udev(dmi.read_memory_devices(root) or "")


def read_virtual(root: Path = ROOT, lscpu: Callable[[], str | None] = dmi.read_lscpu) -> str | None:
    """The virtual machine or container around this system.

    Raises:
        SilentError: neither firmware nor processor could be read, and nothing else tells.
    """
    marks, told = dmi.read_marks(root), cpuinfo.read_cpuinfo(root)
    flag = parse_cpuinfo.has_hypervisor_flag(told or "")
    # lscpu is started only where the firmware's tables are silent
    silent = names_virtual(marks.vendor, marks.product) is None
    name = virtual_name(marks, lscpu() if flag and silent else None, hypervisor_flag=flag)
    if name is None and told is None and (marks.vendor or marks.product) is None:
        raise SilentError("neither firmware nor processor can be read")
    return name


def read_supply(
    root: Path = ROOT, *, virtual: bool = False
) -> tuple[PowerSupply | None, float | None]:
    """What feeds the machine, and the charge of its battery, 0 to 100."""
    supplies = supply.read_supplies(root / "sys/class/power_supply")
    known, percent = parse_supply.supply(supplies), parse_supply.battery_percent(supplies)
    if known is not None or parse_supply.has_battery(supplies):
        return known, percent
    # no battery at all: a wire feeds it, unless the host under it has one
    return None if virtual else PowerSupply.MAINS, None


def read_governor(root: Path = ROOT) -> str | None:
    """The frequency governors in use; `several` where the cores have more than four."""
    used = sorted({governor[:_MOST_CHARACTERS] for governor in cpuinfo.read_governors(root)})
    return ("several" if len(used) > _MOST_GOVERNORS else ", ".join(used)) or None


def read_thermal(root: Path = ROOT) -> Thermal | None:
    """Whether heat slows the processor now, where that can be said."""
    return parse_state.thermal(cpuinfo.read_throttle_counts(root), cpuinfo.read_cooling(root))


def read_display(root: Path = ROOT) -> bool | None:
    """Whether a screen is plugged in."""
    return parse_state.display_attached(cards.read_connectors(root))
