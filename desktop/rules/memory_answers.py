"""How much memory there is for one build: on the cards, and with the processor's help."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from desktop.records.machine import Accelerator, Machine

ON_CARD: Final = "On the card"
WITH_OFFLOAD: Final = "With offload"
IN_MEMORY: Final = "In the system's memory"
OF_ALL: Final = "Of all that there is; programs and the system need some of it."
"""Said of all answers."""
_INTEL = "Intel"


@dataclass(frozen=True, slots=True)
class MemoryAnswers:
    """Two answers to "does it fit", never one.

    A build that is too large for the card still runs where the system's memory takes the rest
    (docs/adr/0008-memory-rule.md).
    """

    on_card_bytes: int | None
    """On the cards that a run would use; None without a card, or where one's is not told."""
    with_offload_bytes: int | None
    """The cards and the system's memory together, memory that both share counted once; None where
    one of them is not told."""


def answers_in_words(machine: Machine) -> tuple[tuple[str, int | None], ...]:
    """What a build may use, as people are told it: label and bytes, None where not told.

    Without a card that a run would use there is one answer: nothing is offloaded then.
    """
    answers = memory_answers(machine)
    if not used_cards(machine):
        return ((IN_MEMORY, answers.with_offload_bytes),)
    return ((ON_CARD, answers.on_card_bytes), (WITH_OFFLOAD, answers.with_offload_bytes))


def memory_answers(machine: Machine) -> MemoryAnswers:
    """Both answers, in bytes; what is free of it now is another question."""
    cards = used_cards(machine)
    if not cards:
        return MemoryAnswers(None, machine.ram_bytes)
    on_cards = _sum(card.memory_bytes for card in cards)
    beside = _sum(_beside_ram(card) for card in cards)
    return MemoryAnswers(on_cards, _sum((machine.ram_bytes, beside)))


def used_cards(machine: Machine) -> tuple[Accelerator, ...]:
    """The cards that a run would use: the discrete ones, else the first integrated one.

    Where the engine was asked, cards that no backend of it lists do not count: none at all, where
    it lists the processor alone.
    """
    cards = tuple(card for card in machine.accelerators if card.backends != ())
    return tuple(card for card in cards if not card.integrated) or cards[:1]


def _sum(sizes: Iterable[int | None]) -> int | None:
    """None where one is not told: the sum of the others would pass for the whole."""
    told = tuple(sizes)
    known = [size for size in told if size is not None]
    return sum(known) if len(known) == len(told) else None


def _beside_ram(card: Accelerator) -> int | None:
    if not card.integrated:
        return card.memory_bytes
    # only a carve-out is not the system's memory already; Intel's Windows driver reports one that
    # it does not take ("fictitious", Intel's support article on graphics memory)
    return 0 if card.vendor == _INTEL else card.dedicated_bytes or 0
