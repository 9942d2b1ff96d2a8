"""What fits on a machine, by which evidence, and how it is told."""

import json
from dataclasses import replace

import pytest

from desktop import cli
from desktop.errors import GramError
from desktop.estimate.bounds import Memory, bound_of, prompt_times_faster, with_reached
from desktop.estimate.calibration import device_rates
from desktop.estimate.catalogue import find
from desktop.estimate.evidence import (
    MAX_BUILDS,
    LeftOut,
    evidence_of,
    left_out_reason,
    reason_against,
)
from desktop.estimate.fitting import HOST_SHARE, Room, place
from desktop.estimate.here import Here, rows_here
from desktop.estimate.machine_state import State
from desktop.estimate.placed_work import Side, Sides
from desktop.estimate.placement import ON_HOST
from desktop.estimate.residuals import Seen
from desktop.estimate.sizes import weights_of
from desktop.estimate.token_work import HOST, Asked, device_works
from desktop.records.estimate import Configuration, Tier, Use
from desktop.records.fits import Fit, FitsRequest
from desktop.records.machine import (
    Accelerator,
    Conditions,
    Cpu,
    Device,
    DeviceKind,
    Machine,
    MemoryModules,
    PowerSupply,
    Thermal,
)
from desktop.records.parts import PartRate, PartTest
from desktop.records.run import PP512, TG128, EngineFacts, MemoryHeld, Plan, Rate, Run
from desktop.services import estimate_tables
from desktop.services.estimates import fits_of
from desktop.services.ground import Ground
from desktop.services.profiles import models
from desktop.services.this_machine import devices_of
from desktop.sources.cpu_caches import last_level_cache_bytes

GIB = 1 << 30
USE = Use(context=4096, depth=1024)
SMALL = "llama-3.2-1b-instruct"
GB_S = {
    PartTest.MATVEC_F16: 32.5,
    PartTest.MATVEC_Q8_0: 29.3,
    PartTest.MATVEC_Q6_K: 27.9,
    PartTest.MATVEC_Q4_K: 27.2,
    PartTest.MATVEC_Q4_0: 20.7,
}


def asked(name=SMALL, label="Q4_K_M", build=""):
    model, quant = find(name, models()), find(label, estimate_tables.quants())
    return Asked(model, quant, weights_of(model, quant), build)


def rates():
    found = [PartRate(HOST, t, 2, 1e9 * v, 0.02, 40, 2**29) for t, v in GB_S.items()]
    found.append(PartRate(HOST, PartTest.SMALL_GRAPH, 2, 2.7e-6, 0.1, 120))
    found.append(PartRate(HOST, PartTest.MATMUL_F16, 2, 192e9, 0.02, 40))
    return {HOST: device_rates(found, HOST, 2, last_level_cache_bytes=32 << 20)}


def here(**changes):
    told = {
        "name": "Linux, CPU only",
        "room": Room(host_bytes=16 * GIB),
        "cards": (),
        "bandwidths": {HOST: 32.5e9},
        "rates": rates(),
    }
    return Here(**{**told, **changes})


def row(of, **changes):
    return rows_here(here(**changes), [of], USE)[0]


class TestPlace:
    def placed(self, room, of=None, use=USE):
        of = of or asked()
        return place(room, of.model, of.weights, use)

    def test_without_a_card_the_systems_memory_decides(self):
        of = asked()
        assert self.placed(Room(host_bytes=16 * GIB)).fit is Fit.IN_MEMORY
        nowhere = self.placed(Room(host_bytes=GIB))
        assert nowhere.fit is Fit.NOWHERE
        assert nowhere.reason.code == "estimate_fits_nowhere"
        assert nowhere.need.weights_bytes == of.weights.capacity_bytes

    def test_a_share_of_the_memory_is_left_to_the_system(self):
        held = self.placed(Room(host_bytes=64 * GIB)).need.total_bytes + (64 << 20)
        assert self.placed(Room(host_bytes=round(held / HOST_SHARE) + 10)).fit is Fit.IN_MEMORY
        assert self.placed(Room(host_bytes=round(held / HOST_SHARE) - 10)).fit is Fit.NOWHERE

    def test_in_memory_that_is_not_told_nobody_knows_what_fits(self):
        assert self.placed(Room()).fit is Fit.RULED_OUT

    def test_on_a_card_that_has_room_for_all(self):
        placed = self.placed(Room((8 * GIB,), 16 * GIB, overhead_bytes=400 << 20))
        assert placed.fit is Fit.ON_CARD
        assert placed.card_bytes > 400 << 20
        assert placed.host_bytes > 0  # the embedding and the logits stay on the host

    def test_the_back_ends_own_memory_counts(self):
        of = asked()
        held = self.placed(Room((8 * GIB,), 16 * GIB)).card_bytes
        assert self.placed(Room((held,), 16 * GIB)).fit is Fit.ON_CARD
        assert self.placed(Room((held,), 16 * GIB, overhead_bytes=1)).fit is not Fit.ON_CARD
        assert of.model.layers == 16

    def test_with_offload_as_many_layers_as_the_card_bears(self):
        of = asked("llama-3.1-8b-instruct")
        room = Room((3 * GIB,), 16 * GIB)
        placed = self.placed(room, of)
        assert placed.fit is Fit.WITH_OFFLOAD
        layers = placed.placement.gpu_layers
        assert 0 < layers < of.model.layers + 1
        assert placed.card_bytes <= 3 * GIB
        more = replace(placed.placement, gpu_layers=layers + 1)
        from desktop.estimate.memory import needs

        assert needs(of.model, of.weights, USE, more).cards[0].total_bytes > 3 * GIB

    def test_a_mixtures_experts_go_first(self):
        of = asked("qwen3-30b-a3b")
        placed = self.placed(Room((8 * GIB,), 32 * GIB), of)
        assert placed.fit is Fit.WITH_OFFLOAD
        assert placed.placement.gpu_layers is None
        assert 0 < placed.placement.experts_on_host < of.model.layers

    def test_two_answers_of_public_case_a28(self):
        # 7.8 GB of weights on a card of 8 GB with 32 GB of system: not on the card, with offload
        of = asked("llama-2-13b-chat")
        assert 7.5e9 < of.weights.capacity_bytes < 8.2e9
        assert self.placed(Room((8 * GIB,), 32 * GIB), of).fit is Fit.WITH_OFFLOAD
        assert self.placed(Room((8 * GIB,), 2 * GIB), of).fit is Fit.NOWHERE
        assert self.placed(Room((24 * GIB,), 32 * GIB), of).fit is Fit.ON_CARD

    def test_shared_memory_is_counted_once(self):
        of = asked("llama-3.1-8b-instruct", "Q8_0")
        assert self.placed(Room((14 * GIB,), 16 * GIB, shared=True), of).fit is Fit.ON_CARD
        assert self.placed(Room((14 * GIB,), 9 * GIB, shared=True), of).fit is Fit.NOWHERE

    def test_several_cards_take_the_layers_by_their_memory(self):
        of = asked("llama-3.1-8b-instruct", "Q8_0")
        assert self.placed(Room((6 * GIB,), 32 * GIB), of).fit is Fit.WITH_OFFLOAD
        assert self.placed(Room((6 * GIB, 6 * GIB), 32 * GIB), of).fit is Fit.ON_CARD

    def test_a_longer_context_takes_more(self):
        room = Room((6 * GIB,), 32 * GIB)
        of = asked("llama-3.1-8b-instruct")
        assert self.placed(room, of).fit is Fit.ON_CARD
        assert self.placed(room, of, Use(context=65_536)).fit is Fit.WITH_OFFLOAD


class TestTiers:
    def test_by_parts(self):
        found = row(asked())
        assert found.estimate.tier is Tier.B
        decode = found.estimate.decode
        assert decode.low_tok_s < found.middle_tok_s < decode.high_tok_s <= decode.ceiling_tok_s
        # 0.8 GB at 27 to 28 GB/s with some fixed cost
        assert 20 < found.middle_tok_s < 35
        assert found.estimate.prompt.low_tok_s > decode.high_tok_s
        assert found.estimate.first_token_s.low > 1024 / found.estimate.prompt.high_tok_s

    def test_own_runs_of_other_builds_narrow_it(self):
        of = asked()
        other = asked("smollm2-1.7b-instruct")
        seen = tuple(self.seen(other, f"b{i}", 1.2) for i in range(8))
        evidence = evidence_with(seen)
        before, after = row(of), row(of, evidence=evidence)
        assert after.estimate.tier is Tier.A
        assert width(after) < width(before)
        assert after.middle_tok_s < before.middle_tok_s

    def test_its_own_run_says_most(self):
        seen = (self.seen(asked(), "own", 1.3),)
        own = row(asked(build="own"), evidence=evidence_with(seen))
        other = row(asked(build="another"), evidence=evidence_with(seen))
        assert width(own) < width(other)

    @staticmethod
    def seen(of, build, slower):
        from desktop.estimate.calibration import token_terms

        terms = token_terms(device_works((), of, USE, ON_HOST), rates())
        return Seen(build, terms, slower * sum(t.seconds for t in terms.values() if t.counted))

    def test_by_the_catalogue_where_nothing_is_measured(self):
        found = row(asked(), rates={}, sides={"gguf_kquant": Sides((), side())})
        assert found.estimate.tier is Tier.C
        assert found.middle_tok_s is None
        assert found.estimate.reasons[0].code == "estimate_no_parts"

    def test_offload_without_a_known_bandwidth_of_the_memory_is_a_reason(self):
        room = Room((3 * GIB,), 16 * GIB)
        found = row(
            asked("llama-3.1-8b-instruct"), rates={}, room=room, cards=("CUDA0",),
            sides={"gguf_kquant": Sides((side(),), None)},
        )  # fmt: skip
        assert found.fit is Fit.WITH_OFFLOAD
        assert found.estimate.reasons[0].code == "estimate_no_bandwidth"
        assert found.estimate.decode is None

    def test_without_either_there_is_a_reason_and_no_number(self):
        found = row(asked(), rates={})
        assert found.estimate.tier is None
        assert found.estimate.decode is None
        assert found.estimate.reasons[0].code == "estimate_no_bandwidth"
        assert found.estimate.need.total_bytes > 0

    def test_what_does_not_fit_has_no_rate(self):
        found = row(asked("llama-3.1-70b-instruct"))
        assert found.fit is Fit.NOWHERE
        assert found.estimate.decode is None
        assert found.estimate.tier is None

    def test_types_that_were_not_measured_are_said(self):
        codes = [r.code for r in row(asked(label="Q5_1")).estimate.reasons]
        assert "estimate_types_near" in codes
        assert "estimate_types_near" not in [r.code for r in row(asked()).estimate.reasons]

    def test_a_range_never_passes_the_ceiling_unless_caches_help(self):
        slow = row(asked(label="Q8_0"), bandwidths={HOST: 29.3e9}).estimate
        assert slow.decode.low_tok_s < slow.decode.high_tok_s == slow.decode.ceiling_tok_s
        assert "estimate_ceiling_doubtful" not in [r.code for r in slow.reasons]
        small = row(asked("smollm2-135m-instruct", "Q4_0"), bandwidths={HOST: 20e9})
        assert small.estimate.decode.high_tok_s > small.estimate.decode.ceiling_tok_s

    @pytest.mark.parametrize("gb_s", [26, 20, 5])
    def test_a_ceiling_that_contradicts_what_was_measured_is_told_and_widens(self, gb_s):
        """Cut at the ceiling, nothing would be left of the range."""
        whole = row(asked(label="Q8_0"), bandwidths={HOST: 100e9})
        found = row(asked(label="Q8_0"), bandwidths={HOST: gb_s * 1e9})
        decode = found.estimate.decode
        assert decode.ceiling_tok_s < whole.middle_tok_s
        assert decode.low_tok_s == min(decode.ceiling_tok_s, whole.estimate.decode.low_tok_s)
        assert decode.high_tok_s == whole.estimate.decode.high_tok_s
        assert found.middle_tok_s == whole.middle_tok_s
        told = next(r for r in found.estimate.reasons if r.code == "estimate_ceiling_doubtful")
        assert "gram parts" in told.advice()

    def test_so_it_is_of_a_prompt(self):
        usual = row(asked()).estimate.prompt
        found = row(asked(), bandwidths={HOST: 0.05e9}).estimate
        assert found.prompt.ceiling_tok_s < usual.low_tok_s
        assert found.prompt.low_tok_s == found.prompt.ceiling_tok_s
        assert found.prompt.high_tok_s == usual.high_tok_s
        assert [r.code for r in found.reasons].count("estimate_ceiling_doubtful") == 1

    def test_absurd_questions_are_refused(self):
        with pytest.raises(GramError) as e:
            rows_here(here(), [asked()], Use(context=0))
        assert e.value.code == "bad_number"

    def test_many_at_once_are_as_each_alone(self):
        many = [asked(), asked("llama-3.1-70b-instruct"), asked("smollm2-135m-instruct", "Q8_0")]
        together = rows_here(here(), many, USE)
        for one, found in zip(many, together, strict=True):
            alone = row(one)
            assert found.fit is alone.fit
            assert found.middle_tok_s == pytest.approx(alone.middle_tok_s)


STATE = State("Linux, CPU only · 2 CPUs", "AMD EPYC", "llama.cpp", "b1", (HOST,), 2, None)
CALM = Conditions(None, None, None, None, 1.0, None)


def run(**changes):
    cpu = Device(HOST, "AMD EPYC", DeviceKind.CPU, "CPU")
    machine = Machine("Linux", "6", "x86_64", Cpu("AMD EPYC", 2, 2, usable_cpus=2), 16 * GIB)
    engine = EngineFacts("llama.cpp", "b1", "CPU", (cpu,), 2, "enabled", -1)
    told = {
        "build": build_of(asked()),
        "machine": machine,
        "engine": engine,
        "plan": Plan(),
        "repetitions": (),
        "rates": (Rate(TG128.name, 25.0, 0.02, 26.0, 6),),
        "memory": MemoryHeld(None, None, None, None),
        "energy": (),
        "before": CALM,
        "after": CALM,
        "started_at": "2026-12-01T00:00:00Z",
    }
    return Run(**{**told, **changes})


def build_of(of):
    from desktop.records.build import Build

    model, quant = of.model, of.quant
    size = of.weights.capacity_bytes
    sha = f"{abs(hash((model.id, quant.id))):064x}"
    return Build(model.id, sha, size, model.architecture, None, quant.label, model.parameters, None)


class TestEvidence:
    def test_a_run_as_the_machine_is_now_counts(self):
        assert reason_against(run(), STATE) is None

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ({"engine": {"version": "b2"}}, LeftOut.ENGINE),
            ({"engine": {"threads": 1}}, LeftOut.THREADS),
            ({"engine": {"gpu_layers": 12}}, LeftOut.LAYERS),
            ({"engine": {"backend": "CUDA"}}, LeftOut.DEVICES),
            ({"before": {"power_supply": PowerSupply.BATTERY}}, LeftOut.SUPPLY),
            ({"after": {"other_load_percent": 40.0}}, LeftOut.BUSY),
            ({"after": {"thermal": Thermal.THROTTLED}}, LeftOut.HOT),
            ({"machine": {"cpu": Cpu("Ryzen", 8, 16)}}, LeftOut.MACHINE),
            ({"machine": {"os": "Windows"}}, LeftOut.MACHINE),
        ],
    )
    def test_others_do_not_mix_in(self, change, why):
        one = run()
        changed = {name: replace(getattr(one, name), **of) for name, of in change.items()}
        assert reason_against(replace(one, **changed), STATE) is why

    def test_mains_and_untold_are_the_same_supply(self):
        on_mains = replace(CALM, power_supply=PowerSupply.MAINS)
        assert reason_against(run(before=on_mains), STATE) is None
        on_battery = replace(STATE, supply=PowerSupply.BATTERY)
        assert reason_against(run(), on_battery) is LeftOut.SUPPLY

    def test_other_memory_modules_are_other_hardware_where_both_tell(self):
        one = MemoryModules("DDR4", 3200, channels=1, modules=1)
        state = replace(STATE, modules=MemoryModules("DDR4", 3200, channels=2, modules=2))
        assert reason_against(run(), state) is None
        assert reason_against(run_with(modules=one), STATE) is None
        assert reason_against(run_with(modules=one), state) is LeftOut.MACHINE
        untold = MemoryModules("DDR4", 3200)
        assert reason_against(run_with(modules=untold), state) is None

    @pytest.mark.parametrize(("gib", "why"), [(15, None), (8, LeftOut.MACHINE), (None, None)])
    def test_other_memory_is_other_hardware(self, gib, why):
        state = replace(STATE, ram_bytes=16 * GIB - (300 << 20))
        found = run_with(ram_bytes=gib and gib * GIB)
        assert reason_against(found, state) is why
        assert reason_against(found, STATE) is None

    def test_another_card_under_the_same_name_is_another_device(self):
        card = Device("CUDA0", "NVIDIA GeForce RTX 3060", DeviceKind.GPU, "CUDA")
        engine = replace(run().engine, backend="CUDA", devices=(card,))
        state = replace(STATE, devices=("CUDA0",), cards={"CUDA0": "NVIDIA  GeForce RTX 3060"})
        assert reason_against(run(engine=engine), state) is None
        other = replace(state, cards={"CUDA0": "NVIDIA GeForce RTX 4090"})
        assert reason_against(run(engine=engine), other) is LeftOut.DEVICES

    def test_a_run_without_the_tests_that_estimates_rest_on_says_so(self):
        other = run(rates=(Rate("tg64", 25.0, 0.02, 26.0, 6),))
        assert reason_against(other, STATE) is LeftOut.TESTS
        prompt = run(rates=(Rate("pp512", 90.0, 0.02, 92.0, 6),))
        found = evidence_of([prompt], STATE, rates(), works)
        assert (len(found.decode), len(found.prompt), found.left_out) == (0, 1, ())

    def test_what_is_left_out_is_told_by_count_and_reason(self):
        old = run(engine=replace(run().engine, version="b0"))
        runs = [run(), old, old]
        found = evidence_of(runs, STATE, rates(), works)
        assert len(found.decode) == 1
        assert found.left_out == ((LeftOut.ENGINE, 2),)
        assert "2 with another version of the engine" in left_out_reason(found.left_out).text()
        assert left_out_reason(()) is None

    def test_a_build_whose_tensors_nobody_knows_does_not_count(self):
        found = evidence_of([run()], STATE, rates(), lambda _r, _t: None)
        assert found.decode == ()
        assert found.left_out == ((LeftOut.UNKNOWN, 1),)

    def test_a_measured_spread_makes_it_count_less(self):
        calm = evidence_of([run()], STATE, rates(), works).decode[0]
        rough = run(rates=(Rate(TG128.name, 25.0, 0.3, 26.0, 6),))
        assert evidence_of([rough], STATE, rates(), works).decode[0].spread > calm.spread


class TestMemory:
    """0.8 GB of weights a token: 40 tok/s at 32 GB/s."""

    STATE = replace(STATE, memory={HOST: Memory(32e9, cached_below_bytes=128 << 20)})

    def found(self, tok_s, state=STATE):
        return evidence_of([run_at(tok_s)], state, rates(), works)

    def test_no_memory_gives_a_rate_far_above_its_bandwidth(self):
        forged = self.found(390.0)
        assert forged.decode == ()
        assert forged.left_out == ((LeftOut.BEYOND, 1),)
        assert "faster than any memory" in left_out_reason(forged.left_out).text()
        assert reason_against(run_at(390.0), self.STATE, works) is LeftOut.BEYOND
        assert reason_against(run_at(390.0), self.STATE) is None

    @pytest.mark.parametrize("tok_s", [20.0, 38.0, 100.0])
    def test_what_parts_of_a_bad_moment_may_be_off_by_counts(self, tok_s):
        assert len(self.found(tok_s).decode) == 1

    def test_what_a_run_reached_can_be_reached(self):
        assert self.found(20.0).memory[HOST].bandwidth_bytes_s == 32e9
        [work] = works(None, TG128)
        read = sum(work.bytes_by_type.values()) + work.cache_bytes
        assert self.found(80.0).memory[HOST].bandwidth_bytes_s == pytest.approx(80 * read)

    @pytest.mark.parametrize(("told", "spread"), [(0.0, 0.0), (0.196, 0.1), (None, 0.1 / 1.96)])
    def test_a_spread_of_nothing_is_a_spread_and_none_is_not(self, told, spread):
        one = run(rates=(Rate(TG128.name, 20.0, told, 20.0, 6),))
        [seen] = evidence_of([one], self.STATE, rates(), works).decode
        assert seen.spread == pytest.approx(spread)

    def test_no_arithmetic_gives_a_prompts_rate_far_above_its_own(self):
        [work] = works(None, PP512)
        known = 1e12 / (2 * 1.2e9)
        state = replace(self.STATE, flops={HOST: 1e12})
        assert prompt_times_faster([work], state.flops, 1 / known) == pytest.approx(1, rel=0.3)
        honest, forged = run_at(20.0, 8 * known), run_at(20.0, 40 * known)
        assert reason_against(honest, state, works) is None
        assert reason_against(forged, state, works) is LeftOut.BEYOND
        assert reason_against(run_at(None, 40 * known), state, works) is LeftOut.BEYOND
        assert reason_against(forged, self.STATE, works) is None

    def test_the_newest_of_each_test_count(self):
        """Equations of hundreds of runs would take a minute."""
        of_prompts = [run_at(None, 100.0)] * (MAX_BUILDS + 2)
        of_both = [run_at(20.0, 100.0)] * (MAX_BUILDS + 1)
        found = evidence_of([*of_prompts, *of_both], self.STATE, rates(), works)
        assert (len(found.decode), len(found.prompt)) == (MAX_BUILDS, MAX_BUILDS)
        assert found.left_out == ((LeftOut.OLDER, 3),)

    def test_of_what_caches_may_hold_there_is_no_verdict(self):
        state = replace(self.STATE, memory={HOST: Memory(32e9, cached_below_bytes=1 << 30)})
        fast = self.found(390.0, state)
        assert len(fast.decode) == 1
        assert fast.memory == state.memory

    def test_nor_where_nothing_is_known_of_the_memory(self):
        assert reason_against(run_at(390.0), STATE, works) is None

    def test_devices_that_tell_their_time_together_are_each_as_much_faster(self):
        halves = [replace(work, device=name) for work in works(None, TG128) for name in "ab"]
        memory = {"a": Memory(30e9, 0), "b": Memory(60e9, 0), "c": Memory(1e9, 0)}
        least = bound_of(halves, memory).seconds
        faster = with_reached(memory, halves, least / 1.5)
        assert faster["a"].bandwidth_bytes_s == pytest.approx(45e9)
        assert faster["b"].bandwidth_bytes_s == pytest.approx(90e9)
        assert faster["c"] == memory["c"]
        assert with_reached(memory, halves, least) == memory


def works(_run, _test):
    return device_works((), asked(), Use(context=128, depth=64), ON_HOST)


def run_at(tok_s, prompt_tok_s=None):
    told = ((TG128, tok_s), (PP512, prompt_tok_s))
    return run(rates=tuple(Rate(t.name, rate, 0.02, rate, 6) for t, rate in told if rate))


def run_with(**machine):
    return run(machine=replace(run().machine, **machine))


class TestFits:
    @pytest.fixture
    def ground(self):
        return ground_with(here())

    def test_one_line_a_model_best_first(self, ground):
        found = fits_of(ground, FitsRequest(words=("smollm",)))
        names = [r.model.id for r in found.rows]
        assert len(names) == len(set(names)) > 3
        highs = [r.estimate.decode.high_tok_s for r in found.rows]
        assert highs == sorted(highs, reverse=True)

    def test_the_best_quality_that_is_fast_enough(self, ground):
        def chosen(least):
            request = FitsRequest(words=(SMALL,), at_least_tok_s=least)
            return fits_of(ground, request).rows[0]

        assert chosen(1).quant.id == "fp16"
        fast = chosen(15)
        assert fast.estimate.decode.low_tok_s >= 15
        assert fast.quant.rank < chosen(1).quant.rank
        # nothing is so fast: then the fastest of decent quality
        assert chosen(1e5).quant.quality != "degraded"

    def test_a_quantization_can_be_named(self, ground):
        found = fits_of(ground, FitsRequest(words=("llama-3.2", "q4_K_m")))
        assert {r.quant.id for r in found.rows} == {"q4_k_m"}
        assert {r.model.family for r in found.rows} == {"Llama 3.2"}

    def test_all_shows_what_does_not_fit_with_its_reason(self, ground):
        request = FitsRequest(words=("llama-3.1-70b",))
        assert fits_of(ground, request).rows == ()
        assert fits_of(ground, request).hidden == 1
        every = fits_of(ground, replace(request, all_builds=True)).rows
        assert len(every) > 20
        assert all(r.estimate.reasons for r in every)
        assert {r.fit for r in every} == {Fit.NOWHERE}

    def test_bf16_is_offered_only_where_it_is_computed(self, ground):
        def ids(of):
            rows = fits_of(of, FitsRequest(words=(SMALL,), all_builds=True)).rows
            return {r.quant.id for r in rows}

        assert "bf16" not in ids(ground)
        assert "bf16" in ids(replace(ground, computes_bf16=True))
        assert not {"awq_4bit", "fp8"} & ids(ground)

    def test_the_context_is_in_every_estimate(self, ground):
        found = fits_of(ground, FitsRequest(context=512, words=(SMALL,)))
        assert found.rows[0].estimate.use == Use(context=512, depth=511)

    def test_a_context_beyond_the_trained_one_has_no_number(self, ground):
        request = FitsRequest(context=16_384, words=("smollm2-135m",))
        assert fits_of(ground, request).rows == ()
        found = fits_of(ground, replace(request, all_builds=True)).rows
        assert {r.estimate.reasons[0].code for r in found} == {"estimate_beyond_context"}
        assert {r.estimate.decode for r in found} == {None}

    def test_a_measured_rate_stands_beside_the_estimate(self):
        measured = {(SMALL, "q4_k_m"): ("ab" * 32, 24.5)}
        ground = replace(ground_with(here()), measured=measured)
        found = fits_of(ground, FitsRequest(words=(SMALL, "Q4_K_M")))
        assert found.rows[0].measured_tok_s == 24.5

    def test_absurd_contexts_are_refused(self, ground):
        with pytest.raises(GramError):
            fits_of(ground, FitsRequest(context=-5))


class TestDevices:
    MACHINE = Machine("Linux", "6", "x86_64", Cpu("AMD EPYC", 2, 2), 32 * GIB)
    CPU = Device(HOST, "AMD EPYC", DeviceKind.CPU, "CPU")

    def test_a_card_has_the_catalogues_figures_and_its_own_memory(self):
        card = Accelerator("NVIDIA", "GeForce RTX 3090", 24 * GIB, False, backends=("CUDA",))
        listed = Device("CUDA0", "NVIDIA GeForce RTX 3090", DeviceKind.GPU, "CUDA", 24 * GIB)
        machine = replace(self.MACHINE, accelerators=(card,))
        found = devices_of(machine, (self.CPU, listed))
        assert [d.name for d in found.cards] == ["CUDA0"]
        # its own memory, less what driver and display hold of it
        held = estimate_tables.held_back_rule().of_memory(24 * GIB)
        assert held > 0
        assert found.room.cards == (24 * GIB - held,)
        assert found.bandwidths["CUDA0"] == pytest.approx(936e9, rel=0.01)
        assert found.targets["CUDA0"].backend == "CUDA"
        assert found.sides["gguf_kquant"].cards[0].configuration.device_class == "nvidia-ampere"
        assert found.room.overhead_bytes > 0

    def test_an_unknown_card_has_no_bandwidth_and_a_reason(self):
        card = Accelerator("NVIDIA", "GeForce RTX 9999", 24 * GIB, False, backends=("CUDA",))
        listed = Device("CUDA0", "NVIDIA GeForce RTX 9999", DeviceKind.GPU, "CUDA", 24 * GIB)
        found = devices_of(replace(self.MACHINE, accelerators=(card,)), (self.CPU, listed))
        assert "CUDA0" not in found.bandwidths
        assert found.sides == {}
        assert "9999" in found.why_no_sides.text()

    def test_a_processor_without_told_modules_has_no_catalogue_rate(self):
        found = devices_of(self.MACHINE, (self.CPU,))
        assert found.cards == ()
        assert found.sides == {}
        assert (found.room.cards, found.room.host_bytes) == ((), 32 * GIB)

    def test_memory_modules_tell_the_processors_bandwidth(self):
        modules = MemoryModules("DDR5", 5600, channels=2, modules=2)
        found = devices_of(replace(self.MACHINE, modules=modules), (self.CPU,))
        assert found.bandwidths[HOST] == pytest.approx(89.6e9)
        assert found.sides["gguf_kquant"].host.configuration.device_class == "cpu-desktop"

    def test_shared_memory_is_known_as_shared(self):
        card = Accelerator("AMD", "Radeon 780M", 16 * GIB, True, backends=("Vulkan",))
        listed = Device("Vulkan0", "AMD Radeon 780M", DeviceKind.IGPU, "Vulkan", 16 * GIB)
        found = devices_of(replace(self.MACHINE, accelerators=(card,)), (self.CPU, listed))
        assert found.room.shared


class TestCaches:
    def write(self, root, cpu, index, **told):
        folder = root / f"cpu{cpu}" / "cache" / f"index{index}"
        folder.mkdir(parents=True)
        for name, value in told.items():
            (folder / name).write_text(f"{value}\n")

    def test_each_last_level_cache_counts_once(self, tmp_path):
        for cpu, shared in ((0, "0-1"), (1, "0-1"), (2, "2-3")):
            self.write(tmp_path, cpu, 2, level=2, size="1024K", shared_cpu_list=cpu, type="Unified")
            self.write(
                tmp_path, cpu, 3, level=3, size="32768K", shared_cpu_list=shared, type="Unified"
            )
        assert last_level_cache_bytes(tmp_path) == 64 << 20

    def test_nothing_told_is_none(self, tmp_path):
        assert last_level_cache_bytes(tmp_path) is None
        self.write(tmp_path, 0, 3, level=3, size="many", shared_cpu_list="0", type="Unified")
        assert last_level_cache_bytes(tmp_path) is None


@pytest.mark.engine
class TestCommand:
    def gram(self, capsys, *words):
        status = cli.main(["fits", *words])
        return status, capsys.readouterr()

    def test_a_newcomer_is_told_how_to_get_rates(self, home, capsys):
        status, said = self.gram(capsys, "smollm2-135m")
        assert status == 0
        assert "gram fits --probe" in said.out
        assert "room for 4,096 tokens" in said.out
        assert "\x1b" not in said.out

    def test_json_has_a_stable_shape(self, home, capsys):
        status, said = self.gram(capsys, SMALL, "q4_k_m", "--json", "--context", "8192")
        found = json.loads(said.out)
        assert status == 0
        assert (found["format"], found["version"]) == ("gram-fits", 1)
        assert found["context"] == 8192
        reason = found["rows"][0]["reasons"][0]
        assert set(reason) == {"code", "label", "text", "advice", "parameters"}
        assert found["rows"][0]["model"] == SMALL
        assert set(found["rows"][0]) == {
            "model", "quant", "quality", "fit", "size_bytes", "need", "need_bytes", "card_bytes",
            "host_bytes", "gpu_layers", "experts_on_host", "decode", "middle_tok_s", "prompt",
            "first_token_s", "measured_tok_s", "tier", "target", "reasons",
        }  # fmt: skip

    def test_nobody_of_that_name(self, home, capsys):
        status, said = self.gram(capsys, "no-such-model")
        assert status == 2
        assert "no-such-model" in said.err

    def test_a_rehearsal_stands_alone(self, home, capsys):
        assert self.gram(capsys, "llama", "--rehearse", "x:y")[0] == 2

    def test_a_rehearsal_of_nothing_is_told(self, home, capsys):
        status, said = self.gram(capsys, "--rehearse", "llama:Q4_K_M", "--json")
        assert status != 0
        assert json.loads(said.out)["error"]["code"] == "rehearsal_name"

    def test_a_rehearsal_is_a_range_and_no_result(self, home, capsys):
        words = ("--rehearse", "smollm2-135m-instruct:Q4_0", "--tokens", "8", "--threads", "1")
        status, said = self.gram(capsys, *words)
        assert status == 0
        assert "30 of its 30 layers" in said.out
        assert "nothing is signed" in said.out

    def test_a_probe_gives_rates_at_once(self, home, capsys):
        words = (SMALL, "--probe", "--unsigned", "--seconds", "20", "--json")
        status, said = self.gram(capsys, *words)
        found = json.loads(said.out)
        assert status == 0
        assert found["parts_at"] is not None
        # what was measured beside busy programs gives none, and it is told why
        disturbed = {"estimate_parts_busy", "estimate_parts_lacking"}
        told = {reason["code"] for reason in found["told"]}
        assert found["rows"][0]["tier"] == (None if told & disturbed else "B")

    def test_no_qt_is_loaded(self):
        import subprocess
        import sys

        code = (
            "import sys\n"
            "from desktop.cli import fits, fits_show, fits_json\n"
            "assert not [m for m in sys.modules if m.startswith('PySide6')]\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


def side():
    target = next(t for t in estimate_tables.known_targets() if t.device_class == "cpu-desktop")
    configuration = Configuration(
        "this", "a processor", "any", "cpu-desktop", 16 * GIB, 16 * GIB, 60e9, None
    )
    return Side(configuration, dict(target.efficiencies)["gguf_kquant"])


def evidence_with(seen):
    from desktop.estimate.evidence import Evidence

    return Evidence(decode=tuple(seen))


def width(found):
    return found.estimate.decode.high_tok_s / found.estimate.decode.low_tok_s


def ground_with(of):
    return Ground(
        here=of,
        kind=of.name,
        devices=(),
        threads=2,
        on_card_bytes=None,
        with_offload_bytes=16 * GIB,
        parts_at="2026-12-01T00:00:00Z",
        computes_bf16=False,
        measured={},
        told=(),
    )
