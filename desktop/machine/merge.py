"""Accelerators from several sources to one list, each card once."""

from collections.abc import Iterable

from desktop.records.machine import Accelerator


def merge(*sources: Iterable[Accelerator]) -> tuple[Accelerator, ...]:
    """Join lists by PCI address; the earlier source wins, later ones fill what it left open.

    Discrete cards come first, so that nobody takes a laptop's integrated one for the main one.
    """
    found: dict[str, Accelerator] = {}
    for position, card in enumerate(card for source in sources for card in source):
        key = card.pci_address or f"no address {position}"
        found[key] = _fill(found[key], card) if key in found else card
    return tuple(sorted(found.values(), key=lambda card: card.integrated))


def _fill(known: Accelerator, other: Accelerator) -> Accelerator:
    memory = known.memory_bytes if known.memory_bytes is not None else other.memory_bytes
    return Accelerator(
        known.vendor,
        known.name,
        memory,
        known.integrated,
        known.pci_address,
        known.driver or other.driver,
    )
