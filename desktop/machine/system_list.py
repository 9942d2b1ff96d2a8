"""The system's sources to one list of accelerators, each card once."""

from collections.abc import Iterable
from dataclasses import replace

from desktop.machine.parse_cards import from_nvml
from desktop.machine.vendors import NVIDIA
from desktop.records.machine import Accelerator
from desktop.sources.nvml import NvmlCard


def joined(
    nvml_cards: tuple[NvmlCard, ...], others: tuple[Accelerator, ...], *, complete: bool = True
) -> tuple[Accelerator, ...]:
    """NVML's list and the system's as one.

    Args:
        nvml_cards: NVIDIA's cards that their driver runs; empty without that driver.
        others: what the system lists, NVIDIA's among them.
        complete: whether NVML told all of its cards, so that one that it left out is no card for
            us: taken out, or given to others (a container shows the host's whole bus). Those of
            another driver (nouveau) stay.
    """
    nvidia = tuple(_named_by_board(from_nvml(card), others) for card in nvml_cards)
    here = {card.pci_address for card in nvidia}

    def is_another(card: Accelerator) -> bool:
        if card.vendor != NVIDIA or card.pci_address in here - {None}:
            return True
        # one without an address is the same card a second time
        return card.pci_address is not None and not (complete and _is_nvidias_own(card))

    return merge(nvidia, filter(is_another, others) if nvidia else others)


def of_nvidias_driver(cards: Iterable[Accelerator]) -> tuple[Accelerator, ...]:
    """The cards that NVIDIA's driver runs, by what the system says of them."""
    return tuple(c for c in cards if c.vendor == NVIDIA and c.driver and _is_nvidias_own(c))


def _is_nvidias_own(card: Accelerator) -> bool:
    # Linux tells the driver's name, Windows its version
    return not card.driver or card.driver == "nvidia" or card.driver[0].isdigit()


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
        external=known.external if known.external is not None else other.external,
    )


def _driver(known: str | None, other: str | None) -> str | None:
    """The kernel tells the driver's name, NVML its version: `nvidia 550.90.07`."""
    if known and other and known[0].isdigit() and not other[0].isdigit():
        return f"{other} {known}"
    return known or other


def _first(known: int | None, other: int | None) -> int | None:
    return known if known is not None else other
