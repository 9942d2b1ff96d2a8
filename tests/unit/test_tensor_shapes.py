"""The tensors that a model's published facts tell: as many elements as it is said to have."""

import dataclasses
import math

import pytest

from desktop import resources
from desktop.estimate.catalogue import read_models
from desktop.records.model import Attention, LayerGroup, Model
from desktop.rules.tensor_shapes import layers_of, plan_of, tensors_of
from desktop.rules.tensor_table import RECIPES
from devtools.tiny_models import tiny

CATALOGUE = {m.id: m for m in read_models(resources.text("catalogue/models.jsonl"))}
WITHIN = 0.005
APART: dict[str, str] = {}
"""Models whose published count is another one, and why: none today."""
UNCOVERED: dict[str, str] = {}
"""Models whose architecture has no recipe, and why: none today; their sizes would be by bits."""
FULL = LayerGroup(2, Attention.FULL, heads=4, kv_heads=2, key_size=8, value_size=8, feed_forward=64)
SMALL = Model("m", "M", "llama", 1, 32, 100, (FULL,), tied=False)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_as_many_elements_as_published(name):
    model = CATALOGUE[name]
    tensors = tensors_of(model)
    if name in UNCOVERED:
        assert tensors is None, "no exception any more"
        return
    elements = sum(math.prod(shape) for _, shape in tensors)
    apart = abs(elements / model.parameters - 1)
    if name in APART:
        assert apart > WITHIN, "no exception any more"
    else:
        assert apart <= WITHIN, f"{elements} against {model.parameters}"


def test_names_and_shapes():
    assert tensors_of(SMALL)[:6] == (
        ("output.weight", (32, 100)),
        ("output_norm.weight", (32,)),
        ("token_embd.weight", (32, 100)),
        ("blk.0.attn_k.weight", (32, 16)),
        ("blk.0.attn_norm.weight", (32,)),
        ("blk.0.attn_output.weight", (32, 32)),
    )
    assert len(tensors_of(SMALL)) == 3 + 2 * 9


def test_tied_models_have_no_output_matrix():
    tied = dataclasses.replace(SMALL, tied=True)
    assert "output.weight" not in dict(tensors_of(tied))


def test_the_head_size_is_a_heads_share_where_it_is_not_told():
    group = dataclasses.replace(FULL, key_size=None, value_size=None)
    assert tensors_of(dataclasses.replace(SMALL, groups=(group,))) == tensors_of(SMALL)


@pytest.mark.parametrize(
    "change",
    [
        {"architecture": "unheard-of"},
        {"groups": (dataclasses.replace(FULL, kv_heads=None),)},
        {"groups": (dataclasses.replace(FULL, indices=(0, 0)),)},
        {"groups": (dataclasses.replace(FULL, indices=(0, 5)),)},
        {"hidden": 0},
    ],
)
def test_no_answer_without_the_facts(change):
    assert tensors_of(dataclasses.replace(SMALL, **change)) is None


def test_layers_stand_where_their_groups_say():
    first = dataclasses.replace(FULL, layers=2, indices=(1, 3))
    rest = dataclasses.replace(FULL, layers=2, feed_forward=128)
    model = dataclasses.replace(SMALL, groups=(first, rest))
    assert [group.feed_forward for group in layers_of(model)] == [128, 64, 128, 64]
    assert plan_of(model).layers == (1, 0, 1, 0)


def test_gemma_4_takes_keys_as_values_in_full_layers_but_not_in_models_for_phones():
    wide = dict(tensors_of(tiny("gemma4")))
    assert "blk.0.attn_v.weight" in wide
    assert "blk.3.attn_v.weight" not in wide
    phone = dataclasses.replace(tiny("gemma4"), per_layer_embedding=32)
    assert "blk.3.attn_v.weight" in dict(tensors_of(phone))


@pytest.mark.parametrize("architecture", RECIPES)
def test_every_architecture_has_a_small_model(architecture):
    tensors = tensors_of(tiny(architecture))
    assert len({name for name, _ in tensors}) == len(tensors) > 24
