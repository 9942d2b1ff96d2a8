"""Where a build fits on a machine: on its cards, with the processor's help, or nowhere.

llama.cpp spreads layers over the cards by their memory. What does not fit there stays behind: of
mixtures first the experts of some layers, which costs least; else whole layers.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final

from desktop.errors import Reason
from desktop.estimate.held import HeldByLayers, held_by_layers
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
    if not room.cards:
        return _for_processor(room, model, weights, use)
    whole = Placement(shares=tuple(float(size) for size in room.cards))
    needed = needs(model, weights, use, whole)
    if _fits(room, needed):
        return _placed(Fit.ON_CARD, room, whole, needed)
    found = _with_offload(room, model, weights, use, needed) if offload else None
    return found or _nowhere(room, whole, needed)


def _for_processor(room: Room, model: Model, weights: Weights, use: Use) -> Placed:
    needed = needs(model, weights, use, ON_HOST)
    if _fits(room, needed):
        return _placed(Fit.IN_MEMORY, room, ON_HOST, needed)
    return _nowhere(room, ON_HOST, needed)


def _with_offload(
    room: Room, model: Model, weights: Weights, use: Use, whole: Needs
) -> Placed | None:
    shares = tuple(float(size) for size in room.cards)
    held = held_by_layers(model, weights, use)
    if held.total_bytes > (room.host_usable_bytes or 0) + (0 if room.shared else sum(room.cards)):
        return None

    def experts(count: int) -> Placement:
        return Placement(shares=shares, experts_on_host=count)

    def layers(count: int) -> Placement:
        return Placement(shares=shares, gpu_layers=model.layers + 1 - count)

    for kind in (experts, layers) if model.is_mixture else (layers,):
        search = _Search(room, model, kind, held, _beside(held, model, kind(0), whole))
        found = search.least(lambda placement: needs(model, weights, use, placement))
        if found is not None and _fits(room, found[1]):
            return _placed(Fit.WITH_OFFLOAD, room, *found)
    return None


@dataclass(slots=True)
class _Search:
    """For the placement with the least on the host that the cards bear.

    Weights and cache are summed for any number of layers at once; what the graph needs besides is
    costly to work out and changes little from one number to the next, so that of the placement
    tried last foretells the next one. What is found has been worked out in full.
    """

    room: Room
    model: Model
    kind: Callable[[int], Placement]
    """From how much is on the host: layers, or layers whose experts are."""
    held: HeldByLayers
    beside: Sequence[int]
    """Of each card, besides weights and cache."""

    def least(self, worked_out: Callable[[Placement], Needs]) -> tuple[Placement, Needs] | None:
        """The placement and what it needs; None where the cards bear none."""
        low, last = 1, self.model.layers + 1
        best: tuple[int, Placement, Needs] | None = None
        while (count := self._foretold(low, last)) is not None:
            if best is not None and count >= best[0]:
                break
            placement = self.kind(count)
            needed = worked_out(placement)
            self.beside = _beside(self.held, self.model, placement, needed)
            if _cards_fit(self.room, needed):
                best = (count, placement, needed)
            else:
                low = count + 1
        return None if best is None else best[1:]

    def _foretold(self, low: int, last: int) -> int | None:
        """The least from `low` on that the cards seem to bear."""
        counts = range(low, last + 1)
        if len(self.room.cards) == 1:
            at = bisect_left(counts, x=True, key=self._seems_to_fit)
            return low + at if low + at <= last else None
        # with several cards one layer more on the host moves others from card to card
        return next(filter(self._seems_to_fit, counts), None)

    def _seems_to_fit(self, count: int) -> bool:
        held = self.held.on_cards(self.model, self.kind(count))
        sums = zip(held, self.beside, self.room.cards, strict=True)
        return all(one + more + self.room.overhead_bytes <= size for one, more, size in sums)


def _beside(
    held: HeldByLayers, model: Model, placement: Placement, needed: Needs
) -> tuple[int, ...]:
    pairs = zip(needed.cards, held.on_cards(model, placement), strict=True)
    return tuple(need.total_bytes - own for need, own in pairs)


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
