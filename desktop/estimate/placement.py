"""Which layers lie on which card, as llama.cpp spreads them.

Source: `load_tensors` of llama-model.cpp, llama.cpp of llama-cpp-python 0.3.36.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from desktop.errors import GramError
from desktop.estimate.layers import MAX_LAYERS
from desktop.records.model import Model


@dataclass(frozen=True, slots=True)
class Placement:
    """What the person, or the engine, wants to have where."""

    shares: tuple[float, ...] = ()
    """One a card: how much of the layers it takes (`--tensor-split`; llama.cpp's default are the
    cards' free bytes). Empty: everything on the host."""
    gpu_layers: int | None = None
    """`--n-gpu-layers`, as llama.cpp counts: the output is the first of them, then the last layers.
    None: all."""
    experts_on_host: int = 0
    """`--n-cpu-moe`: in that many layers, from the first on, the experts stay on the host."""
    cache_on_host: bool = False
    """`--no-kv-offload`."""


ON_HOST = Placement()
ON_ONE_CARD = Placement(shares=(1.0,))


@dataclass(frozen=True, slots=True)
class Spread:
    """Where each layer lies: the number of a card, or None for the host."""

    layers: tuple[int | None, ...]
    """Of the layers of `Model.groups` only."""
    output: int | None


def spread(model: Model, placement: Placement) -> Spread:
    """Spread the layers as llama.cpp does.

    The output counts as one layer, and as the last; so do layers that predict further tokens. From
    the last backwards `gpu_layers` of them are on cards, shared out in order.

    Raises:
        GramError: `placement_bad` for shares that are no positive numbers, `bad_number` for a
            negative number of layers.
    """
    _check(placement)
    total = model.layers + model.predict_layers + 1
    wanted = total if placement.gpu_layers is None else min(placement.gpu_layers, total)
    if not placement.shares:
        wanted = 0
    first = total - wanted
    sums = tuple(accumulate(placement.shares))
    splits = [value / sums[-1] for value in sums]

    def card(layer: int) -> int | None:
        if layer < first:
            return None
        return bisect_right(splits, (layer - first) / wanted)

    return Spread(tuple(card(layer) for layer in range(model.layers)), card(total - 1))


def _check(placement: Placement) -> None:
    shares = placement.shares
    if not all(math.isfinite(share) and share >= 0 for share in shares) or (
        shares and not any(shares)
    ):
        raise GramError("placement_bad", detail="a card's share is no positive number")
    for name in ("gpu_layers", "experts_on_host"):
        found = getattr(placement, name)
        if found is not None and found < 0:
            raise GramError("bad_number", name=name, low=0, high=MAX_LAYERS, found=found)
