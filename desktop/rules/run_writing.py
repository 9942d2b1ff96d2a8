"""A run as the JSON that is signed. Only what is written out here is ever signed.

No path, PCI address, driver, meter detail or virtual machine's name is in the list.
"""

from desktop.records.build import Build
from desktop.records.energy import Energy, MeterFacts
from desktop.records.machine import Accelerator, Conditions, Cpu, Device, Machine
from desktop.records.run import EngineFacts, MemoryHeld, Plan, Repetition, Run
from desktop.rules.signed_text import build_name, clean

GIB = 2**30
Fields = dict[str, object]


def run_fields(run: Run) -> Fields:
    """Everything of a run that is signed; a missing value is a missing key.

    Raises:
        ValueError: a text is too long, or the build has no name.
    """
    return {
        "build": _build(run.build),
        "machine": _machine(run.machine),
        "engine": _engine(run.engine),
        "plan": _plan(run.plan),
        "repetitions": _repetitions(run.repetitions),
        "memory": _memory(run.memory),
        "energy": [_energy(test, energy) for test, energy in run.energy],
        "before": _conditions(run.before),
        "after": _conditions(run.after),
        "started_at": run.started_at,
        "notes": [note.value for note in run.notes],
    }


def _build(build: Build) -> Fields:
    return _known(
        name=build_name(build.name),
        sha256=build.sha256,
        size_bytes=build.size_bytes,
        architecture=clean(build.architecture),
        model_name=_clean(build.model_name),
        quantization=_clean(build.quantization),
        parameters=build.parameters,
        context_trained=build.context_trained,
        synthetic=build.synthetic,
    )


def _machine(machine: Machine) -> Fields:
    return _known(
        os=clean(machine.os),
        os_version=clean(machine.os_version),
        architecture=clean(machine.architecture),
        cpu=_cpu(machine.cpu),
        ram_gib=_gib(machine.ram_bytes),
        accelerators=[_accelerator(a) for a in machine.accelerators],
        virtual=_clean(machine.virtual),
    )


def _cpu(cpu: Cpu) -> Fields:
    return _known(
        name=_clean(cpu.name),
        physical_cores=cpu.physical_cores,
        logical_cores=cpu.logical_cores,
        sockets=cpu.sockets,
        usable_cpus=cpu.usable_cpus,
    )


def _accelerator(card: Accelerator) -> Fields:
    return _known(
        vendor=clean(card.vendor),
        name=clean(card.name),
        memory_gib=_gib(card.memory_bytes),
        integrated=card.integrated,
    )


def _engine(engine: EngineFacts) -> Fields:
    return _known(
        name=clean(engine.name),
        version=clean(engine.version),
        backend=clean(engine.backend),
        devices=[_device(d) for d in engine.devices],
        threads=engine.threads,
        flash_attention=_clean(engine.flash_attention),
        gpu_layers=engine.gpu_layers,
    )


def _device(device: Device) -> Fields:
    return _known(
        name=clean(device.name),
        description=clean(device.description),
        kind=device.kind.value,
        backend=clean(device.backend),
        memory_gib=_gib(device.memory_bytes),
    )


def _plan(plan: Plan) -> Fields:
    return _known(
        tests=[{"n_prompt": t.n_prompt, "n_gen": t.n_gen} for t in plan.tests],
        threads=plan.threads,
        n_batch=plan.n_batch,
        n_ubatch=plan.n_ubatch,
        gpu_layers=plan.gpu_layers,
        poll=plan.poll,
        warmups=plan.warmups,
        min_repetitions=plan.min_repetitions,
        max_repetitions=plan.max_repetitions,
        target_spread=plan.target_spread,
        time_limit_s=plan.time_limit_s,
    )


def _repetitions(repetitions: tuple[Repetition, ...]) -> list[Fields]:
    """Starts count from the earliest, as the monotonic clock tells how long a machine has run."""
    zero_ns = min((r.start_ns for r in repetitions), default=0)
    return [_repetition(r, zero_ns) for r in repetitions]


def _repetition(repetition: Repetition, zero_ns: int) -> Fields:
    return _known(
        test=clean(repetition.test),
        warmup=repetition.warmup,
        start_ns=repetition.start_ns - zero_ns,
        duration_ns=repetition.end_ns - repetition.start_ns,
        n_tokens=repetition.n_tokens,
        step_ns=list(repetition.step_ns),
    )


def _memory(memory: MemoryHeld) -> Fields:
    return _known(
        weights_bytes=memory.weights_bytes,
        kv_cache_bytes=memory.kv_cache_bytes,
        compute_bytes=memory.compute_bytes,
        process_peak_bytes=memory.process_peak_bytes,
    )


def _energy(test: str, energy: Energy) -> Fields:
    return _known(
        test=clean(test),
        energy_j=energy.energy_j,
        covered=energy.covered,
        idle_w=energy.idle_w,
        meter=_meter(energy.meter),
    )


def _meter(meter: MeterFacts) -> Fields:
    return _known(
        name=clean(meter.name),
        source=meter.source.value,
        kind=meter.kind.value,
        scope=meter.scope.value,
    )


def _conditions(conditions: Conditions) -> Fields:
    supply = conditions.power_supply
    return _known(
        power_supply=supply.value if supply is not None else None,
        battery_percent=conditions.battery_percent,
        governor=_clean(conditions.governor),
        temperature_c=conditions.temperature_c,
        other_load_percent=conditions.other_load_percent,
        memory_available_bytes=conditions.memory_available_bytes,
    )


def _known(**values: object) -> Fields:
    return {name: value for name, value in values.items() if value is not None}


def _clean(text: str | None) -> str | None:
    return clean(text) if text is not None else None


def _gib(size_bytes: int | None) -> int | None:
    """Whole GiB; None for what would round to none."""
    return (round(size_bytes / GIB) or None) if size_bytes is not None else None
