"""What each device has to do for each token: from a model, its weights and where they lie."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from desktop.estimate.batch_reads import held_weights
from desktop.estimate.cache import state_bytes
from desktop.estimate.speed import DeviceWork
from desktop.records.estimate import Configuration, Efficiency, Use
from desktop.records.model import Attention, LayerGroup, Model, WeightPart, Weights, WeightUse
from desktop.rules.ggml_types import BLOCKS

EXPERTS: Final = "experts"
STATE: Final = "state"
LATENT: Final = "latent"
_F16_BYTES: Final = 2


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
        layers=layer_units(model.groups),
        bandwidth_bytes_s=configuration.bandwidth_bytes_s,
        efficiency=efficiency,
        weights=active_weights(model, weights, weights.parts),
        token_flop=token_flop(model, cache_read_bytes),
        extra_layers=extra_layers(model.groups),
        shader_flops=configuration.shader_flops,
    )


def prompt_work(work: DeviceWork, model: Model, weights: Weights, use: Use) -> DeviceWork:
    """`work` with what a prompt of `use.depth` tokens needs besides."""
    output = [part for part in weights.parts if part.use is WeightUse.OUTPUT]
    unused = active_weights(model, weights, output)
    return replace(
        work,
        held=held_weights(weights.parts),
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


def layer_units(groups: Sequence[LayerGroup]) -> float:
    """Their layers; one that only attends, or only feeds forward, is half a layer."""
    return sum(group.layers * _unit(group) for group in groups)


def extra_layers(groups: Sequence[LayerGroup]) -> tuple[tuple[str, float], ...]:
    """Layers by the kinds that cost more than others; kinds that are not there are left out."""
    counts = (
        (EXPERTS, sum(group.layers for group in groups if group.experts)),
        (STATE, sum(group.layers for group in groups if group.recurrent is not None)),
        (LATENT, sum(g.layers for g in groups if g.attention is Attention.LATENT)),
    )
    return tuple((kind, float(count)) for kind, count in counts if count)


def _unit(group: LayerGroup) -> float:
    mixes = 0.0 if group.attention is Attention.NONE else 0.5
    return mixes + (0.5 if group.feed_forward or group.experts else 0.0)


def token_flop(model: Model, cache_read_bytes: float) -> float:
    """Operations of attention for one generated token that reads so much of an F16 cache.

    Of the state of recurrent layers, which is in those bytes, none are counted.
    """
    return max(0.0, cache_read_bytes - states_bytes(model)) * flop_per_cache_byte(model)


def states_bytes(model: Model) -> int:
    """Bytes of the state of all recurrent layers, for one sequence."""
    recurrent = ((group.layers, group.recurrent) for group in model.groups)
    return sum(layers * state_bytes(model, state) for layers, state in recurrent if state)


def flop_per_cache_byte(model: Model) -> float:
    """Operations of attention for each byte of keys and values, in F16, that are read.

    Each key and value is used by as many heads as share it: 2 operations an element. Models whose
    layers differ in that are counted at the average of what the layers keep of a token.
    """
    kept = [(g.layers * _token_bytes(g), g.layers * _layer_flop(g, 1)) for g in model.groups]
    total = sum(size for size, _ in kept)
    return sum(flop for _, flop in kept) / total if total else 0.0


def _token_bytes(group: LayerGroup) -> int:
    if group.attention in {Attention.NONE, Attention.RECURRENT}:
        return 0
    if group.attention is Attention.LATENT:
        return _F16_BYTES * ((group.latent_size or 0) + (group.rope_size or 0))
    width = (group.key_size or 0) + (group.value_size or 0)
    return _F16_BYTES * (group.kv_heads or 0) * width


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
    width = (group.key_size or 0) + (group.value_size or 0)
    if group.attention is Attention.LATENT:
        # each head attends to the compressed vector itself
        width = 2 * (group.latent_size or 0) + (group.rope_size or 0)
    return 2 * group.heads * width * seen
