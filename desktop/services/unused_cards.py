"""Cards that the machine has and the engine does not use: figures without them need a word."""

from typing import Final

from desktop.errors import Reason
from desktop.records.events import Devices
from desktop.records.machine import Machine
from desktop.rules.kind import counted_cards

_NOT_OF_CARDS: Final = frozenset({"CPU", "BLAS", "RPC"})
"""Backends that compute on the processor, or elsewhere."""


def unused_cards(machine: Machine, engine: Devices | None) -> tuple[Reason, ...]:
    """That estimates are without cards which no back end of the engine lists, if there are any.

    Args:
        machine: with what the engine says of its cards.
        engine: None where it told nothing, which has a reason of its own.
    """
    names = [card.name for card in counted_cards(machine.accelerators) if card.backends == ()]
    if not names or engine is None:
        return ()
    backends = ", ".join(card_backends(engine)) or "processors only"
    return (Reason("estimate_card_unused", {"cards": ", ".join(names), "backends": backends}),)


def card_backends(engine: Devices) -> list[str]:
    """The back ends for cards that the engine was built with."""
    return [name for name in engine.backends if name not in _NOT_OF_CARDS]
