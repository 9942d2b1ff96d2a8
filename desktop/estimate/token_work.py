"""What a token of a build asks of each of this machine's devices, in the terms of calibration."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from desktop.estimate.batch_reads import held_weights
from desktop.estimate.cache import cache_read_bytes
from desktop.estimate.calibration import Work, bytes_by_type, inner_parts
from desktop.estimate.placed_work import loads_of
from desktop.estimate.placement import Placement
from desktop.estimate.work import attention_flop, extra_layers, layer_units
from desktop.records.estimate import Use
from desktop.records.model import Model, Quant, Weights, WeightUse

HOST: Final = "CPU"
"""The engine's name of the processor."""
_MODELS_KEPT: Final = 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """One build."""

    model: Model
    quant: Quant
    weights: Weights
    build: str = ""
    """The file's sha256 where it is here: its own runs say most of it."""


def device_works(
    cards: Sequence[str], asked: Asked, use: Use, placement: Placement
) -> tuple[Work, ...]:
    """What a token asks of each device of a placement; the devices by the engine's names.

    Raises:
        GramError: the model's cache or layers cannot be counted.
    """
    if placement == Placement(placement.shares[:1]):
        return (_whole_work(cards[0] if placement.shares else HOST, asked, use),)
    loads = loads_of(asked.model, asked.weights, use, placement)
    architecture = asked.model.architecture
    return tuple(
        Work(
            device=HOST if where is None else cards[where],
            bytes_by_type=bytes_by_type(load.parts),
            layers=load.layers + sum(load.extra.values()),
            architecture=architecture,
            cache_bytes=load.cache_bytes,
            prompt_bytes_by_type=bytes_by_type(inner_parts(load.parts)),
            held=held_weights(load.parts),
            attention_flop=load.attention_flop,
        )
        for where, load in loads.items()
    )


def _whole_work(device: str, asked: Asked, use: Use) -> Work:
    """All of it on one device: what is the same in every quantization is counted once."""
    parts = tuple(p for p in asked.weights.parts if p.use is not WeightUse.EMBEDDING)
    cache_bytes, layers, attention = _of_model(asked.model, use)
    return Work(
        device=device,
        bytes_by_type=bytes_by_type(parts),
        layers=layers,
        architecture=asked.model.architecture,
        cache_bytes=cache_bytes,
        prompt_bytes_by_type=bytes_by_type(inner_parts(parts)),
        held=held_weights(parts),
        attention_flop=attention,
    )


@lru_cache(_MODELS_KEPT)
def _of_model(model: Model, use: Use) -> tuple[float, float, float]:
    """Cache bytes read, layers, and operations of attention for a token of a prompt."""
    layers = layer_units(model.groups) + sum(count for _, count in extra_layers(model.groups))
    return cache_read_bytes(model, use), layers, attention_flop(model, use.depth / 2)
