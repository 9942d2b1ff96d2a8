"""A model with some of its layers only: what a rehearsal is made of."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from desktop.records.model import Attention, LayerGroup, Model
from desktop.rules.tensor_shapes import layers_of

_LONGEST_PERIOD: Final = 8
_WHOLE: Final = frozenset({"apertus", "deci", "deepseek2", "gemma3n", "gemma4", "llama4"})
"""Architectures whose number of layers decides more than how many there are: the engine of
llama-cpp-python 0.3.36 refuses them with fewer, or takes them for another model."""


def shortened(model: Model, picked: Sequence[int]) -> Model:
    """`model` with the layers `picked` only, in that order; its parameter count stays the whole's.

    Raises:
        ValueError: the model does not tell its layers, or has no such layer.
    """
    layers = layers_of(model)
    if layers is None or not picked or not all(0 <= i < len(layers) for i in picked):
        raise ValueError(f"no layers {list(picked)} in {model.id}")
    chosen = [layers[i] for i in picked]
    groups = [group for group in model.groups if any(group is one for one in chosen)]
    placed = tuple(_placed(group, chosen) for group in groups)
    return replace(model, groups=placed, predict_layers=0)


def blocks_of(model: Model) -> tuple[tuple[int, ...], ...] | None:
    """The layers in equal blocks, the ones that the first layers differ from the rest by first.

    A block is the shortest row of layers that repeats itself to the end: one layer of most models,
    four of hybrids with three recurrent layers for one with attention. Where nothing repeats, each
    layer is a block. None where the engine takes the model whole only.
    """
    layers = layers_of(model)
    if not layers or model.architecture in _WHOLE:
        return None
    kinds = [_kind(group) for group in layers]
    lead = _lead(layers)
    rest = len(kinds) - lead
    for period in range(1, min(_LONGEST_PERIOD, rest) + 1):
        if all(kinds[i] == kinds[i + period] for i in range(lead, len(kinds) - period)):
            starts = range(lead, len(kinds) - period + 1, period)
            blocks = tuple(tuple(range(start, start + period)) for start in starts)
            return (tuple(range(lead)), *blocks)
    return (tuple(range(lead)), *((i,) for i in range(lead, len(kinds))))


def _placed(group: LayerGroup, chosen: Sequence[LayerGroup]) -> LayerGroup:
    indices = tuple(i for i, one in enumerate(chosen) if one is group)
    return replace(group, layers=len(indices), indices=indices)


def _lead(layers: Sequence[LayerGroup]) -> int:
    """Dense layers before the first one of experts."""
    first = next((i for i, group in enumerate(layers) if group.experts), 0)
    # every second layer of experts is a period, no lead
    return 0 if any(not group.experts for group in layers[first:]) else first


def _kind(group: LayerGroup) -> LayerGroup:
    """What makes two layers alike: their tensors. How far they look back is not among it."""
    attention = Attention.FULL if group.attention is Attention.SLIDING else group.attention
    return replace(group, layers=0, indices=(), window=None, attention=attention)
