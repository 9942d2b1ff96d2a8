"""NVIDIA's cards as their driver tells them one after another, each of which may take a second."""

from collections.abc import Callable, Iterable
from typing import Final

from desktop.machine.system_list import joined, of_nvidias_driver
from desktop.machine.tools import STUCK, STUCK_WORDS
from desktop.records.machine import Accelerator
from desktop.sources.limits import Pending
from desktop.sources.nvml import NvmlCard

NAME: Final = "NVML (NVIDIA's driver)"
_BY_TABLES: Final = "the others are named by the system's tables"


class NvidiaList:
    """A list that grows while it is read: what is in it when time is up counts.

    Args:
        read: gives card after card; begun here, in a thread of its own.
    """

    def __init__(self, read: Callable[[], Iterable[NvmlCard]]) -> None:
        self._read = read
        self._found: list[NvmlCard] = []
        self.pending = Pending(NAME, self._gather)

    def joined(
        self, others: tuple[Accelerator, ...]
    ) -> tuple[tuple[Accelerator, ...], tuple[str, ...]]:
        """The system's list with what has been told so far, and in plain words what was not.

        Args:
            others: what the system lists, NVIDIA's among them.
        """
        # in this order: a list that was whole has grown no more
        why = self.pending.failure
        found = tuple(self._found)
        cards = joined(found, others, complete=why is None)
        return cards, self._untold(why, found, others)

    def _untold(
        self, why: str | None, found: tuple[NvmlCard, ...], others: tuple[Accelerator, ...]
    ) -> tuple[str, ...]:
        run = len(of_nvidias_driver(others))
        if why is None:
            silent = run > 0 and not found
            words = f"{NAME}: told nothing of {_count(run)}; the system's tables name what is there"
            return (words,) if silent else ()
        words = STUCK_WORDS if why == STUCK else f"could not be read ({why})"
        if found and run > len(found):
            words += f"; it had told {len(found)} of {_count(run)}; {_BY_TABLES}"
        return (f"{NAME}: {words}",)

    def _gather(self) -> None:
        for card in self._read():
            self._found.append(card)


def _count(cards: int) -> str:
    return f"{cards} card{'' if cards == 1 else 's'} that it runs"
