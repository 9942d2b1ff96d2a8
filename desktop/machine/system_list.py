"""The system's sources to one list of accelerators, each card once."""

from collections.abc import Iterable
from dataclasses import replace

from desktop.machine.parse_cards import from_nvml
from desktop.machine.vendors import NVIDIA
from desktop.records.machine import Accelerator
from desktop.sources.nvml import NvmlCard


def joined(
    system_name: str, nvml_cards: tuple[NvmlCard, ...], others: tuple[Accelerator, ...]
) -> tuple[Accelerator, ...]:
    """NVML's list and the system's as one.

    Args:
        system_name: `Machine.os`.
        nvml_cards: NVIDIA's cards that their driver runs; empty without that driver.
        others: what the system lists, NVIDIA's among them.
    """
    nvidia = tuple(_named_by_board(from_nvml(card), others) for card in nvml_cards)
    here = {card.pci_address for card in nvidia}

    def is_another(card: Accelerator) -> bool:
        # NVML lists all of NVIDIA's: one without an address is the same card a second time, and
        # on Windows one with another address a card that was taken out
        unlisted = card.pci_address not in here
        gone = card.pci_address is None or (system_name == "Windows" and unlisted)
        return card.vendor != NVIDIA or not gone

    return merge(nvidia, filter(is_another, others) if nvidia else others)


def merge(*sources: Iterable[Accelerator]) -> tuple[Accelerator, ...]:
    """Join lists by PCI address; the earlier source wins, later ones fill what it left open.

    Discrete cards come first, so that nobody takes a laptop's integrated one for the main one.
    """
    found: dict[str, Accelerator] = {}
    for position, card in enumerate(card for source in sources for card in source):
        key = card.pci_address or f"no address {position}"
        found[key] = _fill(found[key], card) if key in found else card
    return tuple(sorted(found.values(), key=lambda card: card.integrated))


def _named_by_board(card: Accelerator, others: tuple[Accelerator, ...]) -> Accelerator:
    """NVML calls each Jetson `Orin (nvgpu)`; its board knows which it is."""
    if card.pci_address is not None or not card.integrated:
        return card
    boards = (c for c in others if c.vendor == NVIDIA and c.integrated and c.pci_address is None)
    return replace(card, name=next((board.name for board in boards), card.name))


def _fill(known: Accelerator, other: Accelerator) -> Accelerator:
    return replace(
        known,
        driver=_driver(known.driver, other.driver),
        dedicated_bytes=_first(known.dedicated_bytes, other.dedicated_bytes),
        shared_bytes=_first(known.shared_bytes, other.shared_bytes),
        external=known.external or other.external,
    )


def _driver(known: str | None, other: str | None) -> str | None:
    """The kernel tells the driver's name, NVML its version: `nvidia 550.90.07`."""
    if known is not None and other is not None and known[0].isdigit() and not other[0].isdigit():
        return f"{other} {known}"
    return known or other


def _first(known: int | None, other: int | None) -> int | None:
    return known if known is not None else other
