"""Facts about one computer."""

from dataclasses import dataclass
from enum import StrEnum


class DeviceKind(StrEnum):
    """What a compute device is. Software devices are GPUs only by name (Mesa's llvmpipe)."""

    CPU = "cpu"
    GPU = "gpu"
    IGPU = "igpu"
    ACCELERATOR = "accelerator"
    SOFTWARE = "software"


class PowerSupply(StrEnum):
    """What feeds the machine."""

    MAINS = "mains"
    BATTERY = "battery"


@dataclass(frozen=True, slots=True)
class Device:
    """One compute device as the engine lists it; the registry is the one that the engine uses."""

    name: str
    description: str
    kind: DeviceKind
    backend: str
    memory_bytes: int | None = None
    memory_free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Cpu:
    """The processor."""

    name: str | None
    physical_cores: int | None
    logical_cores: int | None
    sockets: int | None = None
    usable_cpus: int | None = None
    """Logical cores that this process may use: fewer in a limited container."""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One graphics or compute card as the system and its driver tell, software devices left out."""

    vendor: str
    name: str
    memory_bytes: int | None
    integrated: bool
    pci_address: str | None = None
    driver: str | None = None


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


@dataclass(frozen=True, slots=True)
class Conditions:
    """The state of the machine around a run."""

    power_supply: PowerSupply | None
    battery_percent: float | None
    governor: str | None
    temperature_c: float | None
    other_load_percent: float | None
    """CPU use of everything but Gram, percent of all logical cores."""
    memory_available_bytes: int | None
