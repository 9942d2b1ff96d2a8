"""The layers of a GGUF header, each with what the engine keeps and computes in it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from desktop.estimate.architectures import StateRule, Traits
from desktop.estimate.header_fields import MAX_CONTEXT, MAX_EXPERTS, Fields
from desktop.records.build import Header
from desktop.records.model import Attention, LayerGroup, Recurrent
from desktop.rules.header_keys import SHARED_FROM, is_read

_LAYER_TENSOR: Final = re.compile(r"blk\.(\d{1,4})\.(.+)")
_WINDOW: Final = "attention.sliding_window"
_PATTERN: Final = "attention.sliding_window_pattern"
_HEADS: Final = "attention.head_count"
_KV_HEADS: Final = "attention.head_count_kv"
_LATENT: Final = "attention.kv_lora_rank"
_GROUPS: Final = "ssm.group_count"
_INDEXER: Final = "attention.indexer.key_length"
_INDEXERS: Final = "attention.indexer.types"
_WHOLE_SIZES: Final = ("attention.key_length", "attention.value_length")
_SLIDING_SIZES: Final = ("attention.key_length_swa", "attention.value_length_swa")
_LATENT_SIZES: Final = ("attention.key_length_mla", "attention.value_length_mla")
_INDEXED_CONTEXT: Final = 1 << 20
"""GLM-DSA models trained on shorter contexts have an indexer in every layer (glm-dsa.cpp)."""
_LITE_LAYERS: Final = frozenset({26, 27})
_LITE_KANANA: Final = (48, 128_256)
"""Layers and vocabulary."""
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
    heads = fields.by_layer(_HEADS, declared)
    if heads is None and traits.state is not StateRule.ALL:
        raise fields.lacks(_HEADS)
    heads = heads or zero
    kv_heads = fields.by_layer(_KV_HEADS, declared) or heads
    width = fields.by_layer("feed_forward_length", declared) or zero
    window = _window(fields, traits, layers)
    return _Numbers(
        heads,
        kv_heads,
        width,
        fields.by_layer("expert_used_count", declared, MAX_EXPERTS) or zero,
        window,
        _slides(fields, traits, kv_heads, layers) if window else (False,) * layers,
        _states(fields, traits, (kv_heads, width), declared)[:layers],
        _indexers(fields, layers),
        _first_sharing(fields, declared),
    )


def _first_sharing(fields: Fields, declared: int) -> int:
    """Layers from this one on read the cache of earlier ones; the first two have one to read."""
    shared = fields.number("attention.shared_kv_layers", max(0, declared - 2)) or 0
    return SHARED_FROM.get(fields.header.architecture, declared - shared)


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
    fields: Fields, traits: Traits, counts: tuple[tuple[int, ...], tuple[int, ...]], declared: int
) -> tuple[bool, ...]:
    """Which layers have a recurrent state. `counts`: each layer's K/V heads and width."""
    kv_heads, width = counts
    if traits.state in {StateRule.ALL, StateRule.BESIDE}:
        return (True,) * declared
    if traits.state is StateRule.NO_KV_HEADS:
        return tuple(heads == 0 for heads in kv_heads)
    if traits.state is StateRule.NO_KV_HEADS_NO_FEED_FORWARD:
        return tuple(h == 0 and w == 0 for h, w in zip(kv_heads, width, strict=True))
    if traits.state is StateRule.INTERVAL:
        told = fields.by_layer("attention.recurrent_layers", declared)
        every = fields.number("full_attention_interval") or traits.interval
        return tuple(map(bool, told or (int((i + 1) % every != 0) for i in range(declared))))
    return (False,) * declared


def _indexers(fields: Fields, layers: int) -> tuple[bool, ...]:
    """Which layers keep the keys of a sparse-attention indexer."""
    if not is_read(fields.header.architecture, _INDEXER):
        return (False,) * layers
    told = fields.by_layer(_INDEXERS, layers)
    long = (fields.number("context_length", MAX_CONTEXT) or 0) >= _INDEXED_CONTEXT
    if told is None and long and is_read(fields.header.architecture, _INDEXERS):
        raise fields.lacks(_INDEXERS)
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
    return _with_feed_forward(group, fields, (traits.gated, numbers.experts_used[i]), shapes)


def _with_attention(group: LayerGroup, fields: Fields, numbers: _Numbers, i: int) -> LayerGroup:
    whole = group.attention is Attention.LATENT
    own = [_LATENT_SIZES] if whole else [_SLIDING_SIZES] if numbers.slides[i] else []
    key, value = _head_sizes(fields, numbers.heads[0], [*own, _WHOLE_SIZES])
    folds = is_read(fields.header.architecture, _LATENT)
    latent = fields.required(_LATENT) if folds else None
    rope = fields.number("rope.dimension_count") if latent else None
    return replace(
        group,
        heads=numbers.heads[i],
        kv_heads=numbers.kv_heads[i],
        key_size=key,
        value_size=value,
        window=numbers.window if group.attention is Attention.SLIDING else None,
        latent_size=latent,
        rope_size=_latent_rope(fields, latent) if whole and latent else rope,
        query_latent_size=_query_latent(fields, len(numbers.slides)),
        indexer_size=fields.required(_INDEXER) if numbers.indexers[i] else None,
    )


def _attention(fields: Fields, traits: Traits, numbers: _Numbers, i: int) -> Attention:
    if numbers.states[i] and traits.state is not StateRule.BESIDE:
        return Attention.RECURRENT
    if traits.idle_layers and not numbers.kv_heads[i]:
        return Attention.NONE
    if not (numbers.heads[i] and numbers.kv_heads[i]):
        raise fields.absurd(_KV_HEADS if numbers.heads[i] else _HEADS, 0)
    if _is_folded(fields):
        return Attention.LATENT
    return Attention.SLIDING if numbers.slides[i] else Attention.FULL


def _is_folded(fields: Fields) -> bool:
    """Whether the compressed vector itself is kept: both sizes are told, or none is."""
    told = [bool(fields.number(key)) for key in _LATENT_SIZES]
    if any(told) and not all(told):
        raise fields.lacks(_LATENT_SIZES[told.index(False)])
    return all(told)


def _head_sizes(
    fields: Fields, heads: int, keys: Sequence[tuple[str, str]] = (_WHOLE_SIZES,)
) -> tuple[int, int]:
    """Elements of one head's key and value: by the first of `keys` that the header has.

    By default the first layer's heads share the hidden size out.
    """
    default = fields.required("embedding_length") // heads if heads else 0
    sizes = []
    for names in zip(*keys, strict=True):
        size = next((told for name in names if (told := fields.number(name))), default)
        if not size:
            raise fields.lacks(names[-1])
        sizes.append(size)
    return sizes[0], sizes[1]


def _query_latent(fields: Fields, layers: int) -> int | None:
    """The engine does not read it of DeepSeek 2's small models, which it knows by their layers."""
    told = fields.number("attention.q_lora_rank") or None
    if told is None or fields.header.architecture not in {"deepseek2", "mistral4"}:
        return told
    lite = layers in _LITE_LAYERS or (layers, fields.vocabulary()) == _LITE_KANANA
    return None if lite else told


def _latent_rope(fields: Fields, latent: int) -> int:
    """The rotated part of what latent attention keeps: the rest of the cache's row."""
    row = fields.required("attention.key_length")
    if row < latent:
        raise fields.absurd("attention.key_length", row)
    return row - latent


def _state(fields: Fields, traits: Traits, numbers: _Numbers) -> Recurrent:
    kind, heads = traits.state_kind, numbers.heads[0]
    if kind == "short_conv":
        return Recurrent(kind, conv_kernel=fields.required("shortconv.l_cache"))
    if kind == "rwkv":
        shifts = fields.number("token_shift_count")
        size = fields.required("wkv.head_size")
        return Recurrent(kind, head_size=size, shifts=2 if shifts is None else shifts)
    if kind in {"lightning", "kimi_delta"}:
        return _state_of_heads(fields, kind, heads)
    grouped = is_read(fields.header.architecture, _GROUPS)
    return Recurrent(
        kind,
        fields.required("ssm.conv_kernel"),
        fields.required("ssm.inner_size"),
        fields.required("ssm.state_size"),
        fields.required(_GROUPS) if grouped else None,
        fields.required("ssm.time_step_rank"),
    )


def _state_of_heads(fields: Fields, kind: str, heads: int) -> Recurrent:
    """A state for each of the first layer's heads."""
    if not heads:
        raise fields.absurd(_HEADS, 0)
    if kind == "lightning":
        return Recurrent(kind, time_step_rank=heads, head_size=_head_sizes(fields, heads)[0])
    size, kernel = fields.required("kda.head_dim"), fields.required("ssm.conv_kernel")
    return Recurrent(kind, conv_kernel=kernel, time_step_rank=heads, head_size=size)


def _with_feed_forward(
    group: LayerGroup, fields: Fields, told: tuple[bool, int], shapes: Shapes
) -> LayerGroup:
    """Widths as the tensors have them: `down` takes the width, and experts stand behind.

    `told`: whether there is a gate, and how many experts the header says are used.
    """
    gated, used = told
    width, *rest = shapes.get("ffn_down_exps.weight", (None,))
    experts = rest[-1] if len(rest) > 1 else None
    if experts and used > experts:
        raise fields.absurd("expert_used_count", used)
    return replace(
        group,
        feed_forward=shapes.get("ffn_down.weight", (None,))[0],
        gated=gated,
        experts=experts,
        experts_used=used or None if experts else None,
        expert_feed_forward=width if experts else None,
        shared_feed_forward=shapes.get("ffn_down_shexp.weight", (None,))[0],
    )
