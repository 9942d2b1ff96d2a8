"""The kind of machine: what machines are grouped by."""

from collections import Counter

from desktop.records.machine import Accelerator, Machine

_OS_WORDS = {"macOS": "Mac"}
_APPLE = "Apple"
CARDS_UNKNOWN = "cards unknown"
"""Said where the cards of a machine could not be looked for."""


def kind_label(machine: Machine) -> str:
    """`2× Tesla T4`, `Apple M4`, `Linux, CPU only · 4 CPUs`, or `Linux, cards unknown · 4 CPUs`.

    Cards are named as their driver names them. Integrated graphics counts only where there is no
    discrete card. Different cards are joined by `+`, in the order in which they were found. The
    engine changes nothing of cards that the system lists. Apple's machines are called by their
    chip. Where cards could not be looked for, those that were found may not be all: `Tesla T4 +
    cards unknown`.
    """  # noqa: RUF002
    cards = counted_cards(machine.accelerators)
    if not cards or _is_apples(machine):
        return _without_cards(machine)
    counts = Counter(" ".join(card.name.split()) for card in cards)
    names = [name if n == 1 else f"{n}× {name}" for name, n in counts.items()]  # noqa: RUF001
    return " + ".join(names + [CARDS_UNKNOWN] * machine.cards_unknown)


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
    cards = CARDS_UNKNOWN if machine.cards_unknown else "CPU only"
    system = f"{_OS_WORDS.get(machine.os, machine.os)}, {cards}"
    cpus = machine.cpu.usable_cpus or machine.cpu.logical_cores
    if cpus is None:
        return system
    return f"{system} · {cpus} CPU{'' if cpus == 1 else 's'}"
