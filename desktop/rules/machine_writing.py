"""Machine, devices and conditions as they are signed, with runs and with parts.

Only what is written out here is ever signed. No PCI address, driver or virtual machine's name is in
the list.
"""

from desktop.records.machine import Accelerator, Conditions, Cpu, Device, Machine, MemoryModules
from desktop.rules.signed_text import clean

GIB = 2**30
Fields = dict[str, object]


def machine_fields(machine: Machine) -> Fields:
    """What is signed of a machine: no PCI address, driver or name of its owner."""
    return known(
        os=clean(machine.os),
        os_version=clean(machine.os_version),
        architecture=clean(machine.architecture),
        cpu=_cpu(machine.cpu),
        ram_gib=gib_or_none(machine.ram_bytes),
        accelerators=[_accelerator(a) for a in machine.accelerators],
        virtual=clean_or_none(machine.virtual),
        modules=_modules(machine.modules) if machine.modules else None,
    )


def _cpu(cpu: Cpu) -> Fields:
    return known(
        name=clean_or_none(cpu.name),
        physical_cores=cpu.physical_cores,
        logical_cores=cpu.logical_cores,
        sockets=cpu.sockets,
        usable_cpus=cpu.usable_cpus,
        instruction_sets=[clean(name) for name in cpu.instruction_sets] or None,
    )


def _modules(modules: MemoryModules) -> Fields:
    return known(
        kind=clean_or_none(modules.kind),
        speed_mt_s=modules.speed_mt_s,
        channels=modules.channels,
        modules=modules.modules,
    )


def _accelerator(card: Accelerator) -> Fields:
    return known(
        vendor=clean(card.vendor),
        name=clean(card.name),
        memory_gib=gib_or_none(card.memory_bytes),
        integrated=card.integrated,
        gpu_cores=card.gpu_cores,
        external=card.external,
    )


def device_fields(device: Device) -> Fields:
    """What is signed of a device of the engine's list."""
    return known(
        name=clean(device.name),
        description=clean(device.description),
        kind=device.kind.value,
        backend=clean(device.backend),
        memory_gib=gib_or_none(device.memory_bytes),
    )


def conditions_fields(conditions: Conditions) -> Fields:
    """What is signed of the conditions."""
    supply, thermal = conditions.power_supply, conditions.thermal
    return known(
        power_supply=supply.value if supply is not None else None,
        battery_percent=conditions.battery_percent,
        governor=clean_or_none(conditions.governor),
        temperature_c=conditions.temperature_c,
        other_load_percent=conditions.other_load_percent,
        memory_available_bytes=conditions.memory_available_bytes,
        thermal=thermal.value if thermal is not None else None,
        display_attached=conditions.display_attached,
    )


def known(**values: object) -> Fields:
    """A missing value is a missing key."""
    return {name: value for name, value in values.items() if value is not None}


def clean_or_none(text: str | None) -> str | None:
    """`clean`; None stays None. Raises ValueError as `clean`."""
    return clean(text) if text is not None else None


def gib_or_none(size_bytes: int | None) -> int | None:
    """Whole GiB; None for what would round to none."""
    return (round(size_bytes / GIB) or None) if size_bytes is not None else None
