"""The kind of machine: what machines are grouped by."""

from collections import Counter

from desktop.records.machine import Accelerator, Machine

_OS_WORDS = {"macOS": "Mac"}
_APPLE = "Apple"


def kind_label(machine: Machine) -> str:
    """`2× Tesla T4`, `Apple M4`, or `Linux, CPU only · 4 CPUs`.

    Cards are named as their driver names them. Integrated graphics counts only where there is no
    discrete card. Different cards are joined by `+`, in the order in which they were found. The
    engine changes nothing of cards that the system lists. Apple's machines are called by their
    chip.
    """  # noqa: RUF002
    cards = counted_cards(machine.accelerators)
    if not cards or _is_apples(machine):
        return _without_cards(machine)
    counts = Counter(" ".join(card.name.split()) for card in cards)
    return " + ".join(name if n == 1 else f"{n}× {name}" for name, n in counts.items())  # noqa: RUF001


def counted_cards(cards: tuple[Accelerator, ...]) -> tuple[Accelerator, ...]:
    """The discrete cards; where there are none, the integrated ones."""
    discrete = tuple(card for card in cards if not card.integrated)
    return discrete or cards


def _is_apples(machine: Machine) -> bool:
    return machine.os == "macOS" and machine.architecture == "arm64"


def _without_cards(machine: Machine) -> str:
    if _is_apples(machine):
        names = (machine.cpu.name or "", *(card.name for card in machine.accelerators))
        return next((name for name in names if name.startswith(_APPLE)), "Apple silicon")
    system = f"{_OS_WORDS.get(machine.os, machine.os)}, CPU only"
    cpus = machine.cpu.usable_cpus or machine.cpu.logical_cores
    if cpus is None:
        return system
    return f"{system} · {cpus} CPU{'' if cpus == 1 else 's'}"
