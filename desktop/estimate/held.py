"""Weights and cache of each layer: quickly summed for any placement, as `memory` counts them."""

from dataclasses import dataclass

from desktop.estimate.cache import layer_cache_bytes
from desktop.estimate.placement import Placement, spread
from desktop.records.estimate import Use
from desktop.records.model import Model, Weights, WeightUse


@dataclass(frozen=True, slots=True)
class HeldByLayers:
    """Bytes, without the graph's scratch."""

    layers: tuple[int, ...]
    """Of each layer its weights without experts, and its cache."""
    experts: tuple[int, ...]
    output: int
    """What lies where the output lies."""
    total_bytes: int
    """Of all of it once: no placement needs less."""

    def on_cards(self, model: Model, placement: Placement) -> list[int]:
        """On each card of a placement, in its order; the cache lies with its layer.

        Raises:
            GramError: as `placement.spread`.
        """
        where = spread(model, placement)
        held = [0] * len(placement.shares)
        for i, card in enumerate(where.layers):
            if card is None:
                continue
            held[card] += self.layers[i]
            if i >= placement.experts_on_host:
                held[card] += self.experts[i]
        if where.output is not None:
            held[where.output] += self.output
        return held


def held_by_layers(model: Model, weights: Weights, use: Use) -> HeldByLayers:
    """Sum them once for a model in one quantization.

    Raises:
        GramError: as `cache.layer_cache_bytes`.
    """
    layers, experts, output = list(layer_cache_bytes(model, use)), [0] * model.layers, 0
    for part in weights.parts:
        if part.layer is None:
            output += 0 if part.use is WeightUse.EMBEDDING else part.bytes
        elif part.layer < len(layers):
            (experts if part.use is WeightUse.EXPERTS else layers)[part.layer] += part.bytes
    return HeldByLayers(tuple(layers), tuple(experts), output, sum(layers) + sum(experts) + output)
