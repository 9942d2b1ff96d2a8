"""Why a build fits nowhere on this machine, or only just: always the memory that is short of it.

What a build needs of the system's memory is told as everywhere, without the engine's process, which
is taken off what can be used.
"""

from typing import Final

from desktop.errors import Reason
from desktop.estimate import printed, reasons
from desktop.estimate.memory import PROCESS_BYTES, Needs
from desktop.estimate.room import Room
from desktop.records.fits import Fit

SYSTEM: Final = "the system's memory"


def too_large(room: Room, needed: Needs) -> Reason:
    """All memory together is too small for it."""
    beside = PROCESS_BYTES + room.overhead_bytes * len(needed.cards)
    usable = max(0, room.usable_bytes - beside)
    told = printed.apart(needed.total_bytes, usable, printed.GIB)
    return Reason("estimate_fits_nowhere", dict(zip(("need", "usable"), told, strict=True)))


def lacking(room: Room, needed: Needs) -> Reason:
    """The memory that is too small for a placement: the card that lacks most, else the system's."""
    if needed.total_bytes > room.usable_bytes or not needed.cards:
        return too_large(room, needed)
    on_cards = room.on_cards_bytes(needed)
    lacks = [need - size for need, size in zip(on_cards, room.cards, strict=True)]
    if max(lacks) <= 0:
        return _host_lacks(room, needed)
    card = lacks.index(max(lacks))
    need, usable = printed.apart(on_cards[card], room.cards[card], printed.GIB)
    memory = printed.memory(room.cards[card] + room.held_back_of(card), printed.GIB)
    told = {"device": room.name_of(card), "need": need, "usable": usable, "memory": memory}
    return Reason("estimate_card_lacks", told)


def tight(room: Room, fit: Fit, needed: Needs, quant: str) -> Reason | None:
    """It fits, and leaves little free: of the memory that is fullest; None where there is enough.

    With offload the cards are filled as far as they go, so the system's memory alone counts.
    """
    if room.rule is None:
        return None
    sizes = [(*_of_host(room, needed), SYSTEM)]
    if fit is Fit.ON_CARD:
        pairs = zip(room.on_cards_bytes(needed), room.cards, strict=True)
        sizes += [(need, size, room.name_of(card)) for card, (need, size) in enumerate(pairs)]
    need, usable, name = min(sizes, key=lambda of: 1 - of[0] / of[1])
    if not room.rule.is_tight(need, usable):
        return None
    return reasons.tight_on(quant, name, need, usable, printed.GIB)


def _host_lacks(room: Room, needed: Needs) -> Reason:
    need, usable = printed.apart(*_of_host(room, needed), printed.GIB)
    memory = printed.memory(room.host_bytes or 0, printed.GIB)
    return Reason("estimate_host_lacks", {"need": need, "usable": usable, "memory": memory})


def _of_host(room: Room, needed: Needs) -> tuple[int, int]:
    """What a build needs of the system's memory, and what it may take beside the process."""
    usable = (room.host_usable_bytes or 0) - PROCESS_BYTES
    return room.on_host_bytes(needed) - PROCESS_BYTES, max(1, usable)
