"""The engine's list of devices joined to the machine's cards."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from desktop.machine.engine_only import unlisted_cards
from desktop.machine.memory_rule import bound_bytes, usable_bytes, with_share
from desktop.machine.names import likeness, vendor_of, words
from desktop.machine.vendors import UNKNOWN
from desktop.records.machine import CARD_KINDS, Accelerator, Device, DeviceKind, Machine
from desktop.rules.pci import pci_address

_WORDS = {"MTL": "Metal"}
"""Newer engines call their Metal registry so."""
_ELSEWHERE = "RPC"
"""The engine's devices of other machines: never counted as this one's."""


def with_engine(machine: Machine, devices: tuple[Device, ...]) -> Machine:
    """The machine with what the engine's backends say of its cards.

    Each backend lists a card at most once: by PCI address where it tells one, else by the maker and
    whole words of the name, the k-th of equal names to the k-th. No card is renamed; one is added
    only where the system lists none of its maker's (`unlisted_cards`), so that the kind of machine
    is the same with every engine wherever the system can see. The backend whose memory figure was
    taken comes first. A card that no backend lists has empty `backends`.
    """
    cards = list(machine.accelerators)
    listed: list[list[Device]] = [[] for _ in cards]
    wanted = [d for d in devices if d.kind in CARD_KINDS and not d.backend.startswith(_ELSEWHERE)]
    for backend in dict.fromkeys(device.backend for device in wanted):
        own = [device for device in wanted if device.backend == backend]
        pairs = _pairs(cards, own)
        for card, device in pairs:
            listed[card].append(device)
        alone = [d for d in own if all(d is not device for _, device in pairs)]
        for added, device in unlisted_cards(machine.accelerators, alone):
            cards.append(added)
            listed.append([device])
    joined = (_joined(c, found, machine) for c, found in zip(cards, listed, strict=True))
    ordered = sorted(joined, key=lambda card: card.integrated)
    return replace(machine, accelerators=tuple(ordered))


def _joined(card: Accelerator, found: Sequence[Device], machine: Machine) -> Accelerator:
    card = with_share(_as_integrated(card, found), machine)
    if not found:
        return replace(card, backends=())
    bound = bound_bytes(card, machine)

    def rank(device: Device) -> int:
        figure = device.memory_bytes or 0
        return figure if bound is None or figure <= bound else 0

    ranked = sorted(found, key=rank, reverse=True)
    backends = tuple(_WORDS.get(device.backend, device.backend) for device in ranked)
    figures = [device.memory_bytes for device in found if device.memory_bytes is not None]
    return replace(card, memory_bytes=usable_bytes(card, machine, figures), backends=backends)


def _as_integrated(card: Accelerator, found: Sequence[Device]) -> Accelerator:
    """A card without memory of its own that a backend calls integrated is so.

    Its name did not tell: a guest sees the host's integrated graphics at any address, and a system
    without tables knows no name. A name that does tell stands, unless the address is the same.
    """
    told = any(
        device.kind is DeviceKind.IGPU
        and (not words(card.name) or _alike(card, device) == _SAME_ADDRESS)
        for device in found
    )
    return replace(card, integrated=card.integrated or (card.dedicated_bytes is None and told))


class _Pair(NamedTuple):
    """How well a card and a device fit; the least is taken first."""

    unlikeness: int
    other_kind: bool
    card: int
    device: int


_SAME_ADDRESS = 4


def _pairs(cards: Sequence[Accelerator], devices: Sequence[Device]) -> list[tuple[int, Device]]:
    """Index of a card, and the device that is it; each card and each device once."""
    fits = (
        _Pair(-alike, card.integrated != (device.kind is DeviceKind.IGPU), c, d)
        for c, card in enumerate(cards)
        for d, device in enumerate(devices)
        if (alike := _alike(card, device)) > 0
    )
    taken: dict[int, int] = {}
    for fit in sorted(fits):
        if fit.card not in taken and fit.device not in taken.values():
            taken[fit.card] = fit.device
    return [(card, devices[device]) for card, device in taken.items()]


def _alike(card: Accelerator, device: Device) -> int:
    address = pci_address(device.pci_address)
    if address is not None and card.pci_address is not None:
        return _SAME_ADDRESS if address == card.pci_address else 0
    if (vendor_of(device.description) or UNKNOWN) != card.vendor:
        return 0
    # a processor has one graphics unit, whatever two sources call it
    units = card.integrated and device.kind is DeviceKind.IGPU
    return max(likeness(card.name, device.description), int(units))
