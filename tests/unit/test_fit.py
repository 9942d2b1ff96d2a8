"""How much of a build fits."""

from dataclasses import replace

import pytest

from desktop.errors import GramError
from desktop.estimate.beside import predictor, projector_needs
from desktop.estimate.cache import cache_bytes
from desktop.estimate.fit import (
    Build,
    Room,
    by_free_bytes,
    choices,
    fits,
    longest_context,
    most_layers,
)
from desktop.estimate.memory import needs
from desktop.estimate.placement import ON_HOST, ON_ONE_CARD, Placement
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

MIB = 1 << 20
LAYERS, LAYER_BYTES = 8, 64 * MIB
USE = Use(8192)
GROUP = LayerGroup(
    LAYERS, Attention.FULL, heads=8, kv_heads=8, key_size=64, value_size=64, feed_forward=1024
)
MODEL = Model("m", "M", "llama", 1, 512, 1000, (GROUP,), tied=False)
WEIGHTS = Weights(
    "q8_0",
    SizeBasis.EXACT,
    (
        WeightPart(WeightUse.EMBEDDING, None, "Q8_0", MIB, 0),
        *(
            WeightPart(WeightUse.ATTENTION, i, "Q8_0", LAYER_BYTES, LAYER_BYTES)
            for i in range(LAYERS)
        ),
        WeightPart(WeightUse.OUTPUT, None, "Q8_0", MIB, MIB),
    ),
)
BUILD = Build(MODEL, WEIGHTS)


def card_bytes(use=USE, placement=ON_ONE_CARD):
    return needs(MODEL, WEIGHTS, use, placement).cards[0].total_bytes


class TestFits:
    def test_to_the_byte(self):
        needed = needs(MODEL, WEIGHTS, USE, ON_ONE_CARD)
        assert fits(needed, Room((card_bytes(),)))
        assert not fits(needed, Room((card_bytes() - 1,)))

    def test_the_margin_is_kept_free(self):
        needed = needs(MODEL, WEIGHTS, USE, ON_ONE_CARD)
        assert not fits(needed, Room((card_bytes(),), margin_bytes=1))

    def test_the_host_counts_where_it_is_asked_about(self):
        needed = needs(MODEL, WEIGHTS, USE, ON_HOST)
        assert fits(needed, Room(()))
        assert not fits(needed, Room((), host=needed.host.total_bytes - 1))

    def test_every_card_has_to_hold_its_part(self):
        needed = needs(MODEL, WEIGHTS, USE, Placement((1.0, 1.0)))
        free = [need.total_bytes for need in needed.cards]
        assert fits(needed, Room(tuple(free)))
        assert not fits(needed, Room((sum(free), free[1] - 1)))


class TestLongestContext:
    @pytest.mark.parametrize("context", [256, 1024, 8192])
    def test_just_the_room_of_a_context_holds_that_one(self, context):
        room = Room((card_bytes(Use(context)),))
        assert longest_context(BUILD, USE, ON_ONE_CARD, room) == context

    def test_one_byte_less_is_256_tokens_less(self):
        room = Room((card_bytes(Use(4096)) - 1,))
        assert longest_context(BUILD, USE, ON_ONE_CARD, room) == 4096 - 256

    def test_never_longer_than_asked(self):
        assert longest_context(BUILD, Use(1000), ON_ONE_CARD, Room((1 << 40,))) == 1000

    def test_none_where_the_weights_alone_are_too_much(self):
        assert longest_context(BUILD, USE, ON_ONE_CARD, Room((LAYERS * LAYER_BYTES,))) is None

    def test_a_depth_beyond_it_is_cut(self):
        room = Room((card_bytes(Use(1024)),))
        deep = replace(USE, depth=8000)
        assert longest_context(BUILD, deep, ON_ONE_CARD, room) == 1024


class TestMostLayers:
    def test_all_and_the_output(self):
        assert most_layers(BUILD, USE, ON_ONE_CARD, Room((1 << 40,))) == LAYERS + 1

    def test_each_layer_of_room_is_a_layer(self):
        half = Placement((1.0,), gpu_layers=4)
        room = Room((card_bytes(placement=half),))
        assert most_layers(BUILD, USE, ON_ONE_CARD, room) == 4

    def test_none_where_not_even_the_scratch_has_room(self):
        assert most_layers(BUILD, USE, ON_ONE_CARD, Room((0,))) is None

    def test_the_host_has_to_hold_the_rest(self):
        """Too few layers on the card, and the host is full."""
        part = needs(MODEL, WEIGHTS, USE, Placement((1.0,), gpu_layers=4))
        room = Room((part.cards[0].total_bytes,), host=part.host.total_bytes)
        assert most_layers(BUILD, USE, ON_ONE_CARD, room) == 4
        tight = replace(room, host=part.host.total_bytes - 1)
        assert most_layers(BUILD, USE, ON_ONE_CARD, tight) is None


class TestChoices:
    def test_whole_where_there_is_room(self):
        (only,) = choices(BUILD, USE, ON_ONE_CARD, Room((1 << 40,)))
        assert (only.use, only.placement.gpu_layers) == (USE, None)

    def test_a_shorter_context_comes_before_layers_on_the_host(self):
        """Public case B21."""
        first, second = choices(BUILD, USE, ON_ONE_CARD, Room((card_bytes(Use(2048)),)))
        assert (first.use.context, first.placement.gpu_layers) == (2048, None)
        assert second.use == USE
        assert second.placement.gpu_layers is not None
        assert second.placement.gpu_layers < LAYERS

    def test_every_choice_fits(self):
        room = Room((card_bytes(Use(2048)),), margin_bytes=10 * MIB)
        found = choices(BUILD, USE, ON_ONE_CARD, room)
        assert found
        assert all(fits(choice.needs, room) for choice in found)

    def test_none_at_all(self):
        assert choices(BUILD, USE, ON_ONE_CARD, Room((0,))) == ()

    def test_what_runs_beside_it_takes_room_as_well(self):
        other = needs(MODEL, WEIGHTS, Use(256), ON_ONE_CARD)
        room = Room((card_bytes() + other.cards[0].total_bytes,))
        together = Build(MODEL, WEIGHTS, (other,))
        assert longest_context(together, USE, ON_ONE_CARD, room) == USE.context
        less = replace(room, margin_bytes=1)
        assert longest_context(together, USE, ON_ONE_CARD, less) == USE.context - 256


def test_layers_are_shared_out_by_what_is_free():
    assert by_free_bytes((3 * MIB, MIB)).shares == (3 * MIB, MIB)


PROJECTOR = {
    "image_size": 336, "patch_size": 14, "attention.head_count": 16, "embedding_length": 1024,
    "feed_forward_length": 4096,
}  # fmt: skip
"""CLIP ViT-L/14 at 336 pixels: 576 patches."""


def projector(**changes):
    told = {f"clip.vision.{key}": value for key, value in (PROJECTOR | changes).items()}
    tensors = (TensorInfo("v.patch_embd.weight", (14, 14, 3, 1024), "F16", 0, 600 * MIB),)
    return Header(3, {"general.architecture": "clip"} | told, tensors)


class TestProjector:
    def test_weights_and_one_pictures_scores(self):
        (card, second), host = (found := projector_needs(projector(), 2)).cards, found.host
        assert card.weights_bytes == 600 * MIB
        assert card.compute_bytes == 4 * (16 * 576**2 + 4 * 1024 * 576)
        assert second.total_bytes == host.total_bytes == 0

    def test_without_cards_it_is_on_the_host(self):
        found = projector_needs(projector(), 0)
        assert found.cards == ()
        assert found.host.weights_bytes == 600 * MIB

    @pytest.mark.parametrize("value", [0, -1, 1 << 40, "336", 3.5])
    def test_absurd_numbers(self, value):
        with pytest.raises(GramError) as refused:
            projector_needs(projector(image_size=value), 1)
        assert refused.value.code == "header_absurd"

    def test_no_projector(self):
        with pytest.raises(GramError) as refused:
            projector_needs(Header(3, {"general.architecture": "llama"}, ()), 1)
        assert refused.value.code == "header_lacks"


class TestPredictor:
    def test_none_without_such_layers(self):
        assert predictor(MODEL) is None

    def test_one_layer_with_a_cache_of_its_own(self):
        found = predictor(replace(MODEL, predict_layers=1))
        assert found is not None
        assert (found.layers, found.predict_layers) == (1, 0)
        assert cache_bytes(found, USE) * LAYERS == cache_bytes(MODEL, USE)
