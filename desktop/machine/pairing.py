"""Which device of the engine's list is which card of the machine."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from desktop.machine.names import likeness, vendor_of
from desktop.machine.vendors import UNKNOWN
from desktop.records.machine import CARD_KINDS, Accelerator, Device, DeviceKind
from desktop.rules.pci import pci_address

_ELSEWHERE: Final = "RPC"
"""The engine's devices of other machines: never counted as this one's."""
_SAME_ADDRESS: Final = 4
_SAME_SIZE: Final = 0.9
"""Two sources' figures for one card differ by what its driver keeps, a few percent."""


def by_backend(devices: Sequence[Device]) -> Iterator[tuple[Device, ...]]:
    """The cards of each back end, in the engine's order; each lists a card at most once."""
    wanted = [d for d in devices if d.kind in CARD_KINDS and not d.backend.startswith(_ELSEWHERE)]
    for backend in dict.fromkeys(device.backend for device in wanted):
        yield tuple(device for device in wanted if device.backend == backend)


def pairs(cards: Sequence[Accelerator], devices: Sequence[Device]) -> list[tuple[int, Device]]:
    """Index of a card, and the device that is it; each card and each device once.

    By PCI address where both tell one, else by the maker and whole words of the name; of equal
    names those of equal memory, and then the k-th to the k-th. What fits none is left out.

    Args:
        cards: all of the machine's: one that is left out may be whose device another then gets.
        devices: of one back end.
    """
    fits = (
        _Pair(
            -alike, card.integrated != (device.kind is DeviceKind.IGPU), _differ(card, device), c, d
        )
        for c, card in enumerate(cards)
        for d, device in enumerate(devices)
        if (alike := _alike(card, device)) > 0
    )
    taken: dict[int, int] = {}
    for fit in sorted(fits):
        if fit.card not in taken and fit.device not in taken.values():
            taken[fit.card] = fit.device
    return [(card, devices[device]) for card, device in taken.items()]


def has_same_address(card: Accelerator, device: Device) -> bool:
    """Whether both are at one place of the bus, and tell it."""
    return _alike(card, device) == _SAME_ADDRESS


class _Pair(NamedTuple):
    """How well a card and a device fit; the least is taken first."""

    unlikeness: int
    other_kind: bool
    other_size: bool
    card: int
    device: int


def _alike(card: Accelerator, device: Device) -> int:
    address = pci_address(device.pci_address)
    if address is not None and card.pci_address is not None:
        return _SAME_ADDRESS if address == card.pci_address else 0
    if (vendor_of(device.description) or UNKNOWN) != card.vendor:
        return 0
    # a processor has one graphics unit, whatever two sources call it
    units = card.integrated and device.kind is DeviceKind.IGPU
    return max(likeness(card.name, device.description), int(units))


def _differ(card: Accelerator, device: Device) -> bool:
    """Whether their own memory is of two sizes; shared memory has as many as there are sources."""
    own, told = card.dedicated_bytes or card.memory_bytes, device.memory_bytes
    if card.integrated or not own or not told:
        return False
    return min(own, told) < _SAME_SIZE * max(own, told)
