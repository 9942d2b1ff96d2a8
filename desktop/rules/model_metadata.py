"""What a GGUF header says of a model: its published facts under llama.cpp's keys.

For files that are made from facts (rehearsals, checks against the engine), never for real ones.
Source of the keys: llama-arch.cpp and the loaders in src/models of the llama.cpp inside
llama-cpp-python 0.3.36. What does not change shapes has a usual value.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from desktop.records.model import Attention, LayerGroup, Model, Recurrent

Value: TypeAlias = int | float | bool | str | tuple[int, ...] | tuple[bool, ...]
Metadata: TypeAlias = dict[str, Value]

_NONE: Final = frozenset({Attention.RECURRENT, Attention.NONE})
_USUAL: Final[Metadata] = {
    "attention.layer_norm_rms_epsilon": 1e-6,
    "attention.layer_norm_epsilon": 1e-6,
    "rope.freq_base": 1e6,
}
_BY_ARCHITECTURE: Final[Mapping[str, Mapping[str, Value]]] = {
    "command-r": {"logit_scale": 0.0625},
    "cohere2": {"logit_scale": 0.0625},
    "cohere2moe": {"logit_scale": 0.0625, "expert_gating_func": 2},
    "dbrx": {"attention.clamp_kqv": 8.0},
    "gptneox": {"use_parallel_residual": True},
    **dict.fromkeys(
        ("granite", "granitemoe", "granitehybrid"),
        {"logit_scale": 16.0, "residual_scale": 0.22, "embedding_scale": 12.0}
        | {"attention.scale": 0.0078},
    ),
    "jais": {"attention.max_alibi_bias": 8.0},
    "minimax-01": {"residual_scale": 3.55},
    "mpt": {"attention.max_alibi_bias": 8.0},
    "rwkv6": {"time_mix_extra_dim": 32, "time_decay_extra_dim": 64},
    "rwkv7": {"attention.decay_lora_rank": 64, "attention.iclr_lora_rank": 64}
    | {"attention.value_residual_mix_lora_rank": 32, "attention.gate_lora_rank": 128},
}
_MARKED: Final = frozenset({"gated_delta_net", "lightning"})
"""Kinds of recurrent layers that an array of the header marks."""
_SECTIONS: Final = frozenset({"qwen2vl", "qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe"})
"""Positions of several dimensions (pictures)."""
_GATING: Final[dict[str, int]] = {
    **dict.fromkeys(("deepseek2", "glm4moe", "dots1", "bailingmoe2", "ernie4_5-moe"), 2),
    **dict.fromkeys(("lfm2moe", "exaone-moe", "afmoe", "minimax-m2", "kimi-linear", "step35"), 2),
}
"""Sigmoid routers; the others are softmax."""


def metadata_of(model: Model) -> Metadata:
    """Keys and values of a GGUF header for `model`, with a vocabulary of numbers only."""
    layers = _layers(model)
    told: Metadata = {
        "vocab_size": model.vocabulary,
        "context_length": model.context_trained or 4096,
        "embedding_length": model.hidden,
        "block_count": len(layers),
        **_USUAL,
        **_BY_ARCHITECTURE.get(model.architecture, {}),
        **_heads(model, layers),
        **_widths(model, layers),
        **_experts(model, layers),
        **_states(layers),
    }
    if model.per_layer_embedding or model.architecture == "gemma4":
        told["embedding_length_per_layer_input"] = model.per_layer_embedding or 0
    return {
        "general.architecture": model.architecture,
        "general.name": model.name,
        "tokenizer.ggml.model": "no_vocab",
        **{f"{model.architecture}.{key}": value for key, value in told.items()},
    }


def _layers(model: Model) -> tuple[LayerGroup, ...]:
    """The group of each layer; groups without indices stand in order."""
    placed = {i: group for group in model.groups for i in group.indices}
    rest = (group for group in model.groups if not group.indices for _ in range(group.layers))
    return tuple(placed[i] if i in placed else next(rest) for i in range(model.layers))


def _heads(model: Model, layers: tuple[LayerGroup, ...]) -> Metadata:
    attending = [group for group in layers if group.attention not in _NONE]
    if not attending:
        return {}
    heads = _one_or_all(_most(g.heads for g in attending), layers, "heads")
    if model.architecture == "deci":  # a layer without heads has no attention at all
        heads = _by_layer(layers, lambda g: g.heads or 0)
    told: Metadata = {
        "attention.head_count": heads,
        "attention.head_count_kv": _kv_heads(layers),
    }
    if attending[0].attention is Attention.LATENT:
        return told | _latent(attending[0])
    full = next((g for g in attending if g.attention is Attention.FULL), attending[0])
    key = full.key_size or model.hidden // (full.heads or 1)
    told |= {"attention.key_length": key, "attention.value_length": full.value_size or key}
    told["rope.dimension_count"] = full.rope_size or key
    if model.architecture in _SECTIONS:
        told["rope.dimension_sections"] = (key // 8, key // 8, key // 8, 0)
    if full.latent_size:
        told["attention.kv_lora_rank"] = full.latent_size
    if full.query_latent_size:
        told["attention.q_lora_rank"] = full.query_latent_size
    return told | _windows(layers)


def _kv_heads(layers: tuple[LayerGroup, ...]) -> Value:
    """By layer; 0 marks a recurrent layer, but where the header has an array for those."""
    marked = any(g.recurrent and g.recurrent.kind in _MARKED for g in layers)
    if marked:
        return _most(group.kv_heads for group in layers)
    return _by_layer(layers, lambda g: g.kv_heads or 0)


def _latent(group: LayerGroup) -> Metadata:
    latent, rope = group.latent_size or 0, group.rope_size or 0
    told: Metadata = {
        "attention.key_length": latent + rope,
        "attention.value_length": latent,
        "attention.key_length_mla": group.key_size or 0,
        "attention.value_length_mla": group.value_size or 0,
        "attention.kv_lora_rank": latent,
        "rope.dimension_count": rope,
    }
    if group.query_latent_size:
        told["attention.q_lora_rank"] = group.query_latent_size
    if group.indexer_size:
        told |= {"attention.indexer.key_length": group.indexer_size}
        told |= {"attention.indexer.head_count": 64, "attention.indexer.top_k": 2048}
    return told


def _windows(layers: tuple[LayerGroup, ...]) -> Metadata:
    sliding = [group for group in layers if group.attention is Attention.SLIDING]
    if not sliding:
        return {}
    first = sliding[0]
    told: Metadata = {
        "attention.sliding_window": first.window or 0,
        "attention.sliding_window_pattern": tuple(
            group.attention is Attention.SLIDING for group in layers
        ),
        "rope.freq_base_swa": 1e4,
    }
    if first.key_size and first.value_size:
        told |= {"attention.key_length_swa": first.key_size}
        told |= {"attention.value_length_swa": first.value_size}
        told |= {"rope.dimension_count_swa": first.key_size}
    shared = sum(group.shares_cache for group in layers)
    return told | ({"attention.shared_kv_layers": shared} if shared else {})


def _widths(model: Model, layers: tuple[LayerGroup, ...]) -> Metadata:
    dense = {group.feed_forward for group in layers if group.feed_forward}
    by_layer = len(dense) > 1 or model.architecture in {"nemotron_h", "nemotron_h_moe"}
    if by_layer:
        return {"feed_forward_length": _by_layer(layers, _width)}
    return {"feed_forward_length": max(dense or map(_width, layers))}


def _width(group: LayerGroup) -> int:
    return group.feed_forward or group.expert_feed_forward or 0


def _experts(model: Model, layers: tuple[LayerGroup, ...]) -> Metadata:
    mixed = [i for i, group in enumerate(layers) if group.experts]
    if not mixed:
        return {}
    group = layers[mixed[0]]
    width, shared = group.expert_feed_forward or 0, group.shared_feed_forward or 0
    step = mixed[1] - mixed[0] if len(mixed) > 1 else 1
    lead = 0 if step > 1 else mixed[0]
    told: Metadata = {
        "expert_count": group.experts or 0,
        "expert_used_count": group.experts_used or 0,
        "expert_feed_forward_length": width,
        "leading_dense_block_count": lead,
        "interleave_moe_layer_step": step,
        "expert_shared_count": max(shared // width if width else 0, int(shared > 0)),
        "expert_gating_func": _GATING.get(model.architecture, 1),
        "expert_weights_scale": 1.0,
        "expert_weights_norm": True,
    }
    return told | ({"expert_shared_feed_forward_length": shared} if shared else {})


def _states(layers: tuple[LayerGroup, ...]) -> Metadata:
    found = [(i, group.recurrent) for i, group in enumerate(layers) if group.recurrent]
    if not found:
        return {}
    state = found[0][1]
    with_state = {i for i, _ in found}
    told: Metadata = {}
    if state.kind in _MARKED:
        told["attention.recurrent_layers"] = tuple(i in with_state for i in range(len(layers)))
    return told | _state(state)


def _state(state: Recurrent) -> Metadata:
    if state.kind == "short_conv":
        return {"shortconv.l_cache": state.conv_kernel or 0}
    if state.kind == "rwkv":
        return {"wkv.head_size": state.head_size or 0, "token_shift_count": state.shifts or 0}
    if state.kind == "kimi_delta":
        return {"ssm.conv_kernel": state.conv_kernel or 0, "kda.head_dim": state.head_size or 0}
    if state.kind == "lightning":
        return {}
    return {
        "ssm.conv_kernel": state.conv_kernel or 0,
        "ssm.inner_size": state.inner_size or 0,
        "ssm.state_size": state.state_size or 0,
        "ssm.time_step_rank": state.time_step_rank or 0,
        **({} if state.groups is None else {"ssm.group_count": state.groups}),
    }


def _one_or_all(most: int, layers: tuple[LayerGroup, ...], name: str) -> Value:
    """One number where all layers that have one have the same; else one a layer."""
    told = {number for group in layers if (number := getattr(group, name))}
    return most if len(told) == 1 else _by_layer(layers, lambda g: getattr(g, name) or 0)


def _by_layer(layers: tuple[LayerGroup, ...], of: Callable[[LayerGroup], int]) -> Value:
    numbers = tuple(of(group) for group in layers)
    return numbers[0] if len(set(numbers)) == 1 else numbers


def _most(numbers: Iterable[int | None]) -> int:
    return max(number or 0 for number in numbers)
