"""Where a build fits on a machine: on its cards, with the processor's help, or nowhere.

llama.cpp spreads layers over the cards by their memory. What does not fit there stays behind: of
mixtures first the experts of some layers, which costs least; else whole layers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final

from desktop.errors import Reason
from desktop.estimate.memory import PROCESS_BYTES, Needs, needs
from desktop.estimate.placement import ON_HOST, Placement
from desktop.records.estimate import MemoryNeed, Use
from desktop.records.fits import Fit
from desktop.records.model import Model, Weights

HOST_SHARE: Final = 0.9
"""Of the system's memory, that a build may take: the rest is the system's own and other programs'.
The catalogue's share of servers."""
_GB: Final = 1e9
_PURPOSES: Final = tuple(field.name for field in fields(MemoryNeed))


@dataclass(frozen=True, slots=True)
class Room:
    """A machine's memory."""

    cards: tuple[int, ...] = ()
    """Bytes of each card that a run would use, in the engine's order."""
    host_bytes: int | None = None
    """Of the system's memory; None where it is not told."""
    shared: bool = False
    """The cards' memory is the system's."""
    overhead_bytes: int = 0
    """That the back end holds for itself on each card."""

    @property
    def host_usable_bytes(self) -> int | None:
        """What a build may take of the system's memory."""
        return None if self.host_bytes is None else round(self.host_bytes * HOST_SHARE)


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
    """Why it fits nowhere."""


def place(room: Room, model: Model, weights: Weights, use: Use) -> Placed:
    """The first of: all on the cards, some of it, all for the processor; or nowhere.

    Raises:
        GramError: as `memory.needs`.
    """
    if not room.cards:
        return _for_processor(room, model, weights, use)
    whole = Placement(shares=tuple(float(size) for size in room.cards))
    needed = needs(model, weights, use, whole)
    if _fits(room, needed):
        return _placed(Fit.ON_CARD, room, whole, needed)
    return _with_offload(room, model, weights, use) or _nowhere(room, whole, needed)


def _for_processor(room: Room, model: Model, weights: Weights, use: Use) -> Placed:
    needed = needs(model, weights, use, ON_HOST)
    if _fits(room, needed):
        return _placed(Fit.IN_MEMORY, room, ON_HOST, needed)
    return _nowhere(room, ON_HOST, needed)


def _with_offload(room: Room, model: Model, weights: Weights, use: Use) -> Placed | None:
    shares = tuple(float(size) for size in room.cards)

    def experts(count: int) -> Placement:
        return Placement(shares=shares, experts_on_host=count)

    def layers(count: int) -> Placement:
        return Placement(shares=shares, gpu_layers=model.layers + 1 - count)

    for kind in (experts, layers) if model.is_mixture else (layers,):
        found = _least(room, model, weights, use, kind)
        if found is not None:
            return _placed(Fit.WITH_OFFLOAD, room, *found)
    return None


def _least(
    room: Room, model: Model, weights: Weights, use: Use, kind: Callable[[int], Placement]
) -> tuple[Placement, Needs] | None:
    """The placement with the least on the host that the cards bear, by halving."""
    low, high = 1, model.layers + 1
    best = None
    while low <= high:
        middle = (low + high) // 2
        placement = kind(middle)
        needed = needs(model, weights, use, placement)
        if _cards_fit(room, needed):
            best, high = (placement, needed), middle - 1
        else:
            low = middle + 1
    return best if best is not None and _fits(room, best[1]) else None


def _fits(room: Room, needed: Needs) -> bool:
    usable = room.host_usable_bytes
    if not _cards_fit(room, needed) or usable is None:
        return False
    on_host = needed.host.total_bytes + PROCESS_BYTES
    if room.shared:
        on_host += sum(need.total_bytes for need in needed.cards)
    return on_host <= usable


def _cards_fit(room: Room, needed: Needs) -> bool:
    pairs = zip(needed.cards, room.cards, strict=True)
    return all(need.total_bytes + room.overhead_bytes <= size for need, size in pairs)


def _placed(fit: Fit, room: Room, placement: Placement, needed: Needs) -> Placed:
    overhead = room.overhead_bytes * len(needed.cards)
    on_cards = sum(need.total_bytes for need in needed.cards) + overhead
    together = _sum((*needed.cards, needed.host))
    card_bytes = on_cards if needed.cards else None
    return Placed(fit, placement, together, card_bytes, needed.host.total_bytes)


def _nowhere(room: Room, placement: Placement, needed: Needs) -> Placed:
    placed = _placed(Fit.NOWHERE, room, placement, needed)
    own = 0 if room.shared else sum(room.cards)
    there = (room.host_usable_bytes or 0) + own
    told = {"need": _gb(placed.need.total_bytes), "usable": _gb(there)}
    reason = Reason("estimate_fits_nowhere", told)
    return Placed(Fit.NOWHERE, placement, placed.need, placed.card_bytes, placed.host_bytes, reason)


def _sum(found: Sequence[MemoryNeed]) -> MemoryNeed:
    return MemoryNeed(*(sum(getattr(need, name) for need in found) for name in _PURPOSES))


def _gb(size: int) -> str:
    return f"{size / _GB:.1f} GB"
