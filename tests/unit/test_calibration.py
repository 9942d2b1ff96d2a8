"""What a machine's parts say of a build's tokens."""

import math

import pytest

from desktop.estimate.batch_reads import Held, held_weights
from desktop.estimate.calibration import (
    LAYER_GRAPHS,
    Work,
    batch_read_bytes,
    bytes_by_type,
    device_rates,
    inner_parts,
    prompt_terms,
    token_terms,
    unmeasured_types,
)
from desktop.estimate.residuals import span_of
from desktop.estimate.type_rates import MEASURED, TypeRate, rate_for, type_rates
from desktop.records.estimate import Interval
from desktop.records.model import WeightPart, WeightUse
from desktop.records.parts import PartRate, PartTest
from desktop.rules.ggml_types import BLOCKS

CPU = "CPU"
GB_S = {
    PartTest.MATVEC_F16: 32.5,
    PartTest.MATVEC_Q8_0: 29.3,
    PartTest.MATVEC_Q6_K: 27.9,
    PartTest.MATVEC_Q4_K: 27.2,
    PartTest.MATVEC_Q4_0: 20.7,
}


def rates_here(threads=2, **changes):
    found = [PartRate(CPU, t, threads, 1e9 * v, 0.02, 40, 2**29) for t, v in GB_S.items()]
    found.append(PartRate(CPU, PartTest.SMALL_GRAPH, threads, 2.7e-6, 0.1, 120))
    found.append(PartRate(CPU, PartTest.MATMUL_F16, threads, 192e9, 0.02, 40))
    return [r for r in found if r.test not in changes.get("without", ())]


def known(**changes):
    return {CPU: device_rates(rates_here(**changes), CPU, 2, last_level_cache_bytes=32 << 20)}


def test_a_measured_type_takes_its_bytes_at_its_rate():
    rates = type_rates(rates_here(), CPU, 2)
    assert 1 / rates["Q4_0"].byte_s == pytest.approx(20.7e9)
    assert rate_for("Q4_0", rates).near == ()


def test_another_number_of_threads_is_another_device():
    assert type_rates(rates_here(), CPU, 4) == {}
    assert device_rates(rates_here(), CPU, 4) is None
    assert device_rates(rates_here(), "CUDA0", None) is None


@pytest.mark.parametrize("kind", sorted(set(BLOCKS) - set(MEASURED.values())))
def test_a_type_that_is_not_measured_is_taken_from_near_ones_and_less_sure(kind):
    rates = type_rates(rates_here(), CPU, 2)
    found = rate_for(kind, rates)
    assert set(found.near) <= set(rates)
    assert found.near
    assert found.sd > rates[found.near[0]].sd
    # memory is the limit for some, unpacking for others: no type is out of all proportion
    assert 1e9 < 1 / found.byte_s < 40e9


def test_types_looked_up_in_tables_are_least_sure():
    rates = type_rates(rates_here(), CPU, 2)
    assert rate_for("IQ2_XS", rates).sd > 1.3 * rate_for("Q5_K", rates).sd


def test_between_the_two_limits_of_a_smaller_type():
    rates = {"Q4_K": TypeRate(1 / 20e9, 0.08)}
    found = rate_for("Q2_K", rates, processor=False)
    by_bytes, by_weights = 1 / 20e9, 1 / 20e9 * 144 / 84
    assert by_bytes < found.byte_s < by_weights


def test_a_processor_may_be_slower_with_types_that_it_does_not_store_anew():
    rates = type_rates(rates_here(), CPU, 2)
    here, card = rate_for("Q4_1", rates), rate_for("Q4_1", rates, processor=False)
    assert here.byte_s > card.byte_s
    assert here.sd > card.sd
    # as measured on this sort of processor: 10.6 GB/s of Q4_1, 15.6 GB/s of Q5_0
    for kind, gb_s in (("Q4_1", 10.6), ("Q5_0", 15.6)):
        found = rate_for(kind, rates)
        assert abs(math.log(1e-9 / gb_s / found.byte_s)) < 1.64 * found.sd


def test_nothing_measured_says_nothing_of_any_type():
    with pytest.raises(ValueError, match="measured"):
        rate_for("Q4_0", {})


def test_a_token_takes_its_bytes_its_layers_and_its_cache():
    work = Work(CPU, {"Q4_0": 207e6}, 24, "qwen2", cache_bytes=32.5e6)
    terms = token_terms([work], known())
    assert terms["CPU Q4_0"].seconds == pytest.approx(0.0107)
    assert terms["CPU cache"].seconds == pytest.approx(0.0015)
    assert terms["CPU layers"].seconds == pytest.approx(24 * LAYER_GRAPHS * 2.7e-6)
    assert "CPU in caches" not in terms
    assert span_of(terms).middle == pytest.approx(0.01366, rel=0.02)


def test_a_build_that_the_caches_hold_is_faster_and_less_sure():
    small = token_terms([Work(CPU, {"Q8_0": 30e6}, 6, "llama")], known())
    large = token_terms([Work(CPU, {"Q8_0": 300e6}, 6, "llama")], known())
    assert small["CPU in caches"].seconds < 0
    assert "CPU in caches" not in large
    narrow, wide = span_of(large), span_of(small)
    assert wide.high / wide.low > narrow.high / narrow.low


def test_a_cards_layers_cost_what_its_class_is_known_for():
    rates = [PartRate("CUDA0", t, None, 1e9 * v, 0.02, 40, 2**29) for t, v in GB_S.items()]
    of_class = device_rates(rates, "CUDA0", None, layer=Interval(10e-6, 30e-6))
    assert of_class.layer_s == pytest.approx(20e-6)
    # without it, and without a small graph, the fixed cost is not known: no answer
    assert device_rates(rates, "CUDA0", None) is None
    graph = PartRate("CUDA0", PartTest.SMALL_GRAPH, None, 12e-6, 0.1, 120)
    assert device_rates([*rates, graph], "CUDA0", None).layer_s == pytest.approx(48e-6)


def test_devices_work_one_after_another():
    rates = rates_here() + [
        PartRate("CUDA0", t, None, 1e10 * v, 0.02, 40, 2**29) for t, v in GB_S.items()
    ]
    both = {
        CPU: device_rates(rates, CPU, 2),
        "CUDA0": device_rates(rates, "CUDA0", None, layer=Interval(10e-6, 30e-6)),
    }
    works = [Work("CUDA0", {"Q4_K": 2.72e9}, 20, "llama"), Work(CPU, {"Q4_K": 2.72e9}, 12, "llama")]
    terms = token_terms(works, both)
    assert terms["CUDA0 Q4_K"].seconds == pytest.approx(0.01)
    # a processor does other work between its products
    assert terms["CPU Q4_K"].seconds == pytest.approx(0.107)
    assert token_terms(works, {CPU: both[CPU]}) is None


def test_what_no_table_knows_is_no_number():
    assert token_terms([Work(CPU, {"Q9_9": 1e6}, 2, "llama")], known()) is None
    assert token_terms([], known()) is None


def test_a_prompt_takes_two_operations_a_weight():
    work = Work(CPU, {"F16": 2 * 96e6}, 12, "llama")
    terms = prompt_terms([work], known(), 512)
    assert terms["CPU prompt F16"].seconds == pytest.approx(2 * 96e6 / 192e9 / 0.9)
    assert prompt_terms([work], known(without=(PartTest.MATMUL_F16,)), 512) is None


def seconds(terms):
    return sum(term.seconds for term in terms.values())


def test_a_prompt_of_one_token_takes_what_a_generated_one_does():
    work = Work(CPU, {"Q4_K": 4.5e9, "Q6_K": 0.4e9}, 32, "llama")
    token = span_of(token_terms([work], known()))
    one = prompt_terms([work], known(), 1)
    assert token.low < seconds(one) < token.high
    assert one["CPU reading"].seconds > 0.8 * seconds(one)


def test_computing_and_reading_hide_behind_each_other_for_the_most_part():
    work = Work(CPU, {"F16": 2e9}, 0, "llama")
    computed, read = 2e9 / 192e9 / 0.9, 2e9 / 32.5e9 * 1.07
    for tokens in (1, 4, 7, 40, 512):
        batch_s = tokens * seconds(prompt_terms([work], known(), tokens))
        assert max(tokens * computed, read) <= batch_s < tokens * computed + read
    assert seconds(prompt_terms([work], known(), 512)) == pytest.approx(computed, rel=1e-3)


def test_few_tokens_read_a_share_of_the_experts_and_many_all_of_them():
    held = (Held("Q4_K", 1e9), Held("Q4_K", 16e9, 8 / 128))
    work = Work("CUDA0", {"Q4_K": 2e9}, 0, "qwen3moe", held=held)
    assert batch_read_bytes(work, 1) == pytest.approx(2e9)
    assert batch_read_bytes(work, 16) == pytest.approx(1e9 + 16e9 * (1 - (15 / 16) ** 16))
    assert batch_read_bytes(work, 512) == pytest.approx(17e9)
    # two micro-batches, of which the second is short
    assert batch_read_bytes(work, 513) == pytest.approx(17e9 + 2e9)


def test_held_weights_have_the_share_that_a_token_reads():
    parts = (
        WeightPart(WeightUse.EMBEDDING, None, "Q6_K", 1000, 8),
        WeightPart(WeightUse.FEED_FORWARD, 0, "Q4_K", 300, 300),
        WeightPart(WeightUse.EXPERTS, 1, "Q4_K", 800, 100),
        WeightPart(WeightUse.EXPERTS, 2, "Q4_K", 800, 100),
        WeightPart(WeightUse.OTHER, 3, "F32", 40, 0),
    )
    assert held_weights(parts) == (Held("Q4_K", 300), Held("Q4_K", 1600, 0.125))


def test_work_counts_what_is_read_and_leaves_lookups_out():
    parts = (
        WeightPart(WeightUse.EMBEDDING, None, "Q6_K", 1000, 0),
        WeightPart(WeightUse.FEED_FORWARD, 0, "Q4_K", 300, 300),
        WeightPart(WeightUse.EXPERTS, 1, "Q4_K", 800, 100),
        WeightPart(WeightUse.OUTPUT, None, "Q6_K", 50, 50),
    )
    assert bytes_by_type(parts) == {"Q4_K": 400, "Q6_K": 50}
    assert [p.use for p in inner_parts(parts)] == [WeightUse.FEED_FORWARD, WeightUse.EXPERTS]


def test_types_without_a_rate_are_named_the_largest_first():
    work = Work(CPU, {"Q4_K": 9e6, "Q5_0": 1e6, "Q4_1": 5e6}, 2, "llama")
    assert unmeasured_types([work], known()) == ("Q4_1", "Q5_0")
