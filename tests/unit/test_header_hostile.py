"""Headers with keys missing, of the wrong type, absurd or of other architectures: all of them."""

import math
from dataclasses import replace
from functools import cache

import pytest

from desktop import resources
from desktop.builds.metadata import ArrayInfo
from desktop.errors import GramError
from desktop.estimate.architectures import TRAITS, StateRule
from desktop.estimate.beside import predictor
from desktop.estimate.cache import cache_bytes, cache_read_bytes
from desktop.estimate.catalogue import DEVICES, find, read_configurations
from desktop.estimate.header_model import model_of
from desktop.estimate.layers import MAX_LAYERS, layers_of
from desktop.estimate.memory import PROCESS_BYTES, host_bytes, needs
from desktop.estimate.placed_work import Side, Sides, placed_work
from desktop.estimate.placement import ON_HOST, Placement
from desktop.estimate.sizes import from_header
from desktop.estimate.speed import decode_speed
from desktop.estimate.targets import RESOURCE, read_targets, targets_for
from desktop.records.build import Header, TensorInfo
from desktop.records.estimate import Use
from desktop.records.model import Attention, LayerGroup, Model, Recurrent
from desktop.rules.header_keys import READ_BY
from desktop.rules.weight_parts import parts_of_header

USE = Use(1024, depth=1000)
PLACEMENTS = (ON_HOST, Placement((1.0, 1.0), gpu_layers=3, experts_on_host=2))
BASE = {
    "block_count": 4, "context_length": 8192, "embedding_length": 512, "vocab_size": 1000,
    "feed_forward_length": 2048, "attention.head_count": 8, "attention.head_count_kv": 2,
    "attention.key_length": 64, "attention.value_length": 64, "rope.dimension_count": 32,
    "expert_count": 8, "expert_used_count": 2,
}  # fmt: skip
STATES = {
    "short_conv": {"shortconv.l_cache": 3},
    "rwkv": {"wkv.head_size": 64, "token_shift_count": 2},
    "kimi_delta": {"ssm.conv_kernel": 4, "kda.head_dim": 64},
    "": {},
    "lightning": {},
}
SSM = {
    "ssm.conv_kernel": 4, "ssm.inner_size": 1024, "ssm.state_size": 64, "ssm.time_step_rank": 16,
}  # fmt: skip
SPECIAL = {
    "attention.shared_kv_layers": 1, "attention.key_length_mla": 192,
    "attention.value_length_mla": 128, "attention.kv_lora_rank": 512,
    "attention.q_lora_rank": 256, "attention.indexer.key_length": 128,
    "attention.indexer.types": (1, 0, 1, 0), "attention.recurrent_layers": (1, 0, 1, 0),
    "full_attention_interval": 2, "embedding_length_per_layer_input": 64, "ssm.group_count": 2,
}  # fmt: skip
LATENT = {"attention.key_length": 576, "attention.value_length": 512, "attention.head_count_kv": 1}
STRANGE = (
    0, 1, 3, -1, 1 << 20, 1 << 40, True, "4", "", 4.0, math.nan, (), (1, 2), (0,) * 4, ("a",) * 4,
    (1 << 40,) * 4, (2, 0, 2, 0), ArrayInfo("u32", 5000), (1,) * 600,
)  # fmt: skip


USUAL = (0, -1, "4", (1, 2), 1 << 40)
"""For architectures of which the reader asks nothing that it does not ask of another."""
FIRSTS = {
    (traits, tuple(key for key in READ_BY if name in READ_BY[key])): name
    for name, traits in TRAITS.items()
}


def tensor(name, *shape):
    return TensorInfo(name, shape, "F16", 0, 2 * math.prod(shape))


TENSORS = (
    tensor("token_embd.weight", 512, 1000), tensor("output.weight", 512, 1000),
    *(tensor(f"blk.{i}.attn_k.weight", 512, 128) for i in range(4)),
    *(tensor(f"blk.{i}.ffn_down.weight", 2048, 512) for i in (0, 1, 3)),
    tensor("blk.2.ffn_down_exps.weight", 768, 512, 8), tensor("blk.2.ffn_down_shexp.weight", 96, 5),
    tensor("blk.9.ffn_down.weight", 2048, 512),
)  # fmt: skip


def metadata_of(architecture):
    """All keys that the engine reads for the architecture, with values that go together."""
    traits = TRAITS[architecture]
    told = dict(BASE)
    if traits.windows:
        told |= {"attention.sliding_window": 256, "attention.key_length_swa": 32}
        told |= {"attention.value_length_swa": 32}
        told |= {"attention.sliding_window_pattern": (True, False, True, False)}
    told |= STATES.get(traits.state_kind, SSM)
    if traits.state in {StateRule.NO_KV_HEADS, StateRule.NO_KV_HEADS_NO_FEED_FORWARD}:
        told["attention.head_count_kv"] = (0, 2, 0, 2)
    if traits.state is StateRule.NO_KV_HEADS_NO_FEED_FORWARD:
        told["feed_forward_length"] = (0, 0, 2048, 0)
    special = {key: value for key, value in SPECIAL.items() if architecture in READ_BY[key]}
    if "attention.key_length_mla" in special:
        told |= LATENT
        if traits.state is StateRule.NO_KV_HEADS:
            told["attention.head_count_kv"] = (0, 1, 0, 1)
    return told | special


def header(architecture, told, tensors=TENSORS):
    metadata = {f"{architecture}.{key}": value for key, value in told.items()}
    return Header(3, {"general.architecture": architecture} | metadata, tensors)


def sides():
    cards = read_configurations(resources.text(DEVICES))
    found = [find(name, cards) for name in ("geforce-rtx-3090-24gb", "epyc-9004-192gb")]
    targets = read_targets(resources.text(RESOURCE))
    card, host = (Side(c, targets_for(c, targets)[0].efficiencies[0][1]) for c in found)
    return Sides((card, card), host)


SIDES = sides()


def estimate(found):
    """All that is told of a file before it is measured."""
    return estimate_of(model_of(found), from_header(found))


@cache
def estimate_of(model, weights):
    for placement in PLACEMENTS:
        assert needs(model, weights, USE, placement).total_bytes > 0
        assert (
            decode_speed(placed_work(model, weights, USE, placement, SIDES).decode).high_tok_s > 0
        )
    assert cache_read_bytes(model, USE) >= 0
    predictor(model)
    return model


def check(found, what):
    """Nothing but an answer or an error with a code; and `host_bytes` always has an answer."""
    try:
        estimate(found)
    except GramError:
        assert host_bytes(found, USE) >= PROCESS_BYTES, what


@pytest.mark.parametrize("architecture", sorted(TRAITS))
class TestEach:
    def test_has_an_answer(self, architecture):
        told = metadata_of(architecture)
        assert estimate(header(architecture, told))

    def test_survives_each_key_missing(self, architecture):
        told = metadata_of(architecture)
        for key in told:
            check(header(architecture, {k: v for k, v in told.items() if k != key}), key)

    def test_survives_strange_values(self, architecture):
        told = metadata_of(architecture)
        values = STRANGE if architecture in FIRSTS.values() else USUAL
        for key in (*told, "nextn_predict_layers"):
            for value in values:
                check(header(architecture, told | {key: value}), (key, value))

    def test_survives_missing_heads_and_sizes_together(self, architecture):
        told = metadata_of(architecture)
        for start in ("attention.", "ssm.", "expert_", "attention.head_count", "attention.key"):
            left = {key: value for key, value in told.items() if not key.startswith(start)}
            check(header(architecture, left), start)

    def test_survives_other_tensors(self, architecture):
        told = metadata_of(architecture)
        for i, one in enumerate(TENSORS):
            check(header(architecture, told, TENSORS[:i] + TENSORS[i + 1 :]), one.name)
            flat = replace(one, shape=one.shape[:1])
            check(header(architecture, told, (flat, *TENSORS[:i], *TENSORS[i + 1 :])), one.name)
        check(header(architecture, told, ()), "no tensors")

    def test_takes_no_key_of_another_architecture(self, architecture):
        told = metadata_of(architecture)
        plain = header(architecture, told)
        strays = {key: v for key, v in SPECIAL.items() if architecture not in READ_BY[key]}
        strayed = header(architecture, told | strays)
        assert model_of(strayed) == model_of(plain)
        assert parts_of_header(strayed) == parts_of_header(plain)


class TestStrays:
    """Keys that would hide the cache if they counted."""

    @pytest.mark.parametrize(
        "stray",
        [{"attention.shared_kv_layers": 4}, {"embedding_length_per_layer_input": 64},
         {"attention.key_length_mla": 8, "attention.value_length_mla": 8,
          "attention.kv_lora_rank": 8}],
    )  # fmt: skip
    def test_of_llama(self, stray):
        model = model_of(header("llama", BASE | stray))
        assert cache_bytes(model, USE) == 4 * 1024 * 2 * (64 + 64) * 2
        assert model == model_of(header("llama", BASE))

    def test_gemma_3n_has_its_constants_whatever_the_header_says(self):
        told = metadata_of("gemma3n") | {"block_count": 30}
        told["attention.sliding_window_pattern"] = (True,) * 30
        model = model_of(header("gemma3n", told | {"attention.shared_kv_layers": 2}))
        assert sum(group.shares_cache for group in layers_of(model)) == 10
        assert model.per_layer_embedding == 256

    def test_the_small_deepseek_2_has_no_compressed_queries(self):
        told = metadata_of("deepseek2")
        small, large = (
            model_of(header("deepseek2", told | {"block_count": layers})) for layers in (27, 28)
        )
        assert {group.query_latent_size for group in small.groups} == {None}
        assert {group.query_latent_size for group in large.groups} == {256}


def code_of(architecture, **changes):
    told = metadata_of(architecture)
    for key, value in changes.items():
        told[key.replace("__", ".")] = value
    with pytest.raises(GramError) as refused:
        model_of(header(architecture, {k: v for k, v in told.items() if v is not None}))
    return refused.value.code, str(refused.value)


class TestWords:
    def test_an_encoder_without_heads(self):
        code, text = code_of("nomic-bert", attention__head_count=None)
        assert code == "header_lacks"
        assert "attention.head_count" in text

    def test_a_layer_without_heads(self):
        code, text = code_of("bert", attention__head_count_kv=(2, 2, 0, 2))
        assert code == "header_absurd"
        assert "attention.head_count_kv = 0" in text

    def test_one_of_the_two_sizes_of_latent_attention(self):
        code, text = code_of("deepseek2", attention__value_length_mla=None)
        assert code == "header_lacks"
        assert "attention.value_length_mla" in text

    def test_latent_attention_without_its_size(self):
        code, text = code_of("kimi-linear", attention__kv_lora_rank=None)
        assert code == "header_lacks"
        assert "attention.kv_lora_rank" in text

    def test_an_indexer_without_its_size(self):
        assert code_of("deepseek32", attention__indexer__key_length=None)[0] == "header_lacks"

    def test_more_experts_used_than_there_are(self):
        assert code_of("qwen3moe", expert_used_count=9)[0] == "header_absurd"

    def test_all_layers_sharing_a_cache(self):
        assert code_of("gemma4", attention__shared_kv_layers=4)[0] == "header_absurd"


def model(architecture, *groups, **more):
    return Model("m", "M", architecture, 1000, 64, 100, groups, tied=False, **more)


NONE = LayerGroup(1, Attention.NONE, feed_forward=128)


class TestModels:
    """What a catalogue row or a header could hold and no graph has."""

    def refused(self, found):
        with pytest.raises(GramError) as caught:
            needs(found, from_header(header("llama", BASE)), USE, ON_HOST)
        return caught.value.code

    def test_an_encoders_layer_without_attention(self):
        assert self.refused(model("bert", NONE)) == "layers_unclear"

    def test_a_state_of_no_known_kind(self):
        state = replace(
            NONE, attention=Attention.RECURRENT, recurrent=Recurrent("steam", 4, 64, 16, 1, 4)
        )
        assert self.refused(model("mamba2", state)) == "layers_unclear"

    def test_predictors_of_a_model_without_attention(self):
        with pytest.raises(GramError) as caught:
            predictor(model("mamba2", NONE, predict_layers=1))
        assert caught.value.code == "layers_unclear"

    def test_as_many_layers_without_attention_as_there_may_be(self):
        found = model("deci", replace(NONE, layers=MAX_LAYERS))
        assert needs(found, from_header(header("llama", BASE)), USE, ON_HOST).total_bytes > 0
