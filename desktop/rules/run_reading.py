"""A signed body back into a run. Unknown fields are ignored; what is missing is None."""

from collections.abc import Mapping

from desktop.records.build import Build
from desktop.records.energy import Energy, MeterFacts, MeterKind, Scope, Source
from desktop.records.run import (
    MAX_TEST_TOKENS,
    EngineFacts,
    MemoryHeld,
    Note,
    Plan,
    Rate,
    Repetition,
    Run,
    SpeedTest,
)
from desktop.rules.fields import Fields
from desktop.rules.machine_reading import (
    MAX_NS,
    conditions_from,
    device_from,
    machine_from,
)
from desktop.rules.rates import rate_of
from desktop.rules.run_limits import (
    MAX_ENERGY_J,
    MAX_POWER_W,
    MIN_COVERED,
    energy_fits,
    too_fast,
    window_ns,
)

# No honest run comes near these; within them no sum overflows and no statistic takes for ever.
MAX_REPETITIONS = 2_000
MAX_TOKENS = 2 * MAX_TEST_TOKENS


def run_from_body(body: Mapping[str, object]) -> Run:
    """The run that a verified body tells of. Its rates are computed anew from the raw values.

    What is never signed is empty: PCI addresses, drivers, a meter's detail. Starts count in
    nanoseconds from the first repetition; memory of devices is in whole GiB.

    Raises:
        StatementError: `bad_envelope`, naming the field that does not hold.
    """
    fields = Fields(body)
    # of the method: none so far changes how a body is read
    fields.integer("protocol", 1)
    plan = _plan(fields.inner("plan"))
    repetitions = _repetitions(fields)
    return Run(
        build=_build(fields.inner("build")),
        machine=machine_from(fields.inner("machine")),
        engine=_engine(fields.inner("engine")),
        plan=plan,
        repetitions=repetitions,
        rates=_rates(plan, repetitions),
        memory=_memory(fields.inner("memory")),
        energy=_energies(fields, repetitions),
        before=conditions_from(fields.inner("before")),
        after=conditions_from(fields.inner("after")),
        started_at=fields.time("started_at"),
        notes=tuple(Note(n) for n in fields.texts("notes") if n in set(Note)),
    )


def _rates(plan: Plan, repetitions: tuple[Repetition, ...]) -> tuple[Rate, ...]:
    found = (rate_of(test.name, repetitions) for test in plan.tests)
    return tuple(rate for rate in found if rate is not None)


def _build(build: Fields) -> Build:
    return Build(
        name=build.text("name"),
        sha256=build.matching("sha256", "[0-9a-f]{64}", "64 hex digits"),
        size_bytes=build.integer("size_bytes"),
        architecture=build.text("architecture"),
        model_name=build.text_or_none("model_name"),
        quantization=build.text_or_none("quantization"),
        parameters=build.integer("parameters"),
        context_trained=build.integer_or_none("context_trained"),
        synthetic=build.flag("synthetic"),
    )


def _engine(engine: Fields) -> EngineFacts:
    return EngineFacts(
        name=engine.text("name"),
        version=engine.text("version"),
        backend=engine.text("backend"),
        devices=tuple(device_from(d) for d in engine.items("devices")),
        threads=engine.integer("threads", 1),
        flash_attention=engine.text_or_none("flash_attention"),
        gpu_layers=engine.integer("gpu_layers", -1),
    )


def _plan(plan: Fields) -> Plan:
    return Plan(
        tests=tuple(_test(t) for t in plan.items("tests")),
        threads=plan.integer("threads", 1),
        n_batch=plan.integer("n_batch", 1),
        n_ubatch=plan.integer("n_ubatch", 1),
        gpu_layers=plan.integer("gpu_layers", -1),
        devices=plan.texts_or_empty("devices"),
        poll=plan.integer("poll"),
        warmups=plan.integer("warmups"),
        min_repetitions=plan.integer("min_repetitions"),
        max_repetitions=plan.integer("max_repetitions"),
        target_spread=plan.number("target_spread"),
        time_limit_s=plan.number("time_limit_s"),
    )


def _test(test: Fields) -> SpeedTest:
    found = SpeedTest(
        test.integer("n_prompt", 0, MAX_TEST_TOKENS), test.integer("n_gen", 0, MAX_TEST_TOKENS)
    )
    if not found.n_tokens:
        raise test.bad("n_gen", "leaves a test without tokens")
    return found


def _repetitions(fields: Fields) -> tuple[Repetition, ...]:
    found = tuple(_repetition(r) for r in fields.items("repetitions", MAX_REPETITIONS))
    if not found:
        raise fields.bad("repetitions", "is empty")
    return found


def _repetition(repetition: Fields) -> Repetition:
    start_ns = repetition.integer("start_ns", 0, MAX_NS)
    n_tokens = repetition.integer("n_tokens", 1, MAX_TOKENS)
    found = Repetition(
        test=repetition.text("test"),
        warmup=repetition.flag("warmup"),
        start_ns=start_ns,
        end_ns=start_ns + repetition.integer("duration_ns", 1, MAX_NS),
        n_tokens=n_tokens,
        step_ns=repetition.integers("step_ns", MAX_NS, n_tokens),
    )
    if too_fast(found):
        raise repetition.bad("duration_ns", "is shorter than any hardware's")
    return found


def _memory(memory: Fields) -> MemoryHeld:
    return MemoryHeld(
        weights_bytes=memory.integer_or_none("weights_bytes"),
        kv_cache_bytes=memory.integer_or_none("kv_cache_bytes"),
        compute_bytes=memory.integer_or_none("compute_bytes"),
        process_peak_bytes=memory.integer_or_none("process_peak_bytes"),
    )


def _energies(
    fields: Fields, repetitions: tuple[Repetition, ...]
) -> tuple[tuple[str, Energy], ...]:
    """By test; one for each at most, and none for a test that was not timed."""
    left = {r.test for r in repetitions if not r.warmup}
    found = []
    for energy in fields.items("energy"):
        test = energy.text("test")
        if test not in left:
            raise energy.bad("test", "is there twice, or has no timed repetition")
        left.remove(test)
        found.append((test, _energy(energy, window_ns(test, repetitions))))
    return tuple(found)


def _energy(energy: Fields, over_ns: int) -> Energy:
    found = Energy(
        energy_j=energy.number("energy_j", 0.0, MAX_ENERGY_J),
        covered=energy.number("covered", MIN_COVERED, 1.0),
        idle_w=energy.number_or_none("idle_w", 0.0, MAX_POWER_W),
        meter=_meter(energy.inner("meter")),
    )
    if not energy_fits(found, over_ns):
        raise energy.bad("energy_j", "is more than any machine draws in that time")
    return found


def _meter(meter: Fields) -> MeterFacts:
    return MeterFacts(
        name=meter.text("name"),
        source=meter.member("source", Source),
        kind=meter.member("kind", MeterKind),
        scope=meter.member("scope", Scope),
    )
