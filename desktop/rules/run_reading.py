"""A signed body back into a run. Unknown fields are ignored; what is missing is None."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from desktop.records.build import Build
from desktop.records.energy import Energy, MeterFacts, MeterKind, Scope, Source
from desktop.records.run import (
    MAX_TEST_TOKENS,
    EngineFacts,
    MemoryHeld,
    Plan,
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
from desktop.rules.notes import notes_of
from desktop.rules.rates import rates_of_tests
from desktop.rules.run_limits import (
    MAX_ENERGY_J,
    MAX_FILES,
    MAX_POWER_W,
    MIN_COVERED,
    MIN_ENERGY_J,
    energy_fits,
    too_fast,
    windows_ns,
)

# No honest run comes near these; within them no sum overflows and no statistic takes for ever.
MAX_REPETITIONS = 2_000
MAX_TOKENS = 2 * MAX_TEST_TOKENS
_FEWEST_FILES = 2


def run_from_body(body: Mapping[str, object]) -> Run:
    """The run that a verified body tells of, if it does not contradict itself.

    Rates and notes are computed anew from the raw values; what the body says of them is not
    believed.

    What is never signed is empty: PCI addresses, drivers, a meter's detail. Starts count in
    nanoseconds from the first repetition; memory of devices is in whole GiB.

    Raises:
        StatementError: `bad_envelope`, naming the field that does not hold.
    """
    fields = Fields(body)
    # of the method: none so far changes how a body is read
    fields.integer("protocol", 1)
    fields.texts("notes")
    plan = _plan(fields.inner("plan"))
    repetitions = _repetitions(fields, plan)
    run = Run(
        build=_build(fields.inner("build")),
        machine=machine_from(fields.inner("machine")),
        engine=_engine(fields.inner("engine")),
        plan=plan,
        repetitions=repetitions,
        rates=rates_of_tests((test.name for test in plan.tests), repetitions),
        memory=_memory(fields.inner("memory")),
        energy=_energies(fields, repetitions),
        before=conditions_from(fields.inner("before")),
        after=conditions_from(fields.inner("after")),
        started_at=fields.time("started_at"),
    )
    return replace(run, notes=notes_of(run))


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
        files=build.integer_or_none("files", _FEWEST_FILES, MAX_FILES) or 1,
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
    found = Plan(
        tests=_tests(plan),
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
    if found.min_repetitions > found.max_repetitions:
        raise plan.bad("min_repetitions", "is more than max_repetitions")
    return found


def _tests(plan: Fields) -> tuple[SpeedTest, ...]:
    """Each once: a name stands for one test."""
    tests = tuple(_test(t) for t in plan.items("tests"))
    if len({test.name for test in tests}) != len(tests):
        raise plan.bad("tests", "has a test twice")
    return tests


def _test(test: Fields) -> SpeedTest:
    found = SpeedTest(
        test.integer("n_prompt", 0, MAX_TEST_TOKENS), test.integer("n_gen", 0, MAX_TEST_TOKENS)
    )
    if not found.n_tokens:
        raise test.bad("n_gen", "leaves a test without tokens")
    if found.n_prompt and found.n_gen:
        raise test.bad("n_gen", "makes two tests of one: a prompt, and generation")
    return found


def _repetitions(fields: Fields, plan: Plan) -> tuple[Repetition, ...]:
    """Of the plan's tests, and of each no more than it allows."""
    tokens = {test.name: test.n_tokens for test in plan.tests}
    found = tuple(_repetition(r, tokens) for r in fields.items("repetitions", MAX_REPETITIONS))
    if not found:
        raise fields.bad("repetitions", "is empty")
    for (test, warmup), count in Counter((r.test, r.warmup) for r in found).items():
        if count > (plan.warmups if warmup else plan.max_repetitions):
            raise fields.bad("repetitions", f"has more of {test} than the plan allows")
    return found


def _repetition(repetition: Fields, tokens: Mapping[str, int]) -> Repetition:
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
    if found.test not in tokens:
        raise repetition.bad("test", "is not in the plan")
    if found.n_tokens != tokens[found.test]:
        raise repetition.bad("n_tokens", "is not the test's")
    if too_fast(found):
        raise repetition.bad("duration_ns", "is shorter than any hardware's")
    if sum(found.step_ns) > found.end_ns - found.start_ns:
        raise repetition.bad("step_ns", "takes longer than the repetition")
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
    left = windows_ns(repetitions)
    found = []
    for energy in fields.items("energy"):
        test = energy.text("test")
        if test not in left:
            raise energy.bad("test", "is there twice, or has no timed repetition")
        found.append((test, _energy(energy, left.pop(test))))
    return tuple(found)


def _energy(energy: Fields, over_ns: int) -> Energy:
    found = Energy(
        energy_j=energy.number("energy_j", MIN_ENERGY_J, MAX_ENERGY_J),
        covered=energy.number("covered", MIN_COVERED, 1.0),
        idle_w=energy.number_or_none("idle_w", 0.0, MAX_POWER_W),
        meter=_meter(energy.inner("meter")),
    )
    if not energy_fits(found, over_ns):
        raise energy.bad("energy_j", "is not what any machine draws in that time")
    return found


def _meter(meter: Fields) -> MeterFacts:
    return MeterFacts(
        name=meter.text("name"),
        source=meter.member("source", Source),
        kind=meter.member("kind", MeterKind),
        scope=meter.member("scope", Scope),
    )
