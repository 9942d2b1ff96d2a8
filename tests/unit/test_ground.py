"""Parts and runs out of the ledger: what they make of this machine's estimates."""

from collections import Counter
from dataclasses import replace

import pytest

from desktop.builds.rehearsal_file import make_rehearsal
from desktop.estimate.catalogue import find
from desktop.estimate.machine_state import State
from desktop.estimate.sizes import weights_of
from desktop.identity.envelope import seal
from desktop.identity.signer import Signer
from desktop.network.ledger import Ledger
from desktop.records.build import Build
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.estimate import Tier
from desktop.records.events import Devices
from desktop.records.fits import FitsRequest
from desktop.records.machine import (
    Accelerator,
    Conditions,
    Cpu,
    Device,
    DeviceKind,
    Machine,
    PowerSupply,
)
from desktop.records.parts import Part, Parts, PartsPlan, PartTest
from desktop.records.run import TG128, EngineFacts, MemoryHeld, Plan, Rate, Repetition, Run
from desktop.rules.kind import kind_label
from desktop.rules.memory_answers import memory_answers
from desktop.rules.parts_rates import work_of
from desktop.rules.statements import PARTS_TYPE, RUN_TYPE, parts_payload, run_payload
from desktop.services import estimate_tables
from desktop.services.estimates import fits_of
from desktop.services.facts import MachineFacts
from desktop.services.ground import read_ground
from desktop.services.profiles import models
from desktop.services.run_builds import RunBuilds
from desktop.services.this_machine import devices_of

GIB = 1 << 30
WHEN = "2026-12-01T00:00:00Z"
MODEL = "llama-3.2-1b-instruct"
CPU = Device("CPU", "AMD EPYC", DeviceKind.CPU, "CPU")
CALM = Conditions(None, None, None, None, 1.0, None)
MACHINE = Machine("Linux", "6", "x86_64", Cpu("AMD EPYC", 2, 2, usable_cpus=2), 16 * GIB)
SHAPES = {
    PartTest.MATVEC_F16: (4096, 1, 4096, 16),
    PartTest.MATVEC_Q8_0: (4096, 1, 4096, 31),
    PartTest.MATVEC_Q6_K: (4096, 1, 4096, 40),
    PartTest.MATVEC_Q4_K: (4096, 1, 4096, 57),
    PartTest.MATVEC_Q4_0: (4096, 1, 4096, 57),
    PartTest.MATMUL_F16: (4096, 512, 4096, 1),
    PartTest.SMALL_GRAPH: (32,),
}
SECONDS = {PartTest.MATMUL_F16: 0.09, PartTest.SMALL_GRAPH: 2.7e-6}


@pytest.fixture
def threads():
    from desktop.machine.cores import usable_cores

    return usable_cores()


@pytest.fixture
def keep(home):
    own, number = Signer.from_seed(bytes(32)), iter(range(100))

    def kept(kind, payload, value, signer=own):
        body = payload(value, nonce=f"{next(number):032}", signed_at=WHEN)
        Ledger(home.ledger).keep(seal(signer, kind, body), WHEN)

    return kept


@pytest.fixture
def facts():
    engine = Devices("llama.cpp", "b1", (CPU,), ("CPU",))
    meter = MeterFacts("CPU load", Source.MODELLED, MeterKind.AVERAGE, Scope.SYSTEM)
    return MachineFacts(
        MACHINE, kind_label(MACHINE), meter, engine, CALM, memory_answers(MACHINE), ()
    )


def parts(threads, gb_s=28.0, **changes):
    """Parts of a processor that reads every type at `gb_s`."""

    def part(test, shape):
        work = work_of(test, shape)
        seconds = SECONDS.get(test) or work / (gb_s * 1e9)
        return Part("CPU", test, threads, work, (round(seconds * 1e9) or 1,) * 6, shape)

    measured = tuple(part(test, shape) for test, shape in SHAPES.items())
    plan = PartsPlan(threads=threads)
    told = Parts(MACHINE, "llama.cpp", "b1", (CPU,), plan, measured, CALM, CALM, WHEN)
    return replace(told, **changes)


def file_bytes(of, quant):
    """Of a file: its tensors, and a header with the words of the vocabulary."""
    return weights_of(of, quant).capacity_bytes + 60 * of.vocabulary


def run(threads, label, tok_s, **changes):
    of, quant = find(MODEL, models()), find(label, estimate_tables.quants())
    sha, size = f"{quant.rank:064x}", file_bytes(of, quant)
    build = Build(
        f"{MODEL}-{label}.gguf", sha, size, of.architecture, None, label, of.parameters, None
    )
    ns = round(128e9 / tok_s)
    repetitions = tuple(
        Repetition(TG128.name, False, i * 10**12, i * 10**12 + ns, 128, ()) for i in range(6)
    )
    told = Run(
        build, MACHINE, EngineFacts("llama.cpp", "b1", "CPU", (CPU,), threads, "enabled", -1),
        Plan(tests=(TG128,), threads=threads), repetitions, (), MemoryHeld(None, None, None, None),
        (), CALM, CALM, WHEN,
    )  # fmt: skip
    return replace(told, **changes)


def row_of(home, facts, label="Q4_K_M"):
    found = fits_of(read_ground(home, facts=facts), FitsRequest(words=(MODEL, label)))
    return found, found.rows[0]


def test_nothing_measured_is_a_reason_and_a_way_out(home, facts):
    found, row = row_of(home, facts)
    assert found.parts_at is None
    assert row.estimate.decode is None
    assert "gram fits --probe" in row.estimate.reasons[0].advice()


def test_parts_give_rates(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    found, row = row_of(home, facts)
    assert found.parts_at == WHEN
    assert row.estimate.tier is Tier.B
    # 0.8 GB at 28 GB/s, with layers, cache and token
    assert row.middle_tok_s == pytest.approx(33, rel=0.15)


def test_parts_with_other_threads_say_so(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads + 1))
    found, row = row_of(home, facts)
    assert row.estimate.tier is None
    assert [r.code for r in found.told] == ["estimate_parts_lacking"]


def test_parts_of_an_older_engine_say_so(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads, engine_version="b0"))
    _, row = row_of(home, facts)
    assert "estimate_parts_old" in [r.code for r in row.estimate.reasons]


OTHER = replace(MACHINE, cpu=replace(MACHINE.cpu, name="AMD Ryzen 9 9950X"))
CARD = Accelerator("NVIDIA", "NVIDIA GeForce RTX 3060", 12 * GIB, integrated=False)


@pytest.mark.parametrize("machine", [OTHER, replace(MACHINE, accelerators=(CARD,))])
def test_parts_of_other_hardware_are_not_this_machines(home, facts, keep, threads, machine):
    """A ledger was copied, or a disk moved into another computer."""
    keep(PARTS_TYPE, parts_payload, parts(threads))
    _, own = row_of(home, facts)
    later = "2026-12-02T00:00:00Z"
    for _ in range(2):
        others = parts(threads, gb_s=200.0, machine=machine, started_at=later)
        keep(PARTS_TYPE, parts_payload, others)
    found, row = row_of(home, facts)
    assert row.middle_tok_s == own.middle_tok_s
    assert row.estimate.decode == own.estimate.decode
    assert found.parts_at == WHEN
    assert codes(found) == ["estimate_parts_left_out"]
    assert "2 on other hardware" in found.told[0].text()


def test_with_parts_of_other_hardware_alone_nothing_is_measured_here(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads, machine=OTHER))
    found, row = row_of(home, facts)
    assert found.parts_at is None
    assert row.estimate.decode is None
    assert codes(found) == ["estimate_parts_left_out"]


def test_what_other_hardware_measured_before_is_not_worth_a_word(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads, machine=OTHER))
    just = read_ground(home, parts(threads), facts)
    assert just.told == ()
    keep(PARTS_TYPE, parts_payload, parts(threads))
    assert codes(row_of(home, facts)[0]) == []


def test_another_key_on_the_same_hardware_is_this_machine(home, facts, keep, threads):
    """Keys are renewed, and key files are used for a day."""
    key = Signer.from_seed(bytes(31) + b"1")
    keep(PARTS_TYPE, parts_payload, parts(threads), signer=key)
    keep(RUN_TYPE, run_payload, run(threads, "Q4_K_M", 25.0), signer=key)
    found, row = row_of(home, facts)
    assert row.estimate.tier is Tier.A
    assert codes(found) == []


def test_names_are_compared_as_they_are_signed(home, facts, keep, threads):
    """Statements carry texts without what stands twice or at the end."""
    spaced = replace(MACHINE, cpu=replace(MACHINE.cpu, name="AMD  EPYC "))
    keep(PARTS_TYPE, parts_payload, parts(threads, machine=spaced))
    keep(RUN_TYPE, run_payload, run(threads, "Q4_K_M", 25.0, machine=spaced))
    found, row = row_of(home, replace(facts, machine=spaced))
    assert row.estimate.tier is Tier.A
    assert codes(found) == []


def on_card(parts, description):
    """The same parts, of a card."""
    card = Device("CUDA0", description, DeviceKind.GPU, "CUDA", 12 * GIB)
    measured = tuple(replace(p, device="CUDA0", threads=None) for p in parts.parts)
    both = replace(MACHINE, accelerators=(CARD, replace(CARD, name="NVIDIA GeForce RTX 4090")))
    return replace(parts, machine=both, devices=(card, CPU), parts=(*parts.parts, *measured))


def test_another_card_under_the_name_is_not_the_one_that_was_measured(home, facts, keep, threads):
    """Cards are numbered by the driver, which may count them in another order the next day."""
    swapped, now = on_card(parts(threads), "NVIDIA GeForce RTX 4090"), CARD.name
    engine = Devices("llama.cpp", "b1", on_card(parts(threads), now).devices, ("CUDA", "CPU"))
    here = replace(facts, machine=swapped.machine, kind=kind_label(swapped.machine), engine=engine)
    keep(PARTS_TYPE, parts_payload, on_card(parts(threads), now))
    assert set(read_ground(home, facts=here).here.rates) == {"CPU", "CUDA0"}
    keep(PARTS_TYPE, parts_payload, swapped)
    ground = read_ground(home, facts=here)
    assert set(ground.here.rates) == {"CPU"}
    told = next(r for r in ground.told if r.code == "estimate_parts_left_out")
    assert "1 on other devices" in told.text()


ON_BATTERY = replace(CALM, power_supply=PowerSupply.BATTERY)


def test_parts_of_another_power_supply_say_so(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads, before=ON_BATTERY))
    found, row = row_of(home, facts)
    assert row.estimate.tier is Tier.B
    assert codes(found) == ["estimate_parts_supply"]
    assert "battery" in found.told[0].text()
    unplugged = replace(facts, conditions=ON_BATTERY)
    assert codes(row_of(home, unplugged)[0]) == []


def test_and_give_way_to_those_of_the_one_that_there_is(home, facts, keep, threads):
    earlier = "2026-11-30T00:00:00Z"
    keep(PARTS_TYPE, parts_payload, parts(threads, started_at=earlier))
    _, on_mains = row_of(home, facts)
    keep(PARTS_TYPE, parts_payload, parts(threads, gb_s=12.0, before=ON_BATTERY))
    found, row = row_of(home, facts)
    assert found.parts_at == earlier
    assert row.estimate.decode == on_mains.estimate.decode
    assert codes(found) == []


LARGE = "llama-3.1-8b-instruct"
"""Several times the largest caches."""


def large_run(threads, tok_s, label="Q4_K_M", **changes):
    of = find(LARGE, models())
    quant = find(label, estimate_tables.quants())
    one = run(threads, label, tok_s, **changes)
    build = replace(
        one.build, name=f"{LARGE}-{label}.gguf", architecture=of.architecture,
        parameters=of.parameters, size_bytes=file_bytes(of, quant),
    )  # fmt: skip
    return replace(one, build=build)


def large_rows(home, facts):
    """By the quantization's label, at the depth that runs have."""
    request = FitsRequest(context=128, depth=64, words=(LARGE, "Q4_K_M", "Q8_0", "Q4_0"))
    found = fits_of(read_ground(home, facts=facts), request)
    return found, {row.quant.label: row for row in found.rows}


def test_a_run_that_no_memory_allows_is_left_out_and_told(home, facts, keep, threads):
    """Two measurements of parts speak against it."""
    keep(PARTS_TYPE, parts_payload, parts(threads, gb_s=20.0))
    keep(PARTS_TYPE, parts_payload, parts(threads))
    _, before = large_rows(home, facts)
    ceiling = before["Q4_K_M"].estimate.decode.ceiling_tok_s
    keep(RUN_TYPE, run_payload, large_run(threads, 10 * ceiling))
    found, rows = large_rows(home, facts)
    assert codes(found) == ["estimate_runs_left_out"]
    assert "1 faster than any memory" in found.told[0].text()
    assert {label: row.estimate for label, row in rows.items()} == {
        label: row.estimate for label, row in before.items()
    }
    assert rows["Q4_K_M"].measured_tok_s is None
    keep(RUN_TYPE, run_payload, large_run(threads, 0.9 * ceiling))
    found, rows = large_rows(home, facts)
    assert rows["Q4_K_M"].measured_tok_s == pytest.approx(0.9 * ceiling, rel=1e-3)


def test_one_measurement_of_parts_and_one_run_that_contradict_are_doubtful(
    home, facts, keep, threads
):
    """Nobody knows which of them is wrong."""
    keep(PARTS_TYPE, parts_payload, parts(threads, gb_s=1.5))
    keep(RUN_TYPE, run_payload, large_run(threads, 4.9))
    found, rows = large_rows(home, facts)
    assert codes(found) == ["estimate_parts_doubtful", "estimate_runs_left_out"]
    assert "took 15 times" in found.told[0].text()
    assert "gram parts" in found.told[0].advice()
    assert {row.estimate.decode for row in rows.values()} == {None}
    keep(PARTS_TYPE, parts_payload, parts(threads))
    found, rows = large_rows(home, facts)
    assert codes(found) == []
    assert rows["Q4_K_M"].estimate.tier is Tier.A
    assert rows["Q4_K_M"].measured_tok_s == pytest.approx(4.9, rel=1e-3)


def test_a_run_beyond_all_memory_makes_no_doubt_of_the_parts(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    _, before = large_rows(home, facts)
    keep(RUN_TYPE, run_payload, large_run(threads, 9e5))
    found, rows = large_rows(home, facts)
    assert codes(found) == ["estimate_runs_left_out"]
    assert rows["Q4_K_M"].estimate == before["Q4_K_M"].estimate


def test_nor_does_one_that_another_run_speaks_against(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    keep(RUN_TYPE, run_payload, large_run(threads, 100.0))
    keep(RUN_TYPE, run_payload, large_run(threads, 4.9))
    found, rows = large_rows(home, facts)
    assert codes(found) == ["estimate_runs_left_out"]
    assert rows["Q4_K_M"].measured_tok_s == pytest.approx(4.9, rel=1e-3)


def test_few_runs_that_agree_do_not_outweigh_many(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    for tok_s, label in ((98.0, "Q4_K_M"), (97.0, "Q4_K_M"), (55.0, "Q8_0")):
        keep(RUN_TYPE, run_payload, large_run(threads, tok_s, label=label))
    for _ in range(4):
        keep(RUN_TYPE, run_payload, large_run(threads, 4.9))
    found, rows = large_rows(home, facts)
    assert "3 faster than any memory" in found.told[0].text()
    assert rows["Q4_K_M"].measured_tok_s == pytest.approx(4.9, rel=1e-3)


@pytest.mark.parametrize("gb_s", [1.5, 8.0])
def test_runs_of_several_builds_that_agree_outweigh_one_measurement_of_parts(
    home, facts, keep, threads, gb_s
):
    keep(PARTS_TYPE, parts_payload, parts(threads, gb_s=gb_s))
    for tok_s, label in ((4.9, "Q4_K_M"), (4.8, "Q4_K_M"), (2.9, "Q8_0")):
        keep(RUN_TYPE, run_payload, large_run(threads, tok_s, label=label))
    found, rows = large_rows(home, facts)
    assert found.runs == 3
    assert codes(found) == (["estimate_parts_slow"] if gb_s < 3 else [])
    own = rows["Q4_K_M"].estimate
    assert own.tier is Tier.A
    assert own.decode.low_tok_s < 4.85 <= 1.01 * own.decode.high_tok_s
    # of what was not measured the range is no narrow one
    other = rows["Q4_0"].estimate.decode
    assert other.low_tok_s < 4.9 < 1.2 * other.high_tok_s
    assert other.high_tok_s > 1.2 * other.low_tok_s


def shape(model):
    return model.architecture, model.parameters


@pytest.mark.parametrize(
    "name", ["{id}-Q4_K_M.gguf", "hf.co/x/{id}-GGUF:Q4_K_M", "{id}.Q4_K_M.gguf"]
)
def test_a_measured_rate_is_its_own_models_and_no_others_of_the_same_shape(home, threads, name):
    """Several models of the catalogue share each of these shapes."""
    counts = Counter(map(shape, models()))
    state = state_of(threads)
    alike = [m for m in models() if counts[shape(m)] > 1]
    assert len(alike) > 50
    for model in alike:
        found = measured_of(home, threads, state, model, name.format(id=model.id))
        assert list(found) == [(model.id, "q4_k_m")]


@pytest.mark.parametrize(
    ("model", "name", "header"),
    [
        (LARGE, "Dolphin-Llama-3.1-8B-Q4_K_M.gguf", None),
        (LARGE, "Dolphin-Llama-3.1-8B-Q4_K_M.gguf", "Llama 3.1 8B Instruct"),
        (LARGE, "model.gguf", None),
        (LARGE, "model.gguf", "Llama 3.1 8B Instruct Abliterated"),
        ("qwen3-8b", "Qwen3-8B-Base.Q4_K_M.gguf", None),
        ("qwen3-8b", "Qwen3-8B-Q4_K_M.gguf", "Qwen3 8B Base"),
        ("qwen3-8b", "huihui-Qwen3-8B-abliterated-Q4_K_M.gguf", None),
        ("qwen3-8b", "Qwen3-8B-UD-Q4_K_XL.gguf", "Qwen3-8B"),
        ("phi-4-reasoning", "Phi-4-reasoning-plus-Q4_K_M.gguf", None),
        ("gemma-3-1b-it", "gemma-3-1b-it-qat-Q4_K_M.gguf", "Gemma 3 1b It"),
    ],
)
def test_a_build_of_another_name_is_no_model_of_the_catalogue(home, threads, model, name, header):
    told = {"model_name": header}
    assert not measured_of(home, threads, state_of(threads), find(model, models()), name, **told)


@pytest.mark.parametrize(
    ("model", "name", "header"),
    [
        (LARGE, "model.gguf", "Llama 3.1 8B Instruct"),
        (LARGE, "Meta-Llama-3.1-8B-Instruct.i1-Q4_K_M.gguf", "Meta Llama 3.1 8B Instruct"),
        (LARGE, "llama3.1:8b", "Llama 3.1 8B Instruct"),
        ("qwen3-8b", "hf.co/bartowski/Qwen_Qwen3-8B-GGUF:Q4_K_M", "Qwen3 8B"),
        ("gemma-3-1b-it", "google_gemma-3-1b-it-Q4_K_M.gguf", None),
        ("phi-4-reasoning", "unsloth_Phi-4-reasoning-Q4_K_M-00001-of-00002.gguf", None),
        # a header's name by chance
        ("smollm2-135m-instruct", "SmolLM2-135M-Instruct-Q4_K_M.gguf", "Smollm2 8k Mix1 Ep2"),
    ],
)
def test_a_build_is_known_by_its_own_words_beside_packagers(home, threads, model, name, header):
    told = {"model_name": header}
    found = measured_of(home, threads, state_of(threads), find(model, models()), name, **told)
    assert list(found) == [(model, "q4_k_m")]


@pytest.mark.parametrize("share", [0.01, 0.95, 1.06, 3.0])
def test_a_run_whose_file_has_another_size_is_of_another_build(home, facts, keep, threads, share):
    """A statement's bytes would make any rate look possible."""
    keep(PARTS_TYPE, parts_payload, parts(threads))
    _, before = large_rows(home, facts)
    one = large_run(threads, 0.9 * before["Q4_K_M"].estimate.decode.ceiling_tok_s)
    build = replace(one.build, size_bytes=round(share * one.build.size_bytes))
    keep(RUN_TYPE, run_payload, replace(one, build=build))
    found, rows = large_rows(home, facts)
    assert codes(found) == ["estimate_runs_left_out"]
    assert "1 of builds whose tensors are not known" in found.told[0].text()
    assert rows["Q4_K_M"].measured_tok_s is None
    assert rows["Q4_K_M"].estimate == before["Q4_K_M"].estimate


def test_what_is_shown_as_measured_is_the_middle_of_the_newest_runs(home, facts, keep, threads):
    """One that something disturbed says little of the build."""
    keep(PARTS_TYPE, parts_payload, parts(threads))
    for tok_s in (2.0, 2.0, 2.0, 4.9, 4.8, 4.7, 4.9, 1.0):
        keep(RUN_TYPE, run_payload, large_run(threads, tok_s))
    _, rows = large_rows(home, facts)
    own = rows["Q4_K_M"]
    assert own.measured_tok_s == pytest.approx(4.8, rel=1e-3)
    assert own.estimate.decode.low_tok_s <= own.measured_tok_s


def state_of(threads):
    """This machine, as the runs here tell of it."""
    return State(kind_label(MACHINE), MACHINE.cpu.name, "llama.cpp", "b1", ("CPU",), threads, None)


def measured_of(home, threads, state, model, name, **build):
    """What the run of a build of a model's shape is taken for."""
    one = run(threads, "Q4_K_M", 20.0, rates=(Rate(TG128.name, 20.0, 0.02, 20.0, 6),))
    size = file_bytes(model, find("Q4_K_M", estimate_tables.quants()))
    told = replace(
        one.build, name=name, architecture=model.architecture, parameters=model.parameters,
        **{"size_bytes": size, **build},
    )  # fmt: skip
    builds = RunBuilds(home, devices_of(MACHINE, (CPU,)))
    return builds.measured([replace(one, build=told)], state)


def test_parts_of_a_bad_moment_make_no_ceiling_below_what_runs_reached(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads, gb_s=12.0))
    _, before = large_rows(home, facts)
    reached = 2 * before["Q4_K_M"].estimate.decode.ceiling_tok_s
    for _ in range(3):
        keep(RUN_TYPE, run_payload, large_run(threads, reached))
    found, rows = large_rows(home, facts)
    assert found.runs == 3
    for row in rows.values():
        decode = row.estimate.decode
        assert decode.low_tok_s < 0.97 * decode.high_tok_s
    own = rows["Q4_K_M"].estimate.decode
    assert own.low_tok_s < reached <= own.high_tok_s * 1.0001


def test_what_kept_parts_reached_once_can_be_reached(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads, gb_s=28.0))
    keep(PARTS_TYPE, parts_payload, parts(threads, gb_s=90.0, machine=OTHER))
    keep(PARTS_TYPE, parts_payload, parts(threads, gb_s=14.0))
    ground = read_ground(home, facts=facts)
    assert ground.here.bandwidths["CPU"] == pytest.approx(28e9, rel=1e-3)


def busy(parts, percent):
    return replace(parts, after=replace(CALM, other_load_percent=percent))


def codes(found):
    return [reason.code for reason in found.told]


def test_nothing_follows_from_parts_that_were_measured_beside_busy_programs(
    home, facts, keep, threads
):
    """Each repetition may be alike and all of them off by a factor of a hundred."""
    keep(PARTS_TYPE, parts_payload, busy(parts(threads, gb_s=0.3), 62.0))
    found, row = row_of(home, facts)
    assert row.estimate.decode is None
    assert codes(found) == ["estimate_parts_busy"]
    assert "62 %" in found.told[0].text()
    assert "gram parts" in found.told[0].advice()


def test_quiet_parts_of_an_earlier_day_are_used_instead(home, facts, keep, threads):
    earlier = "2026-11-30T00:00:00Z"
    keep(PARTS_TYPE, parts_payload, parts(threads, started_at=earlier))
    _, quiet = row_of(home, facts)
    keep(PARTS_TYPE, parts_payload, busy(parts(threads, gb_s=0.3), 62.0))
    found, row = row_of(home, facts)
    assert row.middle_tok_s == quiet.middle_tok_s
    assert found.parts_at == earlier
    assert codes(found) == ["estimate_parts_quieter"]
    assert earlier in found.told[0].text()


def test_quiet_parts_of_another_engine_do_not_stand_in(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads, engine_version="b0"))
    keep(PARTS_TYPE, parts_payload, busy(parts(threads), 62.0))
    found, row = row_of(home, facts)
    assert row.estimate.decode is None
    assert codes(found) == ["estimate_parts_busy"]


def test_what_was_just_measured_beside_busy_programs_does_not_count_either(
    home, facts, keep, threads
):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    _, quiet = row_of(home, facts)
    just = read_ground(home, busy(parts(threads, gb_s=0.3), 62.0), facts)
    [row] = fits_of(just, FitsRequest(words=(MODEL, "Q4_K_M"))).rows
    assert row.middle_tok_s == quiet.middle_tok_s


def test_some_load_widens_the_ranges_and_says_so(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    _, calm = row_of(home, facts)
    keep(PARTS_TYPE, parts_payload, busy(parts(threads), 12.0))
    found, row = row_of(home, facts)
    assert codes(found) == ["estimate_parts_disturbed"]
    assert width(row) > 1.05 * width(calm)
    keep(PARTS_TYPE, parts_payload, busy(parts(threads), 5.0))
    assert codes(row_of(home, facts)[0]) == []


def width(row):
    return row.estimate.decode.high_tok_s / row.estimate.decode.low_tok_s


def changed(parts, test, **fields):
    """The same with one part of them changed."""
    return replace(
        parts, parts=tuple(replace(p, **fields) if p.test is test else p for p in parts.parts)
    )


@pytest.mark.parametrize(
    "fields",
    [
        # ± 60 %
        {"durations_ns": (10_000_000, 40_000_000) * 3},
        # 9 MiB a thousand times: a rate of caches
        {"work": 1000 * 9_437_184, "shape": (4096, 1, 4096, 1), "durations_ns": (10**8,) * 6},
    ],
)
def test_a_part_that_is_not_sure_or_was_helped_by_caches_is_not_used(
    home, facts, keep, threads, fields
):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    _, whole = row_of(home, facts, "Q4_0")
    keep(PARTS_TYPE, parts_payload, changed(parts(threads), PartTest.MATVEC_Q4_0, **fields))
    found, row = row_of(home, facts, "Q4_0")
    assert codes(found) == ["estimate_parts_unsure"]
    assert "matrix-vector, Q4_0" in found.told[0].text()
    # it stands in no estimate, and the range of what is not measured is wider
    assert row.middle_tok_s < 1.1 * whole.middle_tok_s
    assert width(row) > 1.2 * width(whole)
    near = next(r for r in row.estimate.reasons if r.code == "estimate_types_near")
    assert near.params["types"] == "Q4_0"


def test_a_spread_below_the_bound_widens_the_range(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    _, steady = row_of(home, facts, "Q4_0")
    ns = round(work_of(PartTest.MATVEC_Q4_0, SHAPES[PartTest.MATVEC_Q4_0]) / 28)
    noisy = {"durations_ns": (round(0.8 * ns),) * 3 + (round(1.2 * ns),) * 3}
    keep(PARTS_TYPE, parts_payload, changed(parts(threads), PartTest.MATVEC_Q4_0, **noisy))
    found, row = row_of(home, facts, "Q4_0")
    assert codes(found) == []
    assert width(row) > 1.05 * width(steady)


def test_too_few_repetitions_widen_it_too(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    _, steady = row_of(home, facts, "Q4_0")
    few = parts(threads)
    few = replace(few, parts=tuple(replace(p, durations_ns=p.durations_ns[:5]) for p in few.parts))
    keep(PARTS_TYPE, parts_payload, few)
    found, row = row_of(home, facts, "Q4_0")
    assert codes(found) == []
    assert width(row) > 1.05 * width(steady)


def test_without_a_sure_small_graph_there_is_no_range(home, facts, keep, threads):
    wide = {"durations_ns": (2_000, 9_000) * 3}
    keep(PARTS_TYPE, parts_payload, changed(parts(threads), PartTest.SMALL_GRAPH, **wide))
    found, row = row_of(home, facts)
    assert row.estimate.decode is None
    assert codes(found) == ["estimate_parts_unsure", "estimate_parts_lacking"]


def test_runs_calibrate_and_a_build_that_was_measured_stands_there(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    _, before = row_of(home, facts)
    slower = 0.75 * before.middle_tok_s
    for label in ("Q4_K_M", "Q4_K_S", "Q5_K_M"):
        keep(RUN_TYPE, run_payload, run(threads, label, slower))
    found, after = row_of(home, facts)
    assert found.runs == 3
    assert after.estimate.tier is Tier.A
    assert after.measured_tok_s == pytest.approx(slower, rel=1e-3)
    assert after.middle_tok_s < 0.9 * before.middle_tok_s
    _, other = row_of(home, facts, "Q4_0")
    assert other.measured_tok_s is None
    assert other.estimate.tier is Tier.A


def test_runs_of_another_state_are_told_and_not_mixed_in(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, parts(threads))
    battery = replace(CALM, power_supply=PowerSupply.BATTERY)
    keep(RUN_TYPE, run_payload, run(threads, "Q4_K_M", 3.0, before=battery))
    engine = EngineFacts("llama.cpp", "b0", "CPU", (CPU,), threads, "enabled", -1)
    keep(RUN_TYPE, run_payload, run(threads, "Q4_K_M", 3.0, engine=engine))
    found, row = row_of(home, facts)
    assert row.estimate.tier is Tier.B
    assert row.measured_tok_s is None
    said = found.told[0].text()
    assert "battery" in said
    assert "another version of the engine" in said


def test_a_build_on_the_disk_is_known_by_its_header(home, facts, keep, threads):
    """A model that the catalogue does not have: its file tells the tensors."""
    own = replace(find("smollm2-135m-instruct", models()), id="own", vocabulary=40_000)
    path = home.builds / "own.gguf"
    make_rehearsal(path, own, "Q8_0", (0, 1, 2), lambda _d, _t: None)
    _strip_mark(path)
    from desktop.builds.describe import describe

    build = describe(path)
    one = replace(run(threads, "Q8_0", 100.0), build=build)
    builds = RunBuilds(home, devices_of(MACHINE, (CPU,)))
    works = builds.of(one, TG128)
    assert works is not None
    assert works[0].layers == 3
    assert set(works[0].bytes_by_type) == {"Q8_0", "F32"}
    unknown = replace(build, sha256="0" * 64, parameters=12345)
    assert builds.of(replace(one, build=unknown), TG128) is None


def _strip_mark(path):
    """The same file without the mark of a rehearsal, as a person's own would be."""
    data = path.read_bytes()
    path.write_bytes(data.replace(b"gram.rehearsal", b"gram.rehearsed", 1))


def test_runs_that_no_parts_let_count_are_told(home, facts, keep, threads):
    keep(RUN_TYPE, run_payload, run(threads, "Q8_0", 9.0))
    other = EngineFacts("llama.cpp", "b0", "CPU", (CPU,), threads, "enabled", -1)
    keep(RUN_TYPE, run_payload, run(threads, "Q4_0", 9.0, engine=other))
    found, row = row_of(home, facts)
    assert found.runs == 0
    assert row.estimate.decode is None
    assert codes(found) == ["estimate_runs_left_out"]
    assert "1 for want of parts that count" in found.told[0].text()
    assert "1 with another version of the engine" in found.told[0].text()
    keep(PARTS_TYPE, parts_payload, parts(threads))
    found, _ = row_of(home, facts)
    assert found.runs == 1
    assert "parts" not in found.told[0].text()


def test_runs_beside_parts_that_do_not_count_are_told(home, facts, keep, threads):
    keep(PARTS_TYPE, parts_payload, busy(parts(threads), 62.0))
    keep(RUN_TYPE, run_payload, run(threads, "Q8_0", 9.0))
    found, row = row_of(home, facts)
    assert found.runs == 0
    assert codes(found) == ["estimate_parts_busy", "estimate_runs_left_out"]
    assert row.estimate.reasons[0] == found.told[0]
