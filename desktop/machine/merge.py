"""The engine's list of devices joined to the machine's cards."""

from collections.abc import Sequence
from dataclasses import replace

from desktop.machine.engine_only import unlisted_cards
from desktop.machine.memory_rule import bound_bytes, usable_bytes, with_share
from desktop.machine.names import words
from desktop.machine.pairing import by_backend, has_same_address, pairs
from desktop.records.machine import Accelerator, Device, DeviceKind, Machine

_WORDS = {"MTL": "Metal"}
"""Newer engines call their Metal registry so."""


def with_engine(machine: Machine, devices: tuple[Device, ...]) -> Machine:
    """The machine with what the engine's backends say of its cards.

    Each backend lists a card at most once (`pairing.pairs`). No card is renamed; one is added
    only where the system lists none of its maker's (`unlisted_cards`), so that the kind of machine
    is the same with every engine wherever the system can see. The backend whose memory figure was
    taken comes first. A card that no backend lists has empty `backends`.
    """
    cards = list(machine.accelerators)
    listed: list[list[Device]] = [[] for _ in cards]
    for own in by_backend(devices):
        found = pairs(cards, own)
        for card, device in found:
            listed[card].append(device)
        alone = [d for d in own if all(d is not device for _, device in found)]
        for added, device in unlisted_cards(machine.accelerators, alone):
            cards.append(added)
            listed.append([device])
    joined = (_joined(c, own, machine) for c, own in zip(cards, listed, strict=True))
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
        device.kind is DeviceKind.IGPU and (not words(card.name) or has_same_address(card, device))
        for device in found
    )
    return replace(card, integrated=card.integrated or (card.dedicated_bytes is None and told))
