"""What each device has to do when a model lies on several: cards, and the host.

Layers are spread as llama.cpp spreads them; the devices work one after another. Weights that lie on
the host are read there, by the processor, for each generated token; for a prompt llama.cpp sends
them over the bus to the first card, which computes.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from desktop.errors import GramError
from desktop.estimate.batch_reads import held_weights
from desktop.estimate.cache import cache_read_bytes
from desktop.estimate.held import where_lies
from desktop.estimate.layers import layers_of
from desktop.estimate.placement import Placement
from desktop.estimate.same import Same
from desktop.estimate.speed import DeviceWork
from desktop.estimate.work import (
    EXPERTS,
    active_weights,
    attention_flop,
    extra_layers,
    layer_units,
    token_flop,
)
from desktop.records.estimate import Configuration, Efficiency, Interval, Use
from desktop.records.model import LayerGroup, Model, WeightPart, Weights, WeightUse

BUS_BYTES_S: Final = 31.5e9
"""PCI Express 4.0 with 16 lanes, one way, by its specification."""
BUS_SHARE: Final = Interval(0.2, 0.85)
"""From a slot of version 3.0 with 8 lanes to all of the above without waiting: assumed."""
_MODELS_KEPT: Final = 256
Place = int | None
"""The number of a card, or None for the host."""


@dataclass(frozen=True, slots=True)
class Side:
    """A device with what its back end reaches on it."""

    configuration: Configuration
    efficiency: Efficiency


@dataclass(frozen=True, slots=True)
class Sides:
    """The machine's devices."""

    cards: tuple[Side, ...]
    host: Side | None = None
    """None: nothing may lie on the host but the embedding."""


@dataclass(frozen=True, slots=True)
class PlacedWork:
    """What they have to do: for a generated token, and for a prompt."""

    decode: tuple[DeviceWork, ...]
    prompt: tuple[DeviceWork, ...]
    places: tuple[Place, ...]
    """Of the devices that have something to do, in the order of the works."""


@dataclass(slots=True)
class Load:
    """What lies on one device."""

    parts: list[WeightPart] = field(default_factory=list)
    cache_bytes: float = 0
    layers: float = 0
    extra: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    token_flop: float = 0
    attention_flop: float = 0


class _Asks(NamedTuple):
    """What a token asks of one layer."""

    units: float
    attention_flop: float
    cache_bytes: int
    token_flop: float
    extra: tuple[tuple[str, float], ...]


def placed_work(
    model: Model, weights: Weights, use: Use, placement: Placement, sides: Sides
) -> PlacedWork:
    """Share the work of a token, and of a prompt of `use.depth` tokens, among the devices.

    Raises:
        GramError: `placement_bad` when the placement names cards that are not there, or has layers
            on the host and there is none; as `spread` and `cache_read_bytes`.
    """
    if len(placement.shares) > len(sides.cards):
        raise GramError("placement_bad", detail=f"there are {len(sides.cards)} cards")
    loads = loads_of(model, weights, use, placement)
    if sides.host is None and None in loads:
        raise GramError("placement_bad", detail="some of it lies on the host")
    decode, prompt = [], []
    places = sorted(loads, key=lambda p: (p is None, p or 0))
    for place in places:
        side = sides.host if place is None else sides.cards[place]
        if side is None:
            raise AssertionError("checked before")
        work = _work(model, weights, loads[place], side)
        decode.append(work)
        sent = place is None and bool(placement.shares)
        prompt.append(_over_the_bus(work, sides.cards[0]) if sent else work)
    return PlacedWork(tuple(decode), tuple(prompt), tuple(places))


def loads_of(model: Model, weights: Weights, use: Use, placement: Placement) -> dict[Place, Load]:
    """What lies on each device of the placement, None being the host.

    Raises:
        GramError: as `spread` and `cache_read_bytes`.
    """
    where = where_lies(model, placement)
    loads: dict[Place, Load] = defaultdict(Load)
    for i, asks in enumerate(_layers_ask(Same(model), use)):
        load = loads[where.layers[i]]
        load.layers += asks.units
        load.attention_flop += asks.attention_flop
        attends = loads[None] if placement.cache_on_host else load
        attends.cache_bytes += asks.cache_bytes
        attends.token_flop += asks.token_flop
        for kind, count in asks.extra:
            away = kind == EXPERTS and i < placement.experts_on_host
            (loads[None] if away else load).extra[kind] += count
    parts = [part for part in weights.parts if part.use is not WeightUse.EMBEDDING]
    if {*where.layers, where.output} == {where.output} and not placement.experts_on_host:
        loads[where.output].parts = parts
    else:
        for part in parts:
            loads[_place(part, placement, where.layers, where.output)].parts.append(part)
    return {place: load for place, load in loads.items() if load.parts or load.cache_bytes}


def _place(part: WeightPart, placement: Placement, layers: Sequence[Place], output: Place) -> Place:
    if part.layer is None or part.layer >= len(layers):
        return output
    if part.use is WeightUse.EXPERTS and part.layer < placement.experts_on_host:
        return None
    return layers[part.layer]


@lru_cache(_MODELS_KEPT)
def _layers_ask(of_model: Same[Model], use: Use) -> tuple[_Asks, ...]:
    """Of each layer, the same in every quantization; equal layers are counted once.

    Raises:
        GramError: as `layers_of` and `cache_read_bytes`.
    """
    model = of_model.it
    groups = layers_of(model)
    asks = {id(group): _asks(_only(model, group), use) for group in model.groups}
    return tuple(asks[id(group)] for group in groups)


def _asks(one: Model, use: Use) -> _Asks:
    cached = cache_read_bytes(one, use)
    return _Asks(
        units=layer_units(one.groups),
        attention_flop=attention_flop(one, use.depth / 2),
        cache_bytes=cached,
        token_flop=token_flop(one, cached),
        extra=extra_layers(one.groups),
    )


def _only(model: Model, group: LayerGroup) -> Model:
    """The model with one layer of the group: what sums over layers gives one layer's."""
    return replace(model, groups=(replace(group, layers=1, indices=()),))


def _work(model: Model, weights: Weights, load: Load, side: Side) -> DeviceWork:
    active = active_weights(model, weights, load.parts)
    output = active_weights(model, weights, list(_of_use(load.parts, WeightUse.OUTPUT)))
    return DeviceWork(
        weight_bytes=sum(part.active_bytes for part in load.parts),
        cache_bytes=load.cache_bytes,
        layers=load.layers,
        bandwidth_bytes_s=side.configuration.bandwidth_bytes_s,
        efficiency=side.efficiency,
        weights=active,
        token_flop=load.token_flop,
        extra_layers=tuple(load.extra.items()),
        shader_flops=side.configuration.shader_flops,
        held=held_weights(load.parts),
        prompt_weights=max(0.0, active - output),
        attention_flop=load.attention_flop,
    )


def _of_use(parts: Sequence[WeightPart], use: WeightUse) -> Iterator[WeightPart]:
    return (part for part in parts if part.use is use)


def _over_the_bus(work: DeviceWork, card: Side) -> DeviceWork:
    """The same weights, sent to the card for each micro-batch and computed there."""
    return replace(
        work,
        bandwidth_bytes_s=BUS_BYTES_S,
        efficiency=replace(card.efficiency, bandwidth_share=BUS_SHARE),
        shader_flops=card.configuration.shader_flops or _usual(card.configuration, card.efficiency),
    )


def _usual(configuration: Configuration, efficiency: Efficiency) -> float | None:
    """The usual rate of the class, by the card's own bandwidth, not the bus's."""
    if efficiency.flop_per_byte is None or configuration.bandwidth_bytes_s is None:
        return None
    return efficiency.flop_per_byte * configuration.bandwidth_bytes_s
