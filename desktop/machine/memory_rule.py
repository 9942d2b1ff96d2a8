"""How much memory a computation on a card can use (docs/adr/0008-memory-rule.md)."""

from collections.abc import Iterable
from dataclasses import replace

from desktop.machine.vendors import APPLE, INTEL, NVIDIA
from desktop.records.machine import Accelerator, Machine
from desktop.sources.numbers import card_bytes

_LEAST_SHARED_BYTES = 64 * 1024 * 1024
_DRIVERS_OWN = 0.1
"""A driver keeps a few percent of a card for itself; a figure lower than that is a slice's (MIG,
vGPU), which is all that a computation gets."""


def settled(machine: Machine) -> Machine:
    """The machine with every card's memory as far as it is known without the engine."""
    shared = (with_share(card, machine) for card in machine.accelerators)
    cards = tuple(replace(card, memory_bytes=usable_bytes(card, machine)) for card in shared)
    return replace(machine, accelerators=cards)


def usable_bytes(card: Accelerator, machine: Machine, figures: Iterable[int] = ()) -> int | None:
    """What a computation on the card can use; None where nobody tells.

    Args:
        card: with what its driver tells, its share of the system's memory settled.
        machine: for the size of the system's memory.
        figures: what the engine's backends say of it, bytes.
    """
    told = tuple(figure for figure in map(card_bytes, figures) if figure is not None)
    if not card.integrated:
        return _of_discrete(card.dedicated_bytes, told)
    # the owner's own limit on an Apple chip stands above all
    if card.vendor == APPLE and card.memory_bytes is not None:
        return card.memory_bytes
    if _stands_alone(card):
        return card.dedicated_bytes
    if told:
        return _within(told, card.dedicated_bytes or 0, bound_bytes(card, machine))
    return None if card.vendor == APPLE else _of_driver(card)


def bound_bytes(card: Accelerator, machine: Machine) -> int | None:
    """No computation can have more: the card's own memory; with the system's where it shares it."""
    if not card.integrated:
        return card.dedicated_bytes
    return None if machine.ram_bytes is None else (card.dedicated_bytes or 0) + machine.ram_bytes


def _of_discrete(own_bytes: int | None, told: tuple[int, ...]) -> int | None:
    if own_bytes is None or not told:
        return own_bytes or max(told, default=None)
    figure = min(own_bytes, max(told))
    return figure if figure < (1 - _DRIVERS_OWN) * own_bytes else own_bytes


def _within(told: tuple[int, ...], own: int, bound: int | None) -> int | None:
    # two backends may see one card with different eyes: the larger that can be true. A carve-out is
    # the card's alone, so less than that is a backend that looks at one heap of several
    possible = [max(figure, own) for figure in told if bound is None or figure <= bound]
    return max(possible, default=bound)


def _stands_alone(card: Accelerator) -> bool:
    """Whether its carve-out is the larger part: set by its owner to be the card's memory.

    What a backend adds to it is the system's memory (ggml sums up all heaps of an integrated card),
    as it is behind a discrete card.
    """
    own, shared = card.dedicated_bytes, card.shared_bytes
    return own is not None and shared is not None and own > shared


def _of_driver(card: Accelerator) -> int | None:
    own, shared = card.dedicated_bytes, card.shared_bytes
    if own is None or shared is None:
        return own if shared is None else shared
    return own + shared


def with_share(card: Accelerator, machine: Machine) -> Accelerator:
    """The card with its share of the system's memory, where that follows from the system."""
    if not card.integrated or card.shared_bytes is not None or machine.ram_bytes is None:
        return card
    return replace(card, shared_bytes=_share_bytes(card, machine.os, machine.ram_bytes))


def _share_bytes(card: Accelerator, system: str, ram_bytes: int) -> int | None:
    if system == "Windows":
        # Microsoft, "Calculating graphics memory": the half, and never below 64 MB
        return max(ram_bytes // 2, _LEAST_SHARED_BYTES)
    shares_all = card.vendor == APPLE or (system == "Linux" and card.vendor in {INTEL, NVIDIA})
    return ram_bytes if shares_all else None
