"""The layers of a GGUF header, each with what the engine keeps and computes in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from desktop.errors import GramError
from desktop.estimate.architectures import StateRule, Traits
from desktop.estimate.header_fields import MAX_CONTEXT, MAX_EXPERTS, Fields
from desktop.records.build import Header
from desktop.records.model import Attention, LayerGroup, Recurrent

_LAYER_TENSOR: Final = re.compile(r"blk\.(\d{1,4})\.(.+)")
_WINDOW: Final = "attention.sliding_window"
_PATTERN: Final = "attention.sliding_window_pattern"
_INDEXED_CONTEXT: Final = 1 << 20
"""GLM-DSA models trained on shorter contexts have an indexer in every layer (glm-dsa.cpp)."""
Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Numbers:
    """One number a layer."""

    heads: tuple[int, ...]
    kv_heads: tuple[int, ...]
    feed_forward: tuple[int, ...]
    experts_used: tuple[int, ...]
    window: int | None
    slides: tuple[bool, ...]
    states: tuple[bool, ...]
    indexers: tuple[bool, ...]
    first_sharing: int


def layers_in(header: Header, traits: Traits, declared: int, layers: int) -> list[LayerGroup]:
    """One group for each of the first `layers` of `declared` layers.

    Raises:
        GramError: `header_lacks`, `header_absurd`.
    """
    fields = Fields(header)
    numbers = _numbers(fields, traits, declared, layers)
    shapes = _shapes(header, layers)
    return [_layer(fields, traits, numbers, i, shapes[i]) for i in range(layers)]


def _numbers(fields: Fields, traits: Traits, declared: int, layers: int) -> _Numbers:
    zero = (0,) * declared
    heads = fields.by_layer("attention.head_count", declared) or zero
    kv_heads = fields.by_layer("attention.head_count_kv", declared) or heads
    width = fields.by_layer("feed_forward_length", declared) or zero
    window = _window(fields, traits, layers)
    shared = fields.number("attention.shared_kv_layers") or 0
    return _Numbers(
        heads,
        kv_heads,
        width,
        fields.by_layer("expert_used_count", declared, MAX_EXPERTS) or zero,
        window,
        _slides(fields, traits, kv_heads, layers) if window else (False,) * layers,
        _states(fields, traits, kv_heads, width, layers),
        _indexers(fields, layers),
        declared - shared if traits.sharing_from is None else traits.sharing_from,
    )


def _window(fields: Fields, traits: Traits, layers: int) -> int | None:
    """Tokens of the sliding window; None where no layer slides."""
    rule = traits.windows
    if rule is None or rule.only_layers not in {None, layers}:
        return None
    told = fields.number(_WINDOW, MAX_CONTEXT)
    if told is None and not rule.optional:
        told = rule.default or fields.required(_WINDOW)
    return (rule.fixed or told) if told else None


def _slides(
    fields: Fields, traits: Traits, kv_heads: tuple[int, ...], layers: int
) -> tuple[bool, ...]:
    rule = traits.windows
    if rule is None:
        return (False,) * layers
    told = fields.array(_PATTERN, layers)
    if told is not None:
        return tuple(map(bool, told))
    every = fields.number(_PATTERN)
    if every is None:
        every = fields.required(_PATTERN) if rule.every is None else rule.every
    if every == 0:
        return tuple(heads > 0 for heads in kv_heads[:layers])
    full = 0 if rule.first_full else every - 1
    return tuple(i % every != full for i in range(layers))


def _states(
    fields: Fields, traits: Traits, kv_heads: tuple[int, ...], width: tuple[int, ...], layers: int
) -> tuple[bool, ...]:
    """Which layers have a recurrent state."""
    if traits.state in {StateRule.ALL, StateRule.BESIDE}:
        return (True,) * layers
    if traits.state is StateRule.NO_KV_HEADS:
        return tuple(heads == 0 for heads in kv_heads[:layers])
    if traits.state is StateRule.NO_KV_HEADS_NO_FEED_FORWARD:
        return tuple(h == 0 and w == 0 for h, w in zip(kv_heads, width, strict=True))[:layers]
    if traits.state is StateRule.INTERVAL:
        told = fields.array("attention.recurrent_layers", layers)
        every = fields.number("full_attention_interval") or traits.interval
        return tuple(map(bool, told or (int((i + 1) % every != 0) for i in range(layers))))
    return (False,) * layers


def _indexers(fields: Fields, layers: int) -> tuple[bool, ...]:
    """Which layers keep the keys of a sparse-attention indexer."""
    if not fields.number("attention.indexer.key_length"):
        return (False,) * layers
    told = fields.array("attention.indexer.types", layers)
    if told is None and (fields.number("context_length", MAX_CONTEXT) or 0) >= _INDEXED_CONTEXT:
        raise GramError("header_lacks", name=fields.name, key="attention.indexer.types")
    return tuple(map(bool, told or (1,) * layers))


def _shapes(header: Header, layers: int) -> list[dict[str, tuple[int, ...]]]:
    """The shapes of each layer's tensors, by name."""
    found: list[dict[str, tuple[int, ...]]] = [{} for _ in range(layers)]
    for tensor in header.tensors:
        match = _LAYER_TENSOR.fullmatch(tensor.name)
        if match and int(match[1]) < layers:
            found[int(match[1])][match[2]] = tensor.shape
    return found


def _layer(fields: Fields, traits: Traits, numbers: _Numbers, i: int, shapes: Shapes) -> LayerGroup:
    kind = _attention(fields, traits, numbers, i)
    group = LayerGroup(
        layers=1,
        attention=kind,
        shares_cache=i >= numbers.first_sharing,
        recurrent=_state(fields, traits, numbers) if numbers.states[i] else None,
    )
    if kind not in {Attention.RECURRENT, Attention.NONE}:
        group = _with_attention(group, fields, numbers, i)
    return _with_feed_forward(group, traits, numbers.experts_used[i], shapes)


def _with_attention(group: LayerGroup, fields: Fields, numbers: _Numbers, i: int) -> LayerGroup:
    key, value = _head_sizes(fields, numbers, i)
    latent = fields.number("attention.kv_lora_rank") or None
    rope = fields.number("rope.dimension_count") if latent else None
    whole = group.attention is Attention.LATENT
    return replace(
        group,
        heads=numbers.heads[i] or None,
        kv_heads=numbers.kv_heads[i],
        key_size=key,
        value_size=value,
        window=numbers.window if group.attention is Attention.SLIDING else None,
        latent_size=latent,
        rope_size=_latent_rope(fields, latent) if whole else rope,
        query_latent_size=fields.number("attention.q_lora_rank") or None,
        indexer_size=fields.number("attention.indexer.key_length") if numbers.indexers[i] else None,
    )


def _attention(fields: Fields, traits: Traits, numbers: _Numbers, i: int) -> Attention:
    if numbers.states[i] and traits.state is not StateRule.BESIDE:
        return Attention.RECURRENT
    if not numbers.kv_heads[i]:
        return Attention.NONE
    if fields.number("attention.key_length_mla") and fields.number("attention.value_length_mla"):
        return Attention.LATENT
    return Attention.SLIDING if numbers.slides[i] else Attention.FULL


def _head_sizes(fields: Fields, numbers: _Numbers, i: int) -> tuple[int | None, int | None]:
    """Elements of one head's key and value. The first layer's heads share the hidden size out."""
    keys = [("attention.key_length", "attention.value_length")]
    if numbers.slides[i]:
        keys.insert(0, ("attention.key_length_swa", "attention.value_length_swa"))
    keys.insert(0, ("attention.key_length_mla", "attention.value_length_mla"))
    heads = numbers.heads[0]
    default = fields.required("embedding_length") // heads if heads else None
    key = next((size for k, _ in keys if (size := fields.number(k))), default)
    value = next((size for _, v in keys if (size := fields.number(v))), default)
    return key, value


def _latent_rope(fields: Fields, latent: int | None) -> int:
    """The rotated part of what latent attention keeps: the rest of the cache's row."""
    row = fields.required("attention.key_length")
    if latent is None or row < latent:
        found = str(row)
        raise GramError("header_absurd", name=fields.name, key="attention.key_length", found=found)
    return row - latent


def _state(fields: Fields, traits: Traits, numbers: _Numbers) -> Recurrent:
    kind, heads = traits.state_kind, numbers.heads[0]
    if kind == "short_conv":
        return Recurrent(kind, conv_kernel=fields.required("shortconv.l_cache"))
    if kind == "rwkv":
        shifts = fields.number("token_shift_count")
        size = fields.required("wkv.head_size")
        return Recurrent(kind, head_size=size, shifts=2 if shifts is None else shifts)
    if kind == "lightning":
        return Recurrent(kind, time_step_rank=heads, head_size=_head_sizes(fields, numbers, 0)[0])
    kernel = fields.required("ssm.conv_kernel")
    if kind == "kimi_delta":
        size = fields.required("kda.head_dim")
        return Recurrent(kind, conv_kernel=kernel, time_step_rank=heads, head_size=size)
    return Recurrent(
        kind,
        kernel,
        fields.required("ssm.inner_size"),
        fields.required("ssm.state_size"),
        fields.number("ssm.group_count"),
        fields.number("ssm.time_step_rank"),
    )


def _with_feed_forward(group: LayerGroup, traits: Traits, used: int, shapes: Shapes) -> LayerGroup:
    """Widths as the tensors have them: `down` takes the width, and experts stand behind."""
    width, *rest = shapes.get("ffn_down_exps.weight", (None,))
    experts = rest[-1] if len(rest) > 1 else None
    return replace(
        group,
        feed_forward=shapes.get("ffn_down.weight", (None,))[0],
        gated=traits.gated,
        experts=experts,
        experts_used=used or None if experts else None,
        expert_feed_forward=width if experts else None,
        shared_feed_forward=shapes.get("ffn_down_shexp.weight", (None,))[0],
    )
