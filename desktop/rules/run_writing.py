"""A run as the JSON that is signed. Only what is written out here is ever signed.

No path, PCI address, driver, meter detail or virtual machine's name is in the list.
"""

from desktop.records.build import Build
from desktop.records.energy import Energy, MeterFacts
from desktop.records.run import EngineFacts, MemoryHeld, Plan, Repetition, Run
from desktop.rules.machine_writing import (
    Fields,
    clean_or_none,
    conditions_fields,
    device_fields,
    known,
    machine_fields,
    within,
)
from desktop.rules.run_limits import MAX_POWER_W, energy_fits, windows_ns
from desktop.rules.signed_text import build_name, clean, model_title, shortened


def run_fields(run: Run) -> Fields:
    """Everything of a run that is signed; a missing value is a missing key.

    An energy that no machine draws is left out: it is the meter's fault, not the run's.

    Raises:
        ValueError: a text is too long, or the build has no name.
    """
    timed_ns = windows_ns(run.repetitions)
    return {
        "build": _build(run.build),
        "machine": machine_fields(run.machine),
        "engine": _engine(run.engine),
        "plan": _plan(run.plan),
        "repetitions": _repetitions(run.repetitions),
        "memory": _memory(run.memory),
        "energy": [
            _energy(test, energy)
            for test, energy in run.energy
            if energy_fits(energy, timed_ns.get(test, 0))
        ],
        "before": conditions_fields(run.before),
        "after": conditions_fields(run.after),
        "started_at": run.started_at,
        "notes": [note.value for note in run.notes],
    }


def _build(build: Build) -> Fields:
    return known(
        name=build_name(build.name),
        sha256=build.sha256,
        size_bytes=build.size_bytes,
        architecture=clean(build.architecture),
        model_name=model_title(build.model_name),
        quantization=clean_or_none(build.quantization),
        parameters=build.parameters,
        context_trained=build.context_trained,
        synthetic=build.synthetic,
        files=build.files if build.files > 1 else None,
    )


def _engine(engine: EngineFacts) -> Fields:
    return known(
        name=clean(engine.name),
        version=clean(engine.version),
        backend=clean(engine.backend),
        devices=[device_fields(d) for d in engine.devices],
        threads=engine.threads,
        flash_attention=clean_or_none(engine.flash_attention),
        gpu_layers=engine.gpu_layers,
    )


def _plan(plan: Plan) -> Fields:
    return known(
        tests=[{"n_prompt": t.n_prompt, "n_gen": t.n_gen} for t in plan.tests],
        threads=plan.threads,
        n_batch=plan.n_batch,
        n_ubatch=plan.n_ubatch,
        gpu_layers=plan.gpu_layers,
        devices=[clean(name) for name in plan.devices] or None,
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
    return known(
        test=clean(repetition.test),
        warmup=repetition.warmup,
        start_ns=repetition.start_ns - zero_ns,
        duration_ns=repetition.end_ns - repetition.start_ns,
        n_tokens=repetition.n_tokens,
        step_ns=list(repetition.step_ns),
    )


def _memory(memory: MemoryHeld) -> Fields:
    return known(
        weights_bytes=memory.weights_bytes,
        kv_cache_bytes=memory.kv_cache_bytes,
        compute_bytes=memory.compute_bytes,
        process_peak_bytes=memory.process_peak_bytes,
    )


def _energy(test: str, energy: Energy) -> Fields:
    return known(
        test=clean(test),
        energy_j=energy.energy_j,
        covered=energy.covered,
        idle_w=within(energy.idle_w, 0.0, MAX_POWER_W),
        meter=_meter(energy.meter),
    )


def _meter(meter: MeterFacts) -> Fields:
    return known(
        name=shortened(meter.name),
        source=meter.source.value,
        kind=meter.kind.value,
        scope=meter.scope.value,
    )
