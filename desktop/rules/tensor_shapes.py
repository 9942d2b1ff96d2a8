"""The names and shapes of a model's tensors, from its published facts, as in a GGUF file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from desktop.records.model import Attention, LayerGroup, Model
from desktop.rules.tensor_table import (
    LATENT,
    LATENT_QUERY,
    NORMS_PER_HEAD,
    NORMS_PER_HEAD_FROM,
    PLAIN_QUERY,
    RECIPES,
    Recipe,
)

Shape: TypeAlias = tuple[int, ...]
"""Fastest-varying dimension first."""
Tensor: TypeAlias = tuple[str, Shape]
Measures: TypeAlias = Mapping[str, int | None]

_MODELS_KEPT: Final = 512


@dataclass(frozen=True, slots=True)
class Plan:
    """A model's tensors, those of equal layers once."""

    outside: tuple[Tensor, ...]
    """Of no layer, by name."""
    kinds: tuple[tuple[Tensor, ...], ...]
    """Of a layer of each group, by name, without `blk.N.`."""
    layers: tuple[int, ...]
    """The number of each layer's group."""


def tensors_of(model: Model) -> tuple[Tensor, ...] | None:
    """All tensors of the text model: outside the layers, then by layer, each by name.

    That is the order in which llama.cpp quantizes them. Layers for drafting (MTP) and parts for
    pictures and sound are not among them. None where the architecture is not covered, or a measure
    is missing.
    """
    plan = plan_of(model)
    if plan is None:
        return None
    layers = ((i, plan.kinds[kind]) for i, kind in enumerate(plan.layers))
    inside = ((f"blk.{i}.{name}", shape) for i, kind in layers for name, shape in kind)
    return (*plan.outside, *inside)


@lru_cache(_MODELS_KEPT)
def plan_of(model: Model) -> Plan | None:
    """The tensors of `tensors_of`, told once for equal layers; None in the same cases."""
    recipe = RECIPES.get(model.architecture)
    layers = layers_of(model)
    if recipe is None or layers is None:
        return None
    numbers = {id(group): number for number, group in enumerate(model.groups)}
    try:
        return Plan(
            outside=tuple(sorted(_outside(model, recipe))),
            kinds=tuple(tuple(sorted(_layer(model, g, recipe))) for g in model.groups),
            layers=tuple(numbers[id(group)] for group in layers),
        )
    except _MissingError:
        return None


def layers_of(model: Model) -> tuple[LayerGroup, ...] | None:
    """The group of each layer, in order; None where the groups' indices do not fit together.

    Groups that do not say which layers they are fill those that are left.
    """
    told = {i: group for group in model.groups for i in group.indices}
    rest = (group for group in model.groups if not group.indices for _ in range(group.layers))
    claims = sum(len(group.indices) for group in model.groups)
    counted = sum(group.layers for group in model.groups if group.indices)
    total = model.layers
    if not (len(told) == claims == counted and all(0 <= i < total for i in told)):
        return None
    return tuple(told[i] if i in told else next(rest) for i in range(total))


def head_size(model: Model, group: LayerGroup) -> int | None:
    """Elements of one head's key; where not told, the hidden size shared among the heads."""
    if group.key_size or not group.heads:
        return group.key_size
    return model.hidden // group.heads


class _MissingError(Exception):
    """A measure that a shape needs is not known."""


def _outside(model: Model, recipe: Recipe) -> Iterator[Tensor]:
    measures = _model_measures(model)
    yield "token_embd.weight", (model.hidden, model.vocabulary)
    if not model.tied:
        yield "output.weight", (model.hidden, model.vocabulary)
    yield from _shapes(recipe.outside, measures)
    if model.per_layer_embedding:
        yield from _shapes(recipe.tables, measures)


def _layer(model: Model, group: LayerGroup, recipe: Recipe) -> Iterator[Tensor]:
    measures = _model_measures(model) | _layer_measures(model, group)
    for text in _parts(model, group, recipe):
        yield from _shapes(text, measures)


def _parts(model: Model, group: LayerGroup, recipe: Recipe) -> Iterator[str]:
    yield recipe.layer
    if group.attention in {Attention.FULL, Attention.SLIDING}:
        yield _attention(model, group, recipe)
    if group.attention is Attention.LATENT:
        yield (LATENT_QUERY if group.query_latent_size else PLAIN_QUERY) + LATENT
    if group.recurrent:
        yield recipe.recurrent
    if group.feed_forward:
        yield recipe.dense
    if group.experts:
        yield recipe.experts
    if group.shared_feed_forward:
        yield recipe.shared
    if model.per_layer_embedding:
        yield recipe.per_layer


def _attention(model: Model, group: LayerGroup, recipe: Recipe) -> str:
    """Gemma 4's full layers take their keys as values, but in its models for phones (E2B, E4B).

    Command R has norms for each head from 64 layers on.
    """
    keys_only = group.attention is Attention.FULL and not model.per_layer_embedding
    if model.architecture == "gemma4" and keys_only:
        return recipe.attention.replace("attn_v.weight n v; ", "")
    if model.architecture == "command-r" and model.layers >= NORMS_PER_HEAD_FROM:
        return recipe.attention + NORMS_PER_HEAD
    return recipe.attention


def _model_measures(model: Model) -> dict[str, int | None]:
    n, p = model.hidden, model.per_layer_embedding
    full = next((g for g in model.groups if g.attention is Attention.FULL), None)
    key = full and head_size(model, full)
    return {
        **{str(number): number for number in (1, 3, 4, 16, 64)},
        "n": n, "3n": 3 * n, "V": model.vocabulary, "p": p, "pl": _product(p, model.layers),
        "eh": key // 2 if key else None,
    }  # fmt: skip


def _layer_measures(model: Model, group: LayerGroup) -> dict[str, int | None]:
    """What each letter of the table is: heads, feed-forward widths, recurrent sizes."""
    key, heads, kv_heads = head_size(model, group), group.heads, group.kv_heads
    value = group.value_size or key
    q, k, v = _product(heads, key), _product(kv_heads, key), _product(kv_heads, value)
    rope, latent = group.rope_size, group.latent_size
    f, xf = group.feed_forward, group.expert_feed_forward
    return {
        "h": heads, "hk": kv_heads, "e": key, "ev": value,
        "q": q, "2q": _product(2, q), "k": k, "v": v,
        "o": _product(heads, value), "qkv": _sum(q, k, v),
        "a": group.query_latent_size, "l": latent, "lr": _sum(latent, rope),
        "en": None if key is None or rope is None else key - rope,
        "f": f, "2f": _product(2, f), "x": group.experts, "xf": xf, "2xf": _product(2, xf),
        "s": group.shared_feed_forward,
    } | _recurrent_measures(group)  # fmt: skip


def _recurrent_measures(group: LayerGroup) -> dict[str, int | None]:
    kind = group.recurrent
    if kind is None:
        return {}
    d, t, g, r = kind.inner_size, kind.state_size, kind.groups, kind.time_step_rank
    gt = _product(g, t)
    return {
        "c": kind.conv_kernel, "d": d, "2d": _product(2, d), "t": t, "g": g, "r": r,
        "2r": _product(2, r), "r2t": _sum(r, t, t), "dc": _sum(d, gt, gt),
        "dz": _sum(d, d, gt, gt, r), "dg": d // g if d and g else None,
        "tr": _product(t, r), "kkv": _sum(gt, gt, _product(t, r)),
    }  # fmt: skip


def _product(*factors: int | None) -> int | None:
    result = 1
    for factor in factors:
        if factor is None:
            return None
        result *= factor
    return result


def _sum(*terms: int | None) -> int | None:
    known = [term for term in terms if term is not None]
    return sum(known) if len(known) == len(terms) else None


def _shapes(text: str, measures: Measures) -> Iterator[Tensor]:
    for name, letters in _parsed(text):
        shape = tuple(measures.get(letter) or 0 for letter in letters)
        if not all(size > 0 for size in shape):
            raise _MissingError
        yield name, shape


@lru_cache
def _parsed(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    lines = (line.split() for line in text.split(";"))
    return tuple((name, tuple(letters)) for name, *letters in (words for words in lines if words))
