"""Memory by device and purpose."""

from dataclasses import replace

import pytest

from desktop.builds.header import read_header
from desktop.builds.synthetic import SMOLLM2_135M, make_synthetic
from desktop.errors import GramError
from desktop.estimate.cache import cache_bytes
from desktop.estimate.memory import PROCESS_BYTES, Needs, host_bytes, needs
from desktop.estimate.placement import ON_HOST, ON_ONE_CARD, Placement, spread
from desktop.records.build import Header, TensorInfo
from desktop.records.estimate import Use
from desktop.records.model import (
    Attention,
    LayerGroup,
    Model,
    SizeBasis,
    WeightPart,
    Weights,
    WeightUse,
)

USE = Use(2048)
LAYER = LayerGroup(
    4, Attention.FULL, heads=8, kv_heads=2, key_size=64, value_size=64, feed_forward=256
)
MIXED = LayerGroup(
    4, Attention.FULL, heads=8, kv_heads=2, key_size=64, value_size=64,
    experts=8, experts_used=2, expert_feed_forward=64,
)  # fmt: skip
LAYER_BYTES = 100
EXPERT_BYTES = 1000
EMBEDDING_BYTES = 50
OUTPUT_BYTES = 60


def model(group=LAYER, *, tied=False, **fields):
    base = {"id": "m", "name": "M", "architecture": "llama", "parameters": 1000}
    base |= {"hidden": 512, "vocabulary": 1000, "tied": tied}
    return Model(**(base | fields), groups=(group,))


def weights(*, tied=False):
    ends = [WeightPart(WeightUse.OUTPUT, None, "Q8_0", OUTPUT_BYTES, OUTPUT_BYTES)]
    if not tied:
        ends.append(WeightPart(WeightUse.EMBEDDING, None, "Q8_0", EMBEDDING_BYTES, 0))
    layers = [
        WeightPart(WeightUse.ATTENTION, i, "Q8_0", LAYER_BYTES, LAYER_BYTES) for i in range(4)
    ]
    layers += [WeightPart(WeightUse.EXPERTS, i, "Q8_0", EXPERT_BYTES, 1) for i in range(4)]
    return Weights("q8_0", SizeBasis.EXACT, (*ends, *layers))


def held(needed: Needs) -> tuple[list[int], int]:
    return [card.weights_bytes for card in needed.cards], needed.host.weights_bytes


ALL_LAYERS = 4 * (LAYER_BYTES + EXPERT_BYTES)


def test_without_cards_all_is_on_the_host():
    needed = needs(model(), weights(), USE, ON_HOST)
    assert needed.cards == ()
    assert held(needed)[1] == ALL_LAYERS + EMBEDDING_BYTES + OUTPUT_BYTES
    assert needed.host.cache_bytes == cache_bytes(model(), USE)
    assert needed.total_bytes == needed.host.total_bytes


def test_a_card_takes_all_but_the_embedding():
    needed = needs(model(), weights(), USE, ON_ONE_CARD)
    assert held(needed) == ([ALL_LAYERS + OUTPUT_BYTES], EMBEDDING_BYTES)
    assert needed.cards[0].cache_bytes == cache_bytes(model(), USE)
    assert needed.host.cache_bytes == 0


def test_an_embedding_that_is_the_output_lies_on_both_sides():
    needed = needs(model(tied=True), weights(tied=True), USE, ON_ONE_CARD)
    assert held(needed) == ([ALL_LAYERS + OUTPUT_BYTES], OUTPUT_BYTES)
    alone = needs(model(tied=True), weights(tied=True), USE, ON_HOST)
    assert held(alone)[1] == ALL_LAYERS + OUTPUT_BYTES


def test_the_last_layers_go_first_and_the_output_counts_as_one():
    layer = LAYER_BYTES + EXPERT_BYTES
    for count, expected in ((0, 0), (1, OUTPUT_BYTES), (3, OUTPUT_BYTES + 2 * layer)):
        needed = needs(model(), weights(), USE, Placement((1.0,), gpu_layers=count))
        assert held(needed)[0] == [expected]


def test_experts_of_the_first_layers_stay_on_the_host():
    placement = Placement((1.0,), experts_on_host=3)
    needed = needs(model(MIXED), weights(), USE, placement)
    assert held(needed)[1] == EMBEDDING_BYTES + 3 * EXPERT_BYTES


def test_a_cache_that_is_kept_on_the_host():
    needed = needs(model(), weights(), USE, Placement((1.0,), cache_on_host=True))
    assert needed.cards[0].cache_bytes == 0
    assert needed.host.cache_bytes == cache_bytes(model(), USE)


def test_cards_share_the_layers_in_order():
    assert spread(model(), Placement((1.0, 1.0))).layers == (0, 0, 0, 1)
    assert spread(model(), Placement((3.0, 1.0))).layers == (0, 0, 0, 0)
    assert spread(model(), Placement((1.0, 1.0))).output == 1
    assert spread(model(), Placement((1.0, 1.0), gpu_layers=3)).layers == (None, None, 0, 0)


def test_layers_that_predict_further_tokens_count_among_the_offloaded():
    where = spread(model(predict_layers=1), Placement((1.0,), gpu_layers=3))
    assert where.layers == (None, None, None, 0)


@pytest.mark.parametrize(
    ("placement", "code"),
    [
        (Placement((-1.0,)), "placement_bad"),
        (Placement((0.0, 0.0)), "placement_bad"),
        (Placement((float("nan"),)), "placement_bad"),
        (Placement((1.0,), gpu_layers=-1), "bad_number"),
        (Placement((1.0,), experts_on_host=-1), "bad_number"),
    ],
)
def test_placements_that_nobody_can_have(placement, code):
    with pytest.raises(GramError) as caught:
        needs(model(), weights(), USE, placement)
    assert caught.value.code == code


def test_logits_of_each_sequence_lie_on_the_host():
    assert needs(model(), weights(), USE, ON_ONE_CARD).host.output_bytes == 4 * 1000
    four = needs(model(), weights(), Use(2048, sequences=4), ON_ONE_CARD)
    assert four.host.output_bytes == 4 * 4 * 1000
    assert four.cards[0].output_bytes == 0


def test_a_card_that_computes_with_the_hosts_weights_copies_them():
    """One matrix of 512 times 2^20 weights in Q8_0 at a time: 544 MiB."""
    wide = model(replace(LAYER, feed_forward=1 << 20))
    parts = (WeightPart(WeightUse.FEED_FORWARD, i, "Q8_0", 3 << 30, 3 << 30) for i in range(4))
    weighed = Weights("q8_0", SizeBasis.EXACT, tuple(parts))
    half = Placement((1.0,), gpu_layers=2)

    def scratch(placement, tokens):
        use = Use(2048, micro_batch=tokens)
        return needs(wide, weighed, use, placement).cards[0].compute_bytes

    copy = 544 << 20
    assert scratch(half, 32) > copy
    assert scratch(half, 32) - scratch(ON_ONE_CARD, 32) > 0.7 * copy  # in part in freed places
    assert scratch(half, 16) < copy  # so few tokens the host computes itself


def test_what_runs_beside_it_comes_on_top():
    draft = needs(model(), weights(), USE, ON_ONE_CARD)
    both = needs(model(), weights(), USE, ON_ONE_CARD, (draft, draft))
    assert both.cards[0].extra_bytes == 2 * draft.cards[0].total_bytes
    assert both.host.extra_bytes == 2 * draft.host.total_bytes
    assert both.total_bytes == 3 * draft.total_bytes
    with pytest.raises(GramError, match="on cards it is not on"):
        needs(model(), weights(), USE, ON_HOST, (draft,))


def test_an_architecture_that_is_not_known_gets_a_reason():
    with pytest.raises(GramError) as caught:
        needs(model(architecture="brandnew"), weights(), USE, ON_HOST)
    assert caught.value.code == "architecture_unknown"


def test_the_reference_shapes(tmp_path):
    make_synthetic(tmp_path / "a.gguf", SMOLLM2_135M)
    found = host_bytes(read_header(tmp_path / "a.gguf"), Use(512))
    weights_bytes, cache = 96_576_768, 30 * 3 * (64 + 64) * 2 * 512
    scratch = round(98.25 * 2**20)  # the engine's own account: 98.25 MiB
    logits = 49152 * 4
    assert found == pytest.approx(
        weights_bytes + cache + scratch + logits + PROCESS_BYTES, abs=2**20
    )


def test_of_an_unknown_architecture_the_weights_are_a_lower_bound():
    tensors = (TensorInfo("a", (32,), "Q4_0", 0, 18),)
    header = Header(3, {"general.architecture": "brandnew"}, tensors)
    assert host_bytes(header, Use(512)) == 18 + PROCESS_BYTES


@pytest.mark.parametrize("context", [0, -1, (1 << 24) + 1])
def test_absurd_contexts(context):
    header = Header(3, {"general.architecture": "llama"}, ())
    with pytest.raises(GramError) as caught:
        host_bytes(header, Use(context))
    assert caught.value.code == "bad_number"
    assert f"{context:,}" in str(caught.value)
