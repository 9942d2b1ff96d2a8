"""A model's tensors added up: by what they are for, and by where the quantizer sees them.

Layers that are alike are told once: all sizes of all models are asked for at once.
"""

from collections import Counter
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from desktop.records.model import Model, WeightUse
from desktop.rules.quant_places import Place, places_of
from desktop.rules.tensor_shapes import Tensor, plan_of
from desktop.rules.weight_parts import Reading, charge_of, reading_of_model

Summary: TypeAlias = tuple[tuple[Place, int, int], ...]
"""Elements, and those that a token reads, by place: all that the totals need."""

_MODELS_KEPT: Final = 512


class Pile(NamedTuple):
    """Tensors of one use and one place among the quantizer's rules, in a layer."""

    use: WeightUse
    place: Place
    elements: int
    active_elements: int


class Piles(NamedTuple):
    """Equal piles of some layers; of none: outside the layers."""

    layers: tuple[int | None, ...]
    piles: tuple[Pile, ...]


@lru_cache(_MODELS_KEPT)
def piles_of(model: Model) -> tuple[Piles, ...] | None:
    """The tensors of a model; None where they are not known."""
    plan, places = plan_of(model), places_of(model)
    if plan is None or places is None:
        return None
    alike: dict[tuple[int, tuple[Place, ...]], list[int | None]] = {}
    for i, key in enumerate(zip(plan.layers, places.layers, strict=True)):
        alike.setdefault(key, []).append(i)
    reading = reading_of_model(model)
    outside = Piles((None,), _piled(plan.outside, places.outside, reading))
    inside = (
        Piles(tuple(layers), _piled(_named(plan.kinds[number], layers[0]), found, reading))
        for (number, found), layers in alike.items()
    )
    return (outside, *inside)


def _named(kind: tuple[Tensor, ...], layer: int | None) -> tuple[Tensor, ...]:
    return tuple((f"blk.{layer}.{name}", shape) for name, shape in kind)


def _piled(
    tensors: tuple[Tensor, ...], places: tuple[Place, ...], reading: Reading
) -> tuple[Pile, ...]:
    held: Counter[tuple[WeightUse, Place]] = Counter()
    read = held.copy()
    for (name, shape), place in zip(tensors, places, strict=True):
        charge = charge_of(name, shape, reading)
        if charge is not None:
            held[charge.use, place] += charge.elements
            read[charge.use, place] += charge.active_elements
    return tuple(Pile(*key, elements, read[key]) for key, elements in held.items())


@lru_cache(_MODELS_KEPT)
def summary_of(model: Model) -> Summary | None:
    """The same, added up over uses and layers."""
    all_piles = piles_of(model)
    if all_piles is None:
        return None
    held: Counter[Place] = Counter()
    read: Counter[Place] = Counter()
    for layers, piles in all_piles:
        for _, place, elements, active in piles:
            held[place] += elements * len(layers)
            read[place] += active * len(layers)
    return tuple((place, elements, read[place]) for place, elements in held.items())
