"""The machine as it is now, and whether what a statement tells of is the same hardware.

A ledger may be copied and a disk moved. The signing key says nothing of that: it is renewed, or a
file for a day, while the machine stays what it is (docs/adr/0012-estimates.md).
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Final

from desktop.estimate.bounds import Memory
from desktop.records.machine import Device, Machine, MemoryModules, PowerSupply
from desktop.rules.kind import kind_label
from desktop.rules.machine_writing import GIB
from desktop.rules.signed_text import shortened

_KEPT: Final = 0.125
"""The share of the memory by which two looks at one machine may differ."""


@dataclass(frozen=True, slots=True)
class State:
    """The machine as a run would find it now."""

    kind: str
    """The kind of machine."""
    cpu: str | None
    engine: str
    engine_version: str
    devices: tuple[str, ...]
    """That would hold the layers, by the engine's names."""
    threads: int
    supply: PowerSupply | None
    cards: Mapping[str, str] = field(default_factory=dict)
    """What the engine describes each card as, by its name."""
    ram_bytes: int | None = None
    modules: MemoryModules | None = None
    """Of the system's memory, where it tells of them."""
    memory: Mapping[str, Memory] = field(default_factory=dict)
    """Of each device, by the catalogue and the parts."""
    flops: Mapping[str, float] = field(default_factory=dict)
    """The same, operations a second of large products of F16."""


def fed_by(supply: PowerSupply | None) -> PowerSupply:
    """What feeds a machine; where nothing is told, mains."""
    return supply or PowerSupply.MAINS


def is_same_machine(machine: Machine, state: State) -> bool:
    """Whether a statement's machine has the hardware of this one as it is now.

    Memory and its modules count where both tell of them: a second module may double the bandwidth,
    and few systems tell of modules to everybody.
    """
    if (kind_label(machine), machine.cpu.name) != (state.kind, state.cpu):
        return False
    return _is_same_size(machine.ram_bytes, state.ram_bytes) and _are_same_modules(
        machine.modules, state.modules
    )


def is_same_card(device: Device, state: State) -> bool:
    """Whether a card of a statement is the one that has its name now; the names are numbered."""
    known = state.cards.get(device.name)
    # statements carry such texts as `shortened` leaves them
    return known is None or shortened(known) == shortened(device.description)


def _is_same_size(one: int | None, other: int | None) -> bool:
    """Statements tell memory in whole GiB, and systems differ in what they keep of it."""
    if one is None or other is None:
        return True
    return abs(one - other) <= max(GIB, _KEPT * max(one, other))


def _are_same_modules(one: MemoryModules | None, other: MemoryModules | None) -> bool:
    if one is None or other is None:
        return True
    pairs = zip(astuple(one), astuple(other), strict=True)
    return all(None in pair or pair[0] == pair[1] for pair in pairs)
