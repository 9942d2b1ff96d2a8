"""Where a build fits on a machine: on its cards, with the processor's help, or nowhere.

llama.cpp spreads layers over the cards by their memory. What does not fit there stays behind: of
mixtures first the experts of some layers, which costs least; else whole layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

from desktop.errors import Reason
from desktop.estimate.fitting_reasons import lacking, tight, too_large
from desktop.estimate.held import held_by_layers
from desktop.estimate.memory import Needs, needs
from desktop.estimate.offload import Search, beside, ways
from desktop.estimate.placement import ON_HOST, Placement
from desktop.estimate.room import HOST_SHARE, Room
from desktop.records.estimate import MemoryNeed, Use
from desktop.records.fits import Fit
from desktop.records.model import Model, Weights

__all__ = ["HOST_SHARE", "Placed", "Room", "place"]
_PURPOSES: Final = tuple(field.name for field in fields(MemoryNeed))


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a build goes."""

    fit: Fit
    placement: Placement
    need: MemoryNeed
    """Of all devices together."""
    card_bytes: int | None
    host_bytes: int
    reason: Reason | None = None
    """Why it does not run."""
    needs: Needs | None = None
    """Of each device; None where it does not run."""

    def tight(self, room: Room, quant: str) -> Reason | None:
        """That it fits only just, where it does; `quant` as people write it."""
        return None if self.needs is None else tight(room, self.fit, self.needs, quant)


def place(room: Room, model: Model, weights: Weights, use: Use, *, offload: bool = True) -> Placed:
    """The first of: all on the cards, some of it, all for the processor; or nowhere.

    Args:
        room: the machine's memory.
        model: the model.
        weights: in one quantization.
        use: context, cache types, micro-batch.
        offload: whether a part may stay in the system's memory, which takes long to work out.

    Raises:
        GramError: as `memory.needs`.
    """
    whole = Placement(shares=tuple(float(size) for size in room.cards)) if room.cards else ON_HOST
    needed = needs(model, weights, use, whole)
    if room.host_bytes is None:
        reason = Reason("estimate_host_memory_unknown")
        return _not_placed(Fit.RULED_OUT, room, whole, needed, reason)
    if room.cards_bear(needed) and room.host_bears(needed):
        return _placed(Fit.ON_CARD if room.cards else Fit.IN_MEMORY, room, whole, needed)
    if room.cards and offload:
        return _with_offload(room, model, weights, use, needed)
    return _not_placed(Fit.NOWHERE, room, whole, needed, lacking(room, needed))


def _with_offload(room: Room, model: Model, weights: Weights, use: Use, whole: Needs) -> Placed:
    shares = tuple(float(size) for size in room.cards)
    on_cards = Placement(shares=shares)
    held = held_by_layers(model, weights, use)
    if held.total_bytes > room.usable_bytes:
        return _not_placed(Fit.NOWHERE, room, on_cards, whole, too_large(room, whole))
    closest = whole
    for way in ways(model, shares):
        search = Search(room, model, way, held, beside(held, model, way(0), whole))
        placement, closest = search.least(lambda tried: needs(model, weights, use, tried))
        if room.cards_bear(closest) and room.host_bears(closest):
            return _placed(Fit.WITH_OFFLOAD, room, placement, closest)
    return _not_placed(Fit.NOWHERE, room, on_cards, closest, lacking(room, closest))


def _placed(fit: Fit, room: Room, placement: Placement, needed: Needs) -> Placed:
    sizes = _sizes(room, needed)
    return Placed(fit, placement, *sizes, needs=needed)


def _not_placed(
    fit: Fit, room: Room, placement: Placement, needed: Needs, reason: Reason
) -> Placed:
    return Placed(fit, placement, *_sizes(room, needed), reason)


def _sizes(room: Room, needed: Needs) -> tuple[MemoryNeed, int | None, int]:
    """Of all devices together, on the cards with the back end's own, and on the host."""
    on_cards = sum(room.on_cards_bytes(needed)) if needed.cards else None
    return _sum((*needed.cards, needed.host)), on_cards, needed.host.total_bytes


def _sum(found: Sequence[MemoryNeed]) -> MemoryNeed:
    return MemoryNeed(*(sum(getattr(need, name) for need in found) for name in _PURPOSES))
