"""The cards that a run uses, from the engine's devices and the machine's facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from desktop.power.cards import CardSensor
from desktop.records.machine import CARD_KINDS, Accelerator, Device, DeviceKind, Machine
from desktop.rules.catalogue import words_of
from desktop.rules.pci import pci_address, same_address

T = TypeVar("T")
_ELSEWHERE = "RPC"
"""The engine's devices of other machines."""
_APPLE = "Apple "
"""Apple's graphics share their chip with the processor, though Metal lists them as cards."""


@dataclass(frozen=True, slots=True)
class UsedCard:
    """One card of a run."""

    name: str
    pci_address: str | None = None
    integrated: bool = False
    memory_bytes: int | None = None
    vendor: str | None = None


def cards_of_run(machine: Machine, devices: Sequence[Device | str]) -> tuple[UsedCard, ...]:
    """The cards that hold layers when the engine is given `devices`, each once.

    The engine uses integrated cards only where there is no other (llama.cpp, default devices), and
    a card that two of its backends list is one card.

    Args:
        machine: names and addresses as system and driver tell them.
        devices: the engine's; processors and software devices are passed over. A bare name stands
            for a card of which nothing else is known.
    """
    found = [_joined(machine, device) for device in devices if _is_card(device)]
    alone = [card for card in found if not card.integrated]
    return tuple(dict.fromkeys(alone or found))


def same_name(one: str, other: str) -> bool:
    """Whether two names mean one product, by all their words: `RTX 3080` is not `RTX 3080 Ti`."""
    words = words_of(one)
    if not words:
        return " ".join(one.lower().split()) == " ".join(other.lower().split())
    return words == words_of(other)


def pairs_for(
    cards: Sequence[UsedCard], sensors: Sequence[CardSensor]
) -> tuple[tuple[UsedCard, CardSensor], ...] | None:
    """Each of these cards with its sensor; None when one of them has none.

    By PCI address where both tell it, else by name. Cards of one name cannot be told apart by it:
    then all of them are taken, used or not.
    """
    chosen: list[tuple[UsedCard, CardSensor]] = []
    for card in cards:
        matching = [sensor for sensor in sensors if _fits(card, sensor)]
        if not matching:
            return None
        taken = [sensor for _, sensor in chosen]
        chosen += [(card, sensor) for sensor in matching if sensor not in taken]
    return tuple(chosen)


def _fits(card: UsedCard, sensor: CardSensor) -> bool:
    if pci_address(card.pci_address) and pci_address(sensor.pci_address):
        return same_address(card.pci_address, sensor.pci_address)
    return same_name(card.name, sensor.name)


def _is_card(device: Device | str) -> bool:
    # what ggml calls an accelerator is a library on the processor (BLAS, AMX)
    if isinstance(device, str):
        return True
    here = not device.backend.startswith(_ELSEWHERE)
    return here and device.kind in CARD_KINDS


def _joined(machine: Machine, device: Device | str) -> UsedCard:
    """A device with what the machine's list adds to it."""
    if isinstance(device, str):
        return _filled(UsedCard(device), _only(_named(machine, device)))
    card = UsedCard(
        device.description,
        device.pci_address,
        device.kind is DeviceKind.IGPU or device.description.startswith(_APPLE),
        device.memory_bytes,
    )
    by_address = [
        a for a in machine.accelerators if same_address(a.pci_address, device.pci_address)
    ]
    return _filled(card, _only(by_address) or _only(_named(machine, device.description)))


def _named(machine: Machine, name: str) -> list[Accelerator]:
    return [a for a in machine.accelerators if same_name(a.name, name)]


def _only(found: Sequence[T]) -> T | None:
    return found[0] if len(found) == 1 else None


def _filled(card: UsedCard, known: Accelerator | None) -> UsedCard:
    if known is None:
        return card
    return UsedCard(
        card.name,
        card.pci_address or known.pci_address,
        known.integrated,
        known.dedicated_bytes or known.memory_bytes or card.memory_bytes,
        known.vendor,
    )
