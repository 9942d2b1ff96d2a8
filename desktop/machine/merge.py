"""The engine's list of devices joined to the machine's cards."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from desktop.machine.memory_rule import bound_bytes, usable_bytes
from desktop.machine.names import likeness, vendor_of
from desktop.machine.parse_cards import is_address, normal_address
from desktop.records.machine import Accelerator, Device, DeviceKind, Machine

_CARDS = frozenset({DeviceKind.GPU, DeviceKind.IGPU})
_WORDS = {"MTL": "Metal"}
"""Newer engines call their Metal registry so."""
_ELSEWHERE = "RPC"
"""The engine's devices of other machines: never counted as this one's."""


def with_engine(machine: Machine, devices: tuple[Device, ...]) -> Machine:
    """The machine with what the engine's backends say of its cards.

    Each backend lists a card at most once: by PCI address where it tells one, else by the maker and
    whole words of the name, the k-th of equal names to the k-th. No card is added or renamed, so
    that the kind of machine is the same with every engine. The backend whose memory figure was
    taken comes first.
    """
    cards = machine.accelerators
    listed: list[list[Device]] = [[] for _ in cards]
    wanted = [d for d in devices if d.kind in _CARDS and not d.backend.startswith(_ELSEWHERE)]
    for backend in dict.fromkeys(device.backend for device in wanted):
        own = [device for device in wanted if device.backend == backend]
        for card, device in _pairs(cards, own):
            listed[card].append(device)
    joined = (_joined(c, found, machine) for c, found in zip(cards, listed, strict=True))
    return replace(machine, accelerators=tuple(joined))


def _joined(card: Accelerator, found: Sequence[Device], machine: Machine) -> Accelerator:
    if not found:
        return card
    bound = bound_bytes(card, machine)

    def rank(device: Device) -> int:
        figure = device.memory_bytes or 0
        return figure if bound is None or figure <= bound else 0

    ranked = sorted(found, key=rank, reverse=True)
    backends = tuple(_WORDS.get(device.backend, device.backend) for device in ranked)
    figures = [device.memory_bytes for device in found if device.memory_bytes is not None]
    return replace(card, memory_bytes=usable_bytes(card, machine, figures), backends=backends)


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
    address = device.pci_address
    if address is not None and is_address(address) and card.pci_address is not None:
        return _SAME_ADDRESS if normal_address(address) == card.pci_address else 0
    if vendor_of(device.description) != card.vendor:
        return 0
    # a processor has one graphics unit, whatever two sources call it
    units = card.integrated and device.kind is DeviceKind.IGPU
    return max(likeness(card.name, device.description), int(units))
