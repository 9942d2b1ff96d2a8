"""How much memory there is for one build: on the cards, and with the processor's help."""

from dataclasses import dataclass

from desktop.records.machine import Accelerator, Machine

_INTEL = "Intel"


@dataclass(frozen=True, slots=True)
class MemoryAnswers:
    """Two answers to "does it fit", never one.

    A build that is too large for the card still runs where the system's memory takes the rest
    (docs/adr/0008-memory-rule.md).
    """

    on_card_bytes: int | None
    """On the cards that a run would use; None without a card, or where nobody tells."""
    with_offload_bytes: int | None
    """The cards and the system's memory together, memory that both share counted once."""


def memory_answers(machine: Machine) -> MemoryAnswers:
    """Both answers, in bytes; what is free of it now is another question."""
    cards = used_cards(machine)
    if not cards:
        return MemoryAnswers(None, machine.ram_bytes)
    known = [card.memory_bytes for card in cards if card.memory_bytes is not None]
    return MemoryAnswers(sum(known) if known else None, _together(cards, machine.ram_bytes))


def used_cards(machine: Machine) -> tuple[Accelerator, ...]:
    """The cards that a run would use: the discrete ones, else the first integrated one.

    Where the engine was asked, cards that no backend of it lists do not count.
    """
    listed = tuple(card for card in machine.accelerators if card.backends)
    cards = listed or machine.accelerators
    return tuple(card for card in cards if not card.integrated) or cards[:1]


def _together(cards: tuple[Accelerator, ...], ram_bytes: int | None) -> int | None:
    if ram_bytes is None:
        return None
    own = (_beside_ram(card) for card in cards)
    return ram_bytes + sum(size for size in own if size is not None)


def _beside_ram(card: Accelerator) -> int | None:
    if not card.integrated:
        return card.memory_bytes
    # only a carve-out is not the system's memory already; Intel's Windows driver reports one that
    # it does not take ("fictitious", Intel's support article on graphics memory)
    return None if card.vendor == _INTEL else card.dedicated_bytes
