"""A machine's memory, and how much of it a build may take."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from desktop.errors import Reason
from desktop.estimate import printed
from desktop.estimate.held_back import HeldBack
from desktop.estimate.memory import PROCESS_BYTES, Needs

HOST_SHARE: Final = 0.9
"""Of the system's memory, that a build may take: the rest is the system's own and other programs'.
The catalogue's share of servers."""


@dataclass(frozen=True, slots=True)
class Room:
    """A machine's memory."""

    cards: tuple[int, ...] = ()
    """Bytes of each card that a run would use, in the engine's order, that a build may take."""
    host_bytes: int | None = None
    """Of the system's memory; None where it is not told."""
    shared: bool = False
    """The cards' memory is the system's."""
    overhead_bytes: int = 0
    """That the back end holds for itself on each card."""
    names: tuple[str, ...] = ()
    """Of the cards; empty where nobody is told of them."""
    held_back: tuple[int, ...] = ()
    """Bytes of each card besides `cards`, which driver and display may need; empty: none."""
    unknown: tuple[str, ...] = ()
    """Cards whose memory neither driver nor engine tells: nothing is placed on them."""
    rule: HeldBack | None = field(default=None, repr=False)
    """What is called tight; None: nothing."""

    @property
    def host_usable_bytes(self) -> int | None:
        """What a build may take of the system's memory."""
        return None if self.host_bytes is None else round(self.host_bytes * HOST_SHARE)

    @property
    def usable_bytes(self) -> int:
        """What a build may take of all memory; what is not told counts for nothing."""
        return (self.host_usable_bytes or 0) + (0 if self.shared else sum(self.cards))

    @property
    def told(self) -> tuple[Reason, ...]:
        """What is said once of all builds: what is not known, and what they may take."""
        code = "estimate_card_memory_unknown"
        return (*(Reason(code, {"device": name}) for name in self.unknown), *self._limits())

    def card_on_host_bytes(self, needed: Needs) -> int:
        """Of a build what its cards take of the system's memory: all, where it is shared."""
        return sum(need.total_bytes for need in needed.cards) if self.shared else 0

    def on_host_bytes(self, needed: Needs) -> int:
        """What the system's memory has to hold of a build, with the process."""
        return needed.host.total_bytes + PROCESS_BYTES + self.card_on_host_bytes(needed)

    def on_cards_bytes(self, needed: Needs) -> list[int]:
        """What each card has to hold of a build, with the back end's own."""
        return [need.total_bytes + self.overhead_bytes for need in needed.cards]

    def cards_bear(self, needed: Needs) -> bool:
        """Whether each card holds what it has to."""
        pairs = zip(self.on_cards_bytes(needed), self.cards, strict=True)
        return all(need <= size for need, size in pairs)

    def host_bears(self, needed: Needs) -> bool:
        """Whether the system's memory holds what it has to; False where it is not told."""
        usable = self.host_usable_bytes
        return usable is not None and self.on_host_bytes(needed) <= usable

    def name_of(self, card: int) -> str:
        """Of a card, as people are told it."""
        return self.names[card] if self.names else f"card {card + 1}"

    def held_back_of(self, card: int) -> int:
        """Bytes of a card that no build may take."""
        return self.held_back[card] if self.held_back else 0

    def _limits(self) -> Iterator[Reason]:
        for card, size in enumerate(() if self.shared else self.cards):
            held = self.held_back_of(card)
            memory, usable = printed.apart(size + held, size, printed.GIB)
            told = {"device": self.name_of(card), "memory": memory, "usable": usable}
            told["own"] = printed.memory(self.overhead_bytes, printed.GIB)
            yield Reason("estimate_room_card", told)
        if self.host_bytes is None:
            yield Reason("estimate_host_memory_unknown")
            return
        yield Reason(
            "estimate_room_system",
            {
                "memory": printed.memory(self.host_bytes, printed.GIB),
                "share": round(100 * HOST_SHARE),
                "usable": printed.memory(self.host_usable_bytes or 0, printed.GIB),
            },
        )
