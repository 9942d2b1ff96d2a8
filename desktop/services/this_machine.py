"""This machine's devices as the estimates see them: the catalogue's figures, and its own memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from desktop.errors import Reason
from desktop.estimate.fitting import Room
from desktop.estimate.placed_work import Side, Sides
from desktop.estimate.targets import targets_for
from desktop.estimate.token_work import HOST
from desktop.machine import pairing
from desktop.records.estimate import Configuration, Efficiency, Target
from desktop.records.machine import Accelerator, Device, Machine
from desktop.rules.memory_answers import used_cards
from desktop.services import estimate_tables
from desktop.services.estimate_tables import DeviceRow
from desktop.services.this_host import host_of

_BACKENDS: Final = {"HIP": "ROCm", "MTL": "Metal"}
"""ggml's names of back ends that the table of targets has under others."""


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices that a run would use."""

    cards: tuple[Device, ...]
    """In the engine's order; without those whose memory nobody tells, which are in the room."""
    room: Room
    bandwidths: Mapping[str, float]
    """Of each device's memory by the catalogue or the modules, bytes a second."""
    sides: Mapping[str, Sides]
    """By quantizations' family."""
    targets: Mapping[str, Target]
    """Of each device, by the engine's name, the one that would run."""
    why_no_sides: Reason | None = None
    computes_bf16: bool | None = None
    """Whether the first card, or the processor where there is none, does; None: no source tells."""


def devices_of(machine: Machine, listed: Sequence[Device]) -> Devices:
    """What the engine lists, with the catalogue's figures and the machine's memory."""
    every = _paired(listed, machine)
    pairs = tuple(pair for pair in every if _known_memory(pair) is not None)
    unknown = [device for device, card in every if (device, card) not in pairs]
    cards = tuple(device for device, _ in pairs)
    known = {card.name: _card(card, accelerator) for card, accelerator in pairs}
    host = host_of(machine)
    targets = {name: _target(c, d) for d in cards if (c := known[(name := d.name)]) is not None}
    targets[HOST] = next(iter(targets_for(host, estimate_tables.known_targets())), None)
    told = {name: target for name, target in targets.items() if target is not None}
    sides = _all_sides({**known, HOST: host}, told, cards)
    missing = next((d.description for d in cards if known[d.name] is None), None)
    return Devices(
        cards=cards,
        room=_room(machine, pairs, unknown, told),
        bandwidths={
            name: found.bandwidth_bytes_s
            for name, found in {**known, HOST: host}.items()
            if found is not None and found.bandwidth_bytes_s is not None
        },
        sides=sides,
        targets=told,
        why_no_sides=Reason("estimate_no_bandwidth", {"device": missing or host.name}),
        computes_bf16=_computes_bf16(machine, host, [known[device.name] for device in cards]),
    )


def _computes_bf16(
    machine: Machine, host: Configuration, cards: Sequence[Configuration | None]
) -> bool | None:
    if cards:
        return None if cards[0] is None else cards[0].bf16
    return host.bf16 if machine.cpu.instruction_sets else None


def _paired(listed: Sequence[Device], machine: Machine) -> tuple[tuple[Device, Accelerator], ...]:
    """Each used card with the engine's first device for it; in the engine's order.

    A card and a device that fit none are left out: `unused_cards` names the card.
    """
    used, every = used_cards(machine), machine.accelerators
    found: dict[int, Device] = {}
    for own in pairing.by_backend(listed):
        for card, device in pairing.pairs(every, own):
            found.setdefault(card, device)
    # the same objects: two cards may be equal in all that is told of them
    kept = [(d, every[c]) for c, d in found.items() if any(every[c] is card for card in used)]
    places = {id(device): place for place, device in enumerate(listed)}
    return tuple(sorted(kept, key=lambda pair: places[id(pair[0])]))


def _all_sides(
    known: Mapping[str, Configuration | None],
    targets: Mapping[str, Target],
    cards: Sequence[Device],
) -> dict[str, Sides]:
    """By family, where every device has a figure."""
    found = {}
    for family in {f for target in targets.values() for f, _ in target.efficiencies}:
        sides = [_side(known.get(d.name), targets.get(d.name), family) for d in cards]
        host = _side(known[HOST], targets.get(HOST), family)
        told = tuple(side for side in sides if side is not None)
        if len(told) == len(sides) and (told or host is not None):
            found[family] = Sides(told, host)
    return found


def _side(configuration: Configuration | None, target: Target | None, family: str) -> Side | None:
    efficiency: Efficiency | None = dict(target.efficiencies).get(family) if target else None
    if configuration is None or efficiency is None or configuration.bandwidth_bytes_s is None:
        return None
    return Side(configuration, efficiency)


def _known_memory(pair: tuple[Device, Accelerator]) -> int | None:
    """Bytes by the driver, else by the engine; none at all is what neither tells."""
    device, accelerator = pair
    return accelerator.memory_bytes or device.memory_bytes or None


def _room(
    machine: Machine,
    pairs: Sequence[tuple[Device, Accelerator]],
    unknown: Sequence[Device],
    targets: Mapping[str, Target],
) -> Room:
    sizes = tuple(_known_memory(pair) or 0 for pair in pairs)
    overhead = max(
        (targets[d.name].overhead_bytes for d, _ in pairs if d.name in targets), default=0
    )
    shared = bool(pairs) and all(a.integrated for _, a in pairs)
    rule = estimate_tables.held_back_rule()
    held_back = tuple(0 if shared else rule.of_memory(size) for size in sizes)
    return Room(
        cards=tuple(size - held for size, held in zip(sizes, held_back, strict=True)),
        host_bytes=machine.ram_bytes,
        shared=shared,
        overhead_bytes=overhead,
        names=tuple(device.description for device, _ in pairs),
        held_back=held_back,
        unknown=tuple(device.description for device in unknown),
        rule=rule,
    )


def _card(device: Device, accelerator: Accelerator) -> Configuration | None:
    """The catalogue's row of a card, with the memory that this one has."""
    row = estimate_tables.device_row(accelerator) or estimate_tables.device_row(
        replace(accelerator, name=device.description)
    )
    memory = _known_memory((device, accelerator))
    return None if row is None or memory is None else _nearest(row, memory)


def _nearest(row: DeviceRow, memory_bytes: int) -> Configuration:
    found = min(row.configurations, key=lambda c: abs(c.memory_bytes - memory_bytes))
    return replace(found, memory_bytes=memory_bytes, usable_bytes=memory_bytes)


def _target(configuration: Configuration, device: Device) -> Target | None:
    """That of the engine's own back end; else the one that the table prefers."""
    found = targets_for(configuration, estimate_tables.known_targets())
    wanted = _BACKENDS.get(device.backend, device.backend)
    return next((t for t in found if t.backend == wanted), found[0] if found else None)
