"""What is offered on this machine, and the reasons why something is not."""

from dataclasses import replace

import pytest

from desktop.estimate.catalogue import find, read_quants
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.events import Devices
from desktop.records.fits import Fit, FitsRequest
from desktop.records.machine import Accelerator, Conditions, Cpu, Device, DeviceKind, Machine
from desktop.rules.memory_answers import memory_answers
from desktop.services import estimate_tables, profiles
from desktop.services.estimates import FitsWork, fits_of
from desktop.services.facts import MachineFacts
from desktop.services.ground import read_ground
from desktop.services.profiles import models
from desktop.services.this_machine import devices_of
from desktop.services.unused_cards import unused_cards
from tests.unit.test_fits import GIB, SMALL, ground_with, here

DENSE, MIXTURE = "llama-3.2-1b-instruct", "qwen3-30b-a3b"


@pytest.fixture
def ground():
    return ground_with(here())


def found(ground, *words, **changes):
    return fits_of(ground, FitsRequest(words=words, **changes))


def codes(reasons):
    return [reason.code for reason in reasons]


class TestNotComputedHere:
    @pytest.mark.parametrize(
        ("word", "code"),
        [
            ("bf16", "estimate_no_arithmetic"),
            ("awq", "estimate_no_engine"),
            ("gptq_4bit", "estimate_no_engine"),
            ("fp8", "estimate_no_engine"),
        ],
    )
    def test_a_named_quantization_gets_the_reason_and_never_fits_nowhere(self, ground, word, code):
        said = found(ground, word)
        assert said.rows == ()
        assert said.hidden == 0
        assert codes(said.ruled_out) == [code]

    def test_a_device_that_no_source_knows_is_not_said_to_lack_it(self, ground):
        said = found(replace(ground, computes_bf16=None), "bf16")
        assert codes(said.ruled_out) == ["estimate_arithmetic_unknown"]

    def test_others_that_are_named_with_it_have_their_rows(self, ground):
        said = found(ground, SMALL, "bf16", "q4_k_m")
        assert [row.quant.id for row in said.rows] == ["q4_k_m"]
        assert codes(said.ruled_out) == ["estimate_no_arithmetic"]

    def test_with_all_quantizations_each_that_is_missing_is_told(self, ground):
        said = found(ground, SMALL, all_builds=True)
        told = {reason.code: reason.params["quant"] for reason in said.ruled_out}
        assert told == {
            "estimate_no_arithmetic": "BF16",
            "estimate_no_engine": "FP8, AWQ 4-bit, GPTQ 4-bit",
            "estimate_mixtures_only": "MXFP4",
        }
        assert len(said.rows) + 5 == len(estimate_tables.quants())

    def test_who_names_none_is_told_of_none(self, ground):
        assert found(ground, SMALL).ruled_out == ()


class TestBf16:
    CPU = Device("CPU", "Xeon", DeviceKind.CPU, "CPU")

    def devices(self, *sets, card=None):
        cpu = Cpu("Xeon", 2, 2, instruction_sets=sets)
        machine = Machine("Linux", "6", "x86_64", cpu, 16 * GIB)
        if card is None:
            return devices_of(machine, (self.CPU,))
        own = Accelerator("NVIDIA", card, 24 * GIB, False, backends=("CUDA",))
        listed = Device("CUDA0", card, DeviceKind.GPU, "CUDA", 24 * GIB)
        return devices_of(replace(machine, accelerators=(own,)), (self.CPU, listed))

    def test_a_processor_tells_it_though_its_memory_is_not_known(self):
        assert self.devices("avx512_bf16").computes_bf16 is True
        assert self.devices("avx2").computes_bf16 is False
        assert self.devices().computes_bf16 is None

    def test_of_a_card_the_catalogue_tells_it(self):
        assert self.devices(card="NVIDIA GeForce RTX 3090").computes_bf16 is True
        assert self.devices("avx512_bf16", card="Tesla P40").computes_bf16 is False
        assert self.devices(card="NVIDIA GeForce RTX 9999").computes_bf16 is None


class TestMixturesOnly:
    def test_the_table_says_it_of_mxfp4_alone(self):
        marked = [quant.id for quant in estimate_tables.quants() if quant.mixtures_only]
        assert marked == ["mxfp4"]
        assert not any(quant.mixtures_only for quant in profiles.compatibility_profile().quants)

    def test_another_word_in_the_table_is_refused(self):
        head = "id,label,family,bits_per_weight,bits_source,quality,rank,file_type,models,source\n"
        row = "q,Q,gguf_kquant,4,s,good,50,Q4_0,{},s\n"
        assert read_quants(head + row.format("mixtures"))[0].mixtures_only
        assert not read_quants(head + row.format(""))[0].mixtures_only
        with pytest.raises(Exception, match="models"):
            read_quants(head + row.format("dense"))

    def test_no_dense_model_is_offered_it(self, ground):
        room = replace(ground.here.room, host_bytes=256 * GIB)
        large = replace(ground, here=replace(ground.here, room=room))
        rows = found(large, "mxfp4").rows
        assert rows
        assert all(row.model.is_mixture for row in rows)
        assert MIXTURE in {row.model.id for row in rows}
        every = found(large, DENSE, all_builds=True)
        assert "mxfp4" not in {row.quant.id for row in every.rows}

    def test_who_asks_for_it_of_a_dense_model_gets_the_reason(self, ground):
        said = found(ground, DENSE, "mxfp4")
        assert (said.rows, said.hidden) == ((), 0)
        assert codes(said.ruled_out) == ["estimate_mixtures_only"]


class TestContext:
    @pytest.mark.parametrize(
        "changes", [{}, {"all_builds": True}, {"every_model": True}, {"words": ("q4_k_m",)}]
    )
    def test_nothing_beyond_the_training_has_a_figure(self, ground, changes):
        request = FitsRequest(**{"context": 100_000, **changes})
        rows = fits_of(ground, request).rows
        assert any(row.runs for row in rows)
        for row in rows:
            if row.model.context_trained < 100_000:
                assert row.fit is Fit.RULED_OUT
                assert row.estimate.decode is row.estimate.prompt is None
                assert codes(row.estimate.reasons) == ["estimate_beyond_context"]

    def test_who_names_a_quantization_sees_what_runs_and_how_many_do_not(self, ground):
        said = found(ground, "smollm2", "q4_k_m", context=100_000)
        assert said.rows == ()
        assert said.hidden == said.beyond > 1

    def test_models_that_are_too_large_are_counted_apart(self, ground):
        said = found(ground, "llama", context=100_000)
        assert 0 < said.beyond < said.hidden
        every = found(ground, "llama", context=100_000, every_model=True)
        by_fit = [row.fit for row in every.rows if not row.runs]
        assert by_fit.count(Fit.RULED_OUT) == said.beyond
        assert by_fit.count(Fit.NOWHERE) == said.hidden - said.beyond

    def test_a_model_whose_training_nobody_tells_says_so(self, ground):
        work = FitsWork(ground, (FitsRequest(words=(SMALL, "q4_k_m")),))
        work._wanted = [replace(find(SMALL, models()), context_trained=None)]
        while work.go_on():
            pass
        [row] = work.answers()[0].rows
        assert row.estimate.decode is not None
        assert "estimate_context_untold" in codes(row.estimate.reasons)


class TestUnusedCards:
    ENGINE = Devices("llama.cpp", "b1", (TestBf16.CPU,), ("CPU",))

    def machine(self, *cards):
        return Machine("Linux", "6", "x86_64", Cpu("Xeon", 2, 2), 16 * GIB, cards)

    def card(self, name="GeForce RTX 3090", *, integrated=False, backends=()):
        return Accelerator("NVIDIA", name, 24 * GIB, integrated, backends=backends)

    def test_a_card_that_the_engine_does_not_list_is_named(self):
        [reason] = unused_cards(self.machine(self.card()), self.ENGINE)
        assert reason.code == "estimate_card_unused"
        assert "GeForce RTX 3090" in reason.text()
        assert "processors only" in reason.text()

    def test_the_back_ends_that_there_are_are_named(self):
        engine = replace(self.ENGINE, backends=("CPU", "CUDA"))
        [reason] = unused_cards(self.machine(self.card("Radeon RX 7900")), engine)
        assert "llama.cpp for CUDA" in reason.text()

    @pytest.mark.parametrize("backends", [("CUDA",), None])
    def test_what_is_used_or_was_not_asked_about_is_no_reason(self, backends):
        assert unused_cards(self.machine(self.card(backends=backends)), self.ENGINE) == ()

    def test_graphics_beside_a_card_that_is_used_are_not_missed(self):
        cards = self.card(backends=("CUDA",)), self.card("UHD 620", integrated=True)
        assert unused_cards(self.machine(*cards), self.ENGINE) == ()

    def test_what_fits_says_so(self, home):
        machine = self.machine(self.card())
        meter = MeterFacts("CPU load", Source.MODELLED, MeterKind.AVERAGE, Scope.SYSTEM)
        calm = Conditions(None, None, None, None, 1.0, None)
        answers = memory_answers(machine)
        facts = MachineFacts(machine, "a machine", meter, self.ENGINE, calm, answers, ())
        said = found(read_ground(home, facts=facts), SMALL)
        assert "estimate_card_unused" in codes(said.told)
        # and how much of its memory may be taken
        [limit] = said.limits
        assert "14.4 GiB: 90 %" in limit.text()
        assert [row.fit for row in said.rows] == [Fit.IN_MEMORY]

    def test_a_silent_engine_has_a_reason_of_its_own(self):
        assert unused_cards(self.machine(self.card()), None) == ()
