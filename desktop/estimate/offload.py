"""The placement with the least in the system's memory that the cards bear."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from desktop.estimate.held import HeldByLayers
from desktop.estimate.memory import Needs
from desktop.estimate.placement import Placement
from desktop.estimate.room import Room
from desktop.records.model import Model


def ways(model: Model, shares: tuple[float, ...]) -> tuple[Callable[[int], Placement], ...]:
    """From how much is on the host to a placement, what costs least first.

    Of mixtures the experts of so many layers, then whole layers.
    """

    def experts(count: int) -> Placement:
        return Placement(shares=shares, experts_on_host=count)

    def layers(count: int) -> Placement:
        return Placement(shares=shares, gpu_layers=model.layers + 1 - count)

    return (experts, layers) if model.is_mixture else (layers,)


@dataclass(slots=True)
class Search:
    """For the least on the host.

    Weights and cache are summed for any number of layers at once; what the graph needs besides is
    costly to work out and changes little from one number to the next, so that of the placement
    tried last foretells the next one. What is found has been worked out in full.
    """

    room: Room
    model: Model
    way: Callable[[int], Placement]
    held: HeldByLayers
    beside: Sequence[int]
    """Of each card, besides weights and cache."""

    def least(self, worked_out: Callable[[Placement], Needs]) -> tuple[Placement, Needs]:
        """The placement and what it needs; where cards bear none, that with most on the host."""
        low, last = 1, self.model.layers + 1
        best: tuple[int, Placement, Needs] | None = None
        while (count := self._foretold(low, last)) is not None:
            if best is not None and count >= best[0]:
                break
            placement = self.way(count)
            needed = worked_out(placement)
            self.beside = beside(self.held, self.model, placement, needed)
            if self.room.cards_bear(needed):
                best = (count, placement, needed)
            else:
                low = count + 1
        if best is None:
            placement = self.way(last)
            return placement, worked_out(placement)
        return best[1:]

    def _foretold(self, low: int, last: int) -> int | None:
        """The least from `low` on that the cards seem to bear."""
        counts = range(low, last + 1)
        if len(self.room.cards) == 1:
            at = bisect_left(counts, x=True, key=self._seems_to_fit)
            return low + at if low + at <= last else None
        # with several cards one layer more on the host moves others from card to card
        return next(filter(self._seems_to_fit, counts), None)

    def _seems_to_fit(self, count: int) -> bool:
        held = self.held.on_cards(self.model, self.way(count))
        sums = zip(held, self.beside, self.room.cards, strict=True)
        return all(one + more + self.room.overhead_bytes <= size for one, more, size in sums)


def beside(
    held: HeldByLayers, model: Model, placement: Placement, needed: Needs
) -> tuple[int, ...]:
    """What each card needs besides weights and cache."""
    pairs = zip(needed.cards, held.on_cards(model, placement), strict=True)
    return tuple(need.total_bytes - own for need, own in pairs)
