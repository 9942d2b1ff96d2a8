"""Weights and cache of each layer, summed once: where they lie then follows for any placement."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from desktop.estimate.cache import layer_cache_bytes
from desktop.estimate.placement import Placement, Spread, spread
from desktop.estimate.same import Same
from desktop.records.estimate import Use
from desktop.records.model import Model, Weights, WeightUse

_LAZY_BYTES: Final = 4 << 30
"""A per-layer embedding larger than this is read row by row from the file (llama.cpp's
`LLAMA_LAZY_MODE_AUTO`, where files are mapped)."""
_KEPT: Final = 64
_PLACEMENTS_KEPT: Final = 1024


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """Bytes of weights."""

    layers: tuple[int, ...]
    """Of each layer, without experts."""
    experts: tuple[int, ...]
    embedding: int
    """Of the lookup: it lies on the host."""
    beginning: int
    """What lies outside the layers, with the first of them."""
    output: int
    """What lies where the output lies."""
    lookup: int
    """Of the output what is the embedding, too: it lies on the host besides."""

    @property
    def movable_bytes(self) -> int:
        """All but the embedding."""
        return sum(self.layers) + sum(self.experts) + self.beginning + self.output


@dataclass(frozen=True, slots=True)
class HeldByLayers:
    """Bytes, without the graph's scratch."""

    weights: LayerWeights
    cache: tuple[int, ...]
    """Of each layer."""

    @property
    def total_bytes(self) -> int:
        """Of all of it once: no placement needs less."""
        return self.weights.movable_bytes + sum(self.cache)

    def on_devices(self, placement: Placement, where: Spread) -> tuple[list[int], list[int]]:
        """Weights and cache on each card of a placement and, last, on the host."""
        host, of = len(placement.shares), self.weights
        held, cache = [0] * (host + 1), [0] * (host + 1)
        away = placement.experts_on_host
        sizes = zip(where.layers, of.layers, of.experts, self.cache, strict=True)
        for i, (card, size, experts, cached) in enumerate(sizes):
            at = host if card is None else card
            held[at] += size
            held[host if i < away else at] += experts
            cache[host if placement.cache_on_host else at] += cached
        first = where.layers[0]
        held[host if first is None else first] += of.beginning
        held[host] += of.embedding
        if where.output is None:
            held[host] += of.output
        else:
            held[where.output] += of.output
            held[host] += of.lookup
        return held, cache

    def on_cards(self, model: Model, placement: Placement) -> list[int]:
        """Weights and cache together on each card of a placement, in its order.

        Raises:
            GramError: as `placement.spread`.
        """
        held, cache = self.on_devices(placement, where_lies(model, placement))
        return [of + kept for of, kept in zip(held[:-1], cache[:-1], strict=True)]


def held_by_layers(model: Model, weights: Weights, use: Use) -> HeldByLayers:
    """Sum them for a model in one quantization.

    Raises:
        GramError: as `cache.layer_cache_bytes`.
    """
    return HeldByLayers(_layer_weights(Same(model), Same(weights)), _cached(Same(model), use))


def where_lies(model: Model, placement: Placement) -> Spread:
    """As `placement.spread`, and kept.

    Raises:
        GramError: as `placement.spread`.
    """
    return _spread(Same(model), placement)


@lru_cache(_PLACEMENTS_KEPT)
def _spread(model: Same[Model], placement: Placement) -> Spread:
    return spread(model.it, placement)


@lru_cache(_KEPT)
def _cached(model: Same[Model], use: Use) -> tuple[int, ...]:
    return layer_cache_bytes(model.it, use)


@lru_cache(_KEPT)
def _layer_weights(of_model: Same[Model], of_weights: Same[Weights]) -> LayerWeights:
    model, parts = of_model.it, of_weights.it.parts
    layers, experts = [0] * model.layers, [0] * model.layers
    count = len(layers)
    outside = dict.fromkeys(WeightUse, 0)
    for part in parts:
        if part.layer is None:
            lazy = part.use is WeightUse.EMBEDDING and model.per_layer_embedding
            if not (lazy and part.bytes > _LAZY_BYTES):
                outside[part.use] += part.bytes
        elif part.layer < count:
            (experts if part.use is WeightUse.EXPERTS else layers)[part.layer] += part.bytes
    embedding = outside.pop(WeightUse.EMBEDDING)
    beginning = outside.pop(WeightUse.OTHER) if model.architecture == "gemma4" else 0
    lookup = outside[WeightUse.OUTPUT] if model.tied else 0
    return LayerWeights(
        tuple(layers), tuple(experts), embedding, beginning, sum(outside.values()), lookup
    )
