"""The machine on Windows."""

from collections.abc import Callable
from dataclasses import dataclass, field

from desktop.machine import parse_modules, parse_windows
from desktop.machine.cores import usable_cpus
from desktop.machine.parse_instructions import wanted
from desktop.machine.parse_virtual import names_virtual
from desktop.machine.tools import SilentError, Tool
from desktop.records.machine import Accelerator, Cpu, MemoryModules, PowerSupply
from desktop.sources import registry, system, windows
from desktop.sources.registry import MachineRegistry, Registry

POWERSHELL_S = 1.7
"""It needs about a second to start; whoever has a slow one still has the registry."""


def _powershell(longer: float = 1.0) -> Tool:
    limit_s = longer * POWERSHELL_S
    return Tool("PowerShell", lambda: windows.read_cim(limit_s), limit_s)


@dataclass(frozen=True, slots=True)
class WindowsSources:
    """What this Windows tells; tests pass their own."""

    registry: Registry = field(default_factory=MachineRegistry)
    cim: Tool = field(default_factory=_powershell)
    counts: Callable[[], tuple[int | None, int | None]] = system.cpu_counts
    usable: Callable[[], int | None] = usable_cpus
    features: Callable[[], tuple[str, ...]] = windows.read_features
    present: Callable[[], tuple[str, ...] | None] = windows.read_present


def sources(longer: float = 1.0) -> WindowsSources:
    """This Windows; `longer` is how many times as long as usual its tools may take."""
    return WindowsSources(cim=_powershell(longer))


def read_cpu(told: WindowsSources) -> Cpu:
    """The processor. The sockets are CIM's, the rest is there without it."""
    physical, logical = told.counts()
    name = registry.read_cpu_name(told.registry)
    return Cpu(
        name=" ".join(name.split()) if name else None,
        physical_cores=physical,
        logical_cores=logical,
        sockets=parse_windows.sockets(told.cim.text()),
        usable_cpus=told.usable(),
        instruction_sets=wanted(told.features()),
    )


def read_accelerators(told: WindowsSources) -> tuple[Accelerator, ...]:
    """The display adapters that can compute.

    Raises:
        SilentError: none was found, and neither CIM nor the device manager answered.
    """
    cim = told.cim.text()
    # no answer, or one without adapters in it: the device manager is asked which are there
    shown = parse_windows.instances(cim, "Win32_VideoController")
    present = None if shown else told.present()
    found = parse_windows.accelerators(cim, registry.read_adapters(told.registry), present)
    if not found and present is None and not parse_windows.tells_anything(cim):
        raise SilentError("nothing tells of display adapters")
    return found


def read_modules(told: WindowsSources) -> MemoryModules | None:
    """The memory's modules."""
    return parse_modules.of_cim(parse_windows.instances(told.cim.text(), "Win32_PhysicalMemory"))


def read_virtual(told: WindowsSources) -> str | None:
    """Whether Windows runs in a virtual machine.

    HypervisorPresent does not tell it: Windows' own safety features put a hypervisor under itself.

    Raises:
        SilentError: the registry names neither maker nor product.
    """
    maker, product = registry.read_maker(told.registry)
    if (maker or product) is None:
        raise SilentError("the registry names no maker")
    return names_virtual(maker, product)


def supply(
    battery: system.Battery | None, *, virtual: bool
) -> tuple[PowerSupply | None, float | None]:
    """What feeds the machine, and the charge, 0 to 100."""
    if battery is not None:
        fed = {True: PowerSupply.MAINS, False: PowerSupply.BATTERY}
        return fed[battery.on_mains] if battery.on_mains is not None else None, battery.percent
    # no battery at all: a wire feeds it, unless the host under it has one
    return None if virtual else PowerSupply.MAINS, None


def display_attached(monitors: int | None) -> bool | None:
    """Whether this session has a screen; None in a remote one."""
    return None if monitors is None else monitors > 0
