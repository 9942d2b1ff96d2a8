"""Machine, devices and conditions as they are signed, with runs and with parts.

Only what is written out here is ever signed. No PCI address, driver or virtual machine's name is in
the list. A value that no reader would take is a missing key, so that one odd sensor or driver does
not cost the measurement.
"""

from desktop.records.machine import Accelerator, Conditions, Cpu, Device, Machine, MemoryModules
from desktop.rules.fields import MAX_INTEGER, MAX_ITEMS, MAX_TEXTS
from desktop.rules.signed_text import clean, short_or_none, shortened

GIB = 2**30
MAX_GIB = 2**20
"""No machine has a pebibyte of memory."""
TEMPERATURES_C = (-100.0, 200.0)
Fields = dict[str, object]


def machine_fields(machine: Machine) -> Fields:
    """What is signed of a machine: no PCI address, driver or name of its owner."""
    return known(
        os=shortened(machine.os),
        os_version=shortened(machine.os_version),
        architecture=shortened(machine.architecture),
        cpu=_cpu(machine.cpu),
        ram_gib=gib_or_none(machine.ram_bytes),
        accelerators=[_accelerator(a) for a in machine.accelerators[:MAX_ITEMS]],
        virtual=short_or_none(machine.virtual),
        modules=_modules(machine.modules) if machine.modules else None,
        unknown=[search.value for search in machine.unknown] or None,
    )


def _cpu(cpu: Cpu) -> Fields:
    return known(
        name=short_or_none(cpu.name),
        physical_cores=whole(cpu.physical_cores, 1),
        logical_cores=whole(cpu.logical_cores, 1),
        sockets=whole(cpu.sockets, 1),
        usable_cpus=whole(cpu.usable_cpus, 1),
        instruction_sets=[shortened(name) for name in cpu.instruction_sets[:MAX_TEXTS]] or None,
    )


def _modules(modules: MemoryModules) -> Fields:
    return known(
        kind=short_or_none(modules.kind),
        speed_mt_s=whole(modules.speed_mt_s, 1),
        channels=whole(modules.channels, 1),
        modules=whole(modules.modules, 1),
    )


def _accelerator(card: Accelerator) -> Fields:
    return known(
        vendor=shortened(card.vendor),
        name=shortened(card.name),
        memory_gib=gib_or_none(card.memory_bytes),
        integrated=card.integrated,
        gpu_cores=whole(card.gpu_cores, 1),
        external=card.external,
    )


def device_fields(device: Device) -> Fields:
    """What is signed of a device of the engine's list."""
    return known(
        name=shortened(device.name),
        description=shortened(device.description),
        kind=device.kind.value,
        backend=shortened(device.backend),
        memory_gib=gib_or_none(device.memory_bytes),
    )


def conditions_fields(conditions: Conditions) -> Fields:
    """What is signed of the conditions."""
    supply, thermal = conditions.power_supply, conditions.thermal
    return known(
        power_supply=supply.value if supply is not None else None,
        battery_percent=within(conditions.battery_percent, 0.0, 100.0),
        governor=short_or_none(conditions.governor),
        temperature_c=within(conditions.temperature_c, *TEMPERATURES_C),
        other_load_percent=within(conditions.other_load_percent, 0.0, 100.0),
        memory_available_bytes=whole(conditions.memory_available_bytes),
        thermal=thermal.value if thermal is not None else None,
        display_attached=conditions.display_attached,
    )


def known(**values: object) -> Fields:
    """A missing value is a missing key."""
    return {name: value for name, value in values.items() if value is not None}


def clean_or_none(text: str | None) -> str | None:
    """`clean`; None stays None. Raises ValueError as `clean`."""
    return clean(text) if text is not None else None


def whole(value: int | None, low: int = 0) -> int | None:
    """A whole number from `low` that a reader takes; None for anything else, True and False too."""
    if value is None or type(value) is not int:
        return None
    return value if low <= value <= MAX_INTEGER else None


def within(value: float | None, low: float, high: float) -> float | None:
    """A number from `low` to `high`; None for anything else, NaN too."""
    return value if value is not None and low <= value <= high else None


def gib_or_none(size_bytes: int | None) -> int | None:
    """Whole GiB; None for what would round to none, and for what no machine has."""
    size = whole(size_bytes)
    gib = round(size / GIB) if size is not None else 0
    return gib if 1 <= gib <= MAX_GIB else None
