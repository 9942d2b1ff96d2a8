"""Machine, devices and conditions out of a signed body. Each raises `bad_envelope` as `Fields`."""

from desktop.records.machine import (
    Accelerator,
    Conditions,
    Cpu,
    Device,
    DeviceKind,
    Machine,
    MemoryModules,
    PowerSupply,
    Search,
    Thermal,
)
from desktop.rules.fields import Fields
from desktop.rules.machine_writing import GIB, MAX_GIB, TEMPERATURES_C

MAX_NS = 10**16
"""Nearly four months: no honest duration comes near it, and no sum of such overflows."""


def machine_from(machine: Fields) -> Machine:
    """What is never signed is empty: PCI addresses, drivers. Memory is in whole GiB."""
    unknown = machine.texts_or_empty("unknown")
    virtual = machine.text_or_none("virtual")
    if virtual is not None and Search.VIRTUAL in unknown:
        raise machine.bad("unknown", "has what is told")
    return Machine(
        os=machine.text("os"),
        os_version=machine.text("os_version"),
        architecture=machine.text("architecture"),
        cpu=_cpu(machine.inner("cpu")),
        ram_bytes=bytes_from(machine, "ram_gib"),
        accelerators=tuple(_accelerator(a) for a in machine.items("accelerators")),
        virtual=virtual,
        modules=_modules(machine.inner("modules")) if "modules" in machine.values else None,
        # words of a newer Gram are left out, as notes are
        unknown=tuple(search for search in Search if search in unknown),
    )


def _cpu(cpu: Fields) -> Cpu:
    return Cpu(
        name=cpu.text_or_none("name"),
        physical_cores=cpu.integer_or_none("physical_cores", 1),
        logical_cores=cpu.integer_or_none("logical_cores", 1),
        sockets=cpu.integer_or_none("sockets", 1),
        usable_cpus=cpu.integer_or_none("usable_cpus", 1),
        instruction_sets=cpu.texts_or_empty("instruction_sets"),
    )


def _modules(modules: Fields) -> MemoryModules:
    return MemoryModules(
        kind=modules.text_or_none("kind"),
        speed_mt_s=modules.integer_or_none("speed_mt_s", 1),
        channels=modules.integer_or_none("channels", 1),
        modules=modules.integer_or_none("modules", 1),
    )


def _accelerator(card: Fields) -> Accelerator:
    return Accelerator(
        vendor=card.text("vendor"),
        name=card.text("name"),
        memory_bytes=bytes_from(card, "memory_gib"),
        integrated=card.flag("integrated"),
        gpu_cores=card.integer_or_none("gpu_cores", 1),
        external=card.flag("external") if "external" in card.values else None,
    )


def device_from(device: Fields) -> Device:
    """A device of the engine's list."""
    return Device(
        name=device.text("name"),
        description=device.text("description"),
        kind=device.member("kind", DeviceKind),
        backend=device.text("backend"),
        memory_bytes=bytes_from(device, "memory_gib"),
    )


def conditions_from(conditions: Fields) -> Conditions:
    """What is missing is None."""
    supply = conditions.text_or_none("power_supply")
    thermal = conditions.text_or_none("thermal")
    display = "display_attached" in conditions.values
    return Conditions(
        power_supply=conditions.member("power_supply", PowerSupply) if supply else None,
        battery_percent=conditions.number_or_none("battery_percent", high=100.0),
        governor=conditions.text_or_none("governor"),
        temperature_c=conditions.number_or_none("temperature_c", *TEMPERATURES_C),
        other_load_percent=conditions.number_or_none("other_load_percent", high=100.0),
        memory_available_bytes=conditions.integer_or_none("memory_available_bytes"),
        thermal=conditions.member("thermal", Thermal) if thermal else None,
        display_attached=conditions.flag("display_attached") if display else None,
    )


def bytes_from(fields: Fields, name: str) -> int | None:
    """Bytes of a field in whole GiB."""
    gib = fields.integer_or_none(name, 1, MAX_GIB)
    return gib * GIB if gib is not None else None
