"""Models from GGUF headers: llama.cpp's rules of layers, and headers that nobody should trust."""

import dataclasses

import pytest

from desktop import resources
from desktop.errors import GramError
from desktop.estimate.architectures import TRAITS
from desktop.estimate.cache import cache_bytes
from desktop.estimate.catalogue import read_models
from desktop.estimate.header_model import model_of
from desktop.estimate.layers import layers_of
from desktop.records.build import Header, TensorInfo
from desktop.records.estimate import Use
from desktop.records.model import Attention
from desktop.rules.model_metadata import metadata_of
from desktop.rules.tensor_shapes import tensors_of

FULL, SLIDING = Attention.FULL, Attention.SLIDING
CATALOGUE = read_models(resources.text("catalogue/models.jsonl"))
BASE = {
    "block_count": 4, "embedding_length": 512, "vocab_size": 1000, "attention.head_count": 8,
    "attention.head_count_kv": 2, "context_length": 8192,
}  # fmt: skip

STATE = {
    "ssm__conv_kernel": 4, "ssm__inner_size": 1024, "ssm__state_size": 128,
    "ssm__group_count": 2, "ssm__time_step_rank": 8,
}  # fmt: skip
LATENT = {
    "attention__head_count_kv": 1, "attention__key_length": 576,
    "attention__value_length": 512, "attention__key_length_mla": 192,
    "attention__value_length_mla": 128, "attention__kv_lora_rank": 512,
}  # fmt: skip


def header(architecture="llama", tensors=None, **numbers):
    """A header of four layers; keys with two underscores for a dot."""
    told = BASE | {key.replace("__", "."): value for key, value in numbers.items()}
    metadata = {f"{architecture}.{key}": value for key, value in told.items() if value is not None}
    if tensors is None:
        tensors = {f"blk.{i}.ffn_down.weight": (2048, 512) for i in range(4)}
    infos = tuple(TensorInfo(name, shape, "F16", 0, 0) for name, shape in tensors.items())
    return Header(3, {"general.architecture": architecture} | metadata, infos)


def kinds(*args, **numbers):
    return [group.attention for group in layers_of(model_of(header(*args, **numbers)))]


def assert_absurd(**numbers):
    with pytest.raises(GramError) as refused:
        model_of(header(**numbers))
    assert refused.value.code == "header_absurd", refused.value.code


def in_file(model):
    """The header that a file of `model` has."""
    tensors = tensors_of(model)
    assert tensors is not None, model.id
    infos = tuple(TensorInfo(name, shape, "F16", 0, 0) for name, shape in tensors)
    return Header(3, dict(metadata_of(model)), infos)


@pytest.mark.parametrize("model", CATALOGUE, ids=lambda model: model.id)
def test_a_file_says_what_the_catalogue_says(model):
    found = model_of(in_file(model))
    for key in ("architecture", "hidden", "vocabulary", "tied", "context_trained"):
        assert getattr(found, key) == getattr(model, key), key
    for ours, theirs in zip(layers_of(found), layers_of(model), strict=True):
        gated = ours.gated if theirs.feed_forward or theirs.experts else theirs.gated
        told = dataclasses.replace(ours, layers=theirs.layers, indices=theirs.indices, gated=gated)
        assert told == theirs
    use = Use(min(model.context_trained or 4096, 32768))
    assert cache_bytes(found, use) == cache_bytes(model, use)


def test_without_key_sizes_heads_share_the_hidden_size():
    (group,) = model_of(header()).groups
    assert (group.layers, group.key_size, group.value_size) == (4, 64, 64)
    assert (group.heads, group.kv_heads, group.feed_forward) == (8, 2, 2048)


def test_without_a_number_of_kv_heads_there_are_as_many_as_heads():
    (group,) = model_of(header(attention__head_count_kv=None)).groups
    assert group.kv_heads == 8


class TestWindows:
    def test_every_sixth_layer_of_gemma_3_sees_all(self):
        found = kinds("gemma3", block_count=12, attention__sliding_window=1024)
        assert found == ([SLIDING] * 5 + [FULL]) * 2

    def test_without_a_window_gemma_3_slides_nowhere(self):
        assert kinds("gemma3") == [FULL] * 4

    def test_gemma_2_has_a_window_even_if_the_header_does_not_say(self):
        model = model_of(header("gemma2"))
        assert [group.window for group in layers_of(model)] == [4096, None] * 2

    def test_an_array_tells_each_layer(self):
        pattern = (True, False, False, True)
        found = kinds(
            "gemma4", attention__sliding_window=512, attention__sliding_window_pattern=pattern
        )
        assert found == [SLIDING, FULL, FULL, SLIDING]

    def test_a_number_is_an_interval(self):
        found = kinds("cohere2", attention__sliding_window=512, attention__sliding_window_pattern=2)
        assert found == [SLIDING, FULL] * 2

    def test_gemma_4_without_a_pattern_is_refused(self):
        with pytest.raises(GramError, match="pattern"):
            model_of(header("gemma4", attention__sliding_window=512))

    def test_smallthinker_begins_with_a_full_layer(self):
        found = kinds("smallthinker", attention__sliding_window=4096)
        assert found == [FULL, SLIDING, SLIDING, SLIDING]

    def test_llama_4s_chunks_are_8192_whatever_the_header_says(self):
        model = model_of(header("llama4", attention__sliding_window=1))
        assert {group.window for group in model.groups} == {8192, None}

    def test_exaone_4_slides_only_with_64_layers(self):
        assert set(kinds("exaone4", attention__sliding_window=4096)) == {FULL}
        many = kinds("exaone4", block_count=64, attention__sliding_window=4096)
        assert many.count(FULL) == 16

    def test_a_full_architecture_ignores_a_window(self):
        """Mistral 7B v0.1 declares one, and llama.cpp does not apply it."""
        assert set(kinds("llama", attention__sliding_window=4096)) == {FULL}

    def test_sliding_heads_may_have_a_size_of_their_own(self):
        model = model_of(header(
            "gemma4", attention__sliding_window=512, attention__key_length=512,
            attention__value_length=512, attention__key_length_swa=256,
            attention__value_length_swa=256,
            attention__sliding_window_pattern=(True, True, True, False),
        ))  # fmt: skip
        assert [group.key_size for group in layers_of(model)] == [256, 256, 256, 512]


class TestStates:
    def test_every_fourth_layer_of_qwen_3_next_attends(self):
        found = kinds("qwen3next", **STATE)
        assert found == [Attention.RECURRENT] * 3 + [FULL]

    def test_the_header_may_name_another_interval(self):
        found = kinds("qwen3next", full_attention_interval=2, **STATE)
        assert found == [Attention.RECURRENT, FULL] * 2

    def test_layers_without_kv_heads_are_recurrent(self):
        found = kinds("granitehybrid", attention__head_count_kv=(0, 0, 2, 0), **STATE)
        assert found == [Attention.RECURRENT, Attention.RECURRENT, FULL, Attention.RECURRENT]

    def test_nemotron_hs_layers_have_one_part_each(self):
        found = kinds(
            "nemotron_h", attention__head_count_kv=(0, 0, 2, 0),
            feed_forward_length=(0, 2048, 0, 0), **STATE,
        )  # fmt: skip
        assert found == [Attention.RECURRENT, Attention.NONE, FULL, Attention.RECURRENT]

    def test_falcon_h1_has_both_in_each_layer(self):
        (group,) = model_of(header("falcon-h1", **STATE)).groups
        assert group.attention is FULL
        assert group.recurrent is not None

    def test_a_state_that_the_header_does_not_describe_is_missing(self):
        with pytest.raises(GramError) as refused:
            model_of(header("mamba2"))
        assert refused.value.code == "header_lacks"


class TestSharing:
    def test_gemma_3ns_layers_from_the_twentieth_on_keep_nothing(self):
        model = model_of(header("gemma3n", block_count=30, attention__sliding_window=512))
        assert sum(group.shares_cache for group in layers_of(model)) == 10

    def test_gemma_4_says_how_many(self):
        model = model_of(header(
            "gemma4", attention__sliding_window=512, attention__shared_kv_layers=1,
            attention__sliding_window_pattern=(True, True, False, False),
        ))  # fmt: skip
        assert [group.shares_cache for group in layers_of(model)] == [False] * 3 + [True]


class TestLatent:
    def test_the_row_is_the_latent_and_the_rotated_part(self):
        (group,) = model_of(header("deepseek2", **LATENT)).groups
        assert group.attention is Attention.LATENT
        assert (group.latent_size, group.rope_size, group.key_size) == (512, 64, 192)

    def test_files_of_before_the_folding_keep_whole_keys(self):
        numbers = LATENT | {
            "attention__key_length_mla": None, "attention__value_length_mla": None,
            "attention__head_count_kv": 8, "attention__key_length": 192,
            "attention__value_length": 128, "rope__dimension_count": 64,
        }  # fmt: skip
        (group,) = model_of(header("deepseek2", **numbers)).groups
        assert (group.attention, group.kv_heads, group.key_size) == (FULL, 8, 192)

    def test_a_row_smaller_than_the_latent_is_absurd(self):
        with pytest.raises(GramError) as refused:
            model_of(header("deepseek2", **(LATENT | {"attention__key_length": 100})))
        assert refused.value.code == "header_absurd"

    def test_indexers_of_some_layers(self):
        model = model_of(header(
            "glm-dsa", attention__indexer__key_length=128,
            attention__indexer__types=(1, 0, 0, 1), **LATENT,
        ))  # fmt: skip
        assert [group.indexer_size for group in layers_of(model)] == [128, None, None, 128]


def test_layers_that_predict_further_tokens_are_not_of_the_model():
    model = model_of(header("glm4moe", nextn_predict_layers=1))
    assert (model.layers, model.predict_layers) == (3, 1)


def test_experts_are_read_from_their_tensors():
    tensors = {f"blk.{i}.ffn_down_exps.weight": (768, 512, 64) for i in range(1, 4)}
    tensors |= {"blk.0.ffn_down.weight": (2048, 512), "blk.1.ffn_down_shexp.weight": (96, 512)}
    model = model_of(header("qwen3moe", tensors, expert_used_count=8))
    first, second, *_ = layers_of(model)
    assert (first.feed_forward, first.experts, first.experts_used) == (2048, None, None)
    assert (second.experts, second.experts_used, second.expert_feed_forward) == (64, 8, 768)
    assert second.shared_feed_forward == 96


class TestHostile:
    def test_an_architecture_that_is_not_known(self):
        with pytest.raises(GramError) as refused:
            model_of(header("sparkle"))
        assert refused.value.code == "architecture_unknown"

    @pytest.mark.parametrize("key", ["block_count", "embedding_length"])
    def test_what_is_missing_is_named(self, key):
        with pytest.raises(GramError) as refused:
            model_of(header(**{key: None}))
        assert refused.value.code == "header_lacks"
        assert key in str(refused.value)

    @pytest.mark.parametrize("value", [-1, 1 << 40, "4", 4.0, (1, 2)])
    @pytest.mark.parametrize("key", ["block_count", "embedding_length", "context_length"])
    def test_numbers_that_are_none(self, key, value):
        assert_absurd(**{key: value})

    @pytest.mark.parametrize("key", ["block_count", "embedding_length"])
    def test_zero_layers_or_widths(self, key):
        assert_absurd(**{key: 0})

    @pytest.mark.parametrize("value", [(2, 2, 2), (2,) * 5, (2, 2, 2, -2), (2, 2, 2, 1 << 30)])
    def test_arrays_of_the_wrong_length_or_content(self, value):
        assert_absurd(attention__head_count_kv=value)

    def test_more_layers_that_predict_than_layers(self):
        assert_absurd(nextn_predict_layers=4)

    def test_a_header_without_tensors(self):
        with pytest.raises(GramError) as refused:
            model_of(header(tensors={}))
        assert refused.value.code == "header_lacks"

    def test_a_name_of_control_characters(self):
        found = header()
        found.metadata["general.name"] = "a\x1b[2J\n" + "b" * 500
        name = model_of(found).name
        assert name.isprintable()
        assert len(name) <= 120

    def test_tensors_of_layers_that_there_are_not(self):
        tensors = {"blk.9.ffn_down.weight": (1, 1), "blk.0.ffn_down.weight": (2048, 512)}
        assert layers_of(model_of(header(tensors=tensors)))[0].feed_forward == 2048

    @pytest.mark.parametrize("architecture", sorted(TRAITS))
    def test_no_architecture_breaks_on_an_empty_header(self, architecture):
        bare = dict.fromkeys(BASE)
        with pytest.raises(GramError):
            model_of(header(architecture, **bare))
