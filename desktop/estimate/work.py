"""What each device has to do for each token: from a model, its weights and where they lie."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from desktop.estimate.speed import DeviceWork
from desktop.records.estimate import Configuration, Efficiency, Use
from desktop.records.model import Attention, LayerGroup, Model, WeightPart, Weights, WeightUse
from desktop.rules.ggml_types import BLOCKS

RECURRENT_UNITS: Final = 2.5
"""A layer with a recurrent state launches that many times the kernels of one with attention: of
Qwen 3.5 and Nemotron 3 the measured rates of `resources/estimate/README.md` want 2 to 3."""
EXPERTS_UNITS: Final = 1.5
"""A layer of experts chooses and gathers them besides: as above."""


def device_work(
    model: Model,
    weights: Weights,
    cache_read_bytes: float,
    configuration: Configuration,
    efficiency: Efficiency,
) -> DeviceWork:
    """All of the model on one device, to generate tokens.

    Args:
        model: whose layers are launched.
        weights: in one quantization.
        cache_read_bytes: as `cache.cache_read_bytes`, at the depth that is asked about.
        configuration: one device.
        efficiency: of its back end for the quantization.
    """
    return DeviceWork(
        weight_bytes=weights.active_bytes,
        cache_bytes=cache_read_bytes,
        layers=layer_units(model),
        bandwidth_bytes_s=configuration.bandwidth_bytes_s,
        efficiency=efficiency,
        weights=active_weights(model, weights, weights.parts),
        shader_flops=configuration.shader_flops,
    )


def prompt_work(work: DeviceWork, model: Model, weights: Weights, use: Use) -> DeviceWork:
    """`work` with what a prompt of `use.depth` tokens needs besides."""
    output = [part for part in weights.parts if part.use is WeightUse.OUTPUT]
    unused = active_weights(model, weights, output)
    return replace(
        work,
        batch_bytes=sum(p.bytes for p in weights.parts if p.use is not WeightUse.EMBEDDING),
        prompt_weights=max(0.0, (work.weights or 0) - unused),
        attention_flop=attention_flop(model, use.depth / 2),
    )


def active_weights(model: Model, weights: Weights, parts: Sequence[WeightPart]) -> float:
    """Weights, not bytes, of `parts` that a generated token is multiplied with.

    Parts of no ggml type (by bits per weight, other engines' formats) are counted at the average
    size of all such of the model.
    """
    plain = sum(part.bytes for part in weights.parts if part.type not in BLOCKS)
    per_byte = model.parameters / plain if plain else 0
    return sum(part.active_bytes * (_per_byte(part.type) or per_byte) for part in parts)


def _per_byte(type_name: str) -> float | None:
    kind = BLOCKS.get(type_name)
    return kind.block_elements / kind.block_bytes if kind else None


def layer_units(model: Model, groups: Sequence[LayerGroup] | None = None) -> float:
    """The layers, or those of `groups`: what costs more to launch counts for more."""
    return sum(group.layers * unit(group) for group in groups or model.groups)


def unit(group: LayerGroup) -> float:
    """How much a layer of the group costs to launch; one with attention and feed-forward costs 1.

    Half of it goes to each of the two parts: there are models whose layers have only one.
    """
    mixes = 0.0 if group.attention is Attention.NONE else 0.5
    if group.recurrent is not None:
        mixes = 0.5 * (2 * RECURRENT_UNITS - 1)
    forward = 0.5 if group.feed_forward or group.experts else 0.0
    return mixes + (forward * (2 * EXPERTS_UNITS - 1) if group.experts else forward)


def attention_flop(model: Model, positions: float) -> float:
    """Operations of attention for one token that looks back on `positions` others.

    A product and a sum for each element of each head's key, and of its value.
    """
    return sum(group.layers * _layer_flop(group, positions) for group in model.groups)


def _layer_flop(group: LayerGroup, positions: float) -> float:
    if group.attention in {Attention.NONE, Attention.RECURRENT} or not group.heads:
        return 0.0
    seen = positions
    if group.attention is Attention.SLIDING and group.window:
        seen = min(positions, group.window)
    return 2 * group.heads * ((group.key_size or 0) + (group.value_size or 0)) * seen
