"""Facts about one computer."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class DeviceKind(StrEnum):
    """What a compute device is. Software devices are GPUs only by name (Mesa's llvmpipe)."""

    CPU = "cpu"
    GPU = "gpu"
    IGPU = "igpu"
    ACCELERATOR = "accelerator"
    SOFTWARE = "software"


CARD_KINDS: Final = frozenset({DeviceKind.GPU, DeviceKind.IGPU})
"""The kinds that hold layers beside the processor."""


class PowerSupply(StrEnum):
    """What feeds the machine."""

    MAINS = "mains"
    BATTERY = "battery"


class Search(StrEnum):
    """What is looked for on a machine, and may not be there."""

    CARDS = "cards"
    VIRTUAL = "virtual"
    """A virtual machine or a container around it."""


class Thermal(StrEnum):
    """Whether heat slows the machine now."""

    NOMINAL = "nominal"
    THROTTLED = "throttled"


@dataclass(frozen=True, slots=True)
class Device:
    """One compute device as the engine lists it; the registry is the one that the engine uses."""

    name: str
    description: str
    kind: DeviceKind
    backend: str
    memory_bytes: int | None = None
    memory_free_bytes: int | None = None
    pci_address: str | None = None
    """`0000:03:00.0`, where the backend tells. Shown here, never signed."""


@dataclass(frozen=True, slots=True)
class Cpu:
    """The processor."""

    name: str | None
    physical_cores: int | None
    logical_cores: int | None
    sockets: int | None = None
    usable_cpus: int | None = None
    """Logical cores that this process may use: fewer in a limited container."""
    instruction_sets: tuple[str, ...] = ()
    """Those that matter to the engine, in Linux's words and sorted: `avx2`, `avx512f`, `neon`."""


@dataclass(frozen=True, slots=True)
class MemoryModules:
    """The memory's modules, where the system tells (firmware tables, SMBIOS)."""

    kind: str | None = None
    """`DDR5`, `LPDDR5X`."""
    speed_mt_s: int | None = None
    """Configured, the slowest of all modules; megatransfers per second."""
    channels: int | None = None
    """Only where the system names them; modules are not counted as channels."""
    modules: int | None = None
    bus_bits: int | None = None
    """Data lines of all channels together, without those of error correction; only where each
    module tells its own and its channel. Never signed."""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One graphics or compute card as the system and its driver tell, software devices left out."""

    vendor: str
    name: str
    memory_bytes: int | None
    """What a computation on it can use: its own memory; where it shares the system's, what the
    driver or the backend lets it have (docs/adr/0008-memory-rule.md)."""
    integrated: bool
    pci_address: str | None = None
    """`0000:03:00.0`."""
    driver: str | None = None
    dedicated_bytes: int | None = None
    """Its own memory, or an APU's carve-out."""
    shared_bytes: int | None = None
    """The most of the system's memory that it may use: never to be added over several cards."""
    backends: tuple[str, ...] | None = None
    """The engine's backends that list it, `CUDA`, `Vulkan`, `Metal`; empty where none does. None:
    the engine was not asked."""
    gpu_cores: int | None = None
    """Apple only: chips of one name have fewer or more, and bandwidth goes with them."""
    external: bool | None = None
    """On a cable (Thunderbolt, OCuLink); None where the system does not tell."""


@dataclass(frozen=True, slots=True)
class Machine:
    """This computer, without anything that names its owner, place or serial numbers."""

    os: str
    os_version: str
    architecture: str
    cpu: Cpu
    ram_bytes: int | None
    accelerators: tuple[Accelerator, ...] = ()
    virtual: str | None = None
    modules: MemoryModules | None = None
    unknown: tuple[Search, ...] = ()
    """What could not be looked for, in the order of the enumeration: the search failed, or did not
    end in time. What is found all the same is there; that nothing else is, nobody knows."""

    @property
    def cards_unknown(self) -> bool:
        """Whether there may be cards that are not among `accelerators`."""
        return Search.CARDS in self.unknown

    @property
    def may_be_virtual(self) -> bool:
        """Whether a virtual machine or a container is around it, or may be."""
        return self.virtual is not None or Search.VIRTUAL in self.unknown


@dataclass(frozen=True, slots=True)
class Conditions:
    """The state of the machine around a run."""

    power_supply: PowerSupply | None
    battery_percent: float | None
    governor: str | None
    """The frequency governor, or the power plan; the names of kernel, Microsoft and Apple only."""
    temperature_c: float | None
    other_load_percent: float | None
    """CPU use of everything but Gram, percent of all logical cores."""
    memory_available_bytes: int | None
    thermal: Thermal | None = None
    display_attached: bool | None = None
