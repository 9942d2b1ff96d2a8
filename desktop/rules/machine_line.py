"""A machine in one line: `Linux · 2× Tesla T4 15 GB each · 4 CPUs · 31 GB RAM`."""  # noqa: RUF002

from collections import Counter

from desktop.records.machine import Accelerator, Machine
from desktop.rules.kind import CARDS_UNKNOWN, counted_cards

_GIB, _MIB = 2**30, 2**20
_UNKNOWN = {"", "unknown"}


def machine_line(machine: Machine) -> str:
    """System, cards with their memory, CPUs, RAM; what was not told is left out.

    Without cards it is `no GPU`, and `cards unknown` where they could not be looked for.

    Memory is in whole GiB (2^30 bytes), and `GB` is written behind it as the standings page does:
    it shows `Tesla T4 15 GB` for 15360 MiB and `31 GB RAM` for 31 GiB. What would round to none is
    in whole MiB: `400 MB RAM`. A card inside the processor has no memory beside its name: what it
    uses is the RAM that the line ends with.
    """
    cpus = machine.cpu.usable_cpus or machine.cpu.logical_cores
    parts = (
        None if machine.os.lower() in _UNKNOWN else machine.os,
        _cards(machine),
        None if cpus is None else f"{cpus} CPU{'' if cpus == 1 else 's'}",
        None if machine.ram_bytes is None else f"{_gb(machine.ram_bytes)} RAM",
    )
    return " · ".join(part for part in parts if part)


def _cards(machine: Machine) -> str:
    cards = counted_cards(machine.accelerators)
    counts = Counter((" ".join(card.name.split()), _memory(card)) for card in cards)
    said = [_card(name, memory, n) for (name, memory), n in counts.items()]
    return " + ".join(said + [CARDS_UNKNOWN] * machine.cards_unknown) or "no GPU"


def _card(name: str, memory: str, count: int) -> str:
    if count == 1:
        return f"{name} {memory}".strip()
    each = f" {memory} each" if memory else ""
    return f"{count}× {name}{each}"  # noqa: RUF001


def _memory(card: Accelerator) -> str:
    own = None if card.integrated else card.memory_bytes
    return "" if own is None else _gb(own)


def _gb(size_bytes: int) -> str:
    gib = round(size_bytes / _GIB)
    return f"{gib} GB" if gib else f"{round(size_bytes / _MIB)} MB"
