"""NVIDIA's cards as their driver tells them one after another, each of which may take a second."""

from collections.abc import Callable, Iterable
from typing import Final

from desktop.errors import Reason
from desktop.machine.system_list import joined, of_nvidias_driver
from desktop.machine.tools import unanswered
from desktop.machine.vendors import NVIDIA
from desktop.records.machine import Accelerator
from desktop.sources.limits import Pending
from desktop.sources.nvml import NvmlCard

NAME: Final = "NVML (NVIDIA's driver)"


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
    ) -> tuple[tuple[Accelerator, ...], tuple[Reason, ...]]:
        """The system's list with what has been told so far, and what was not.

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
    ) -> tuple[Reason, ...]:
        run = len(of_nvidias_driver(others))
        if why is None:
            silent = Reason("source_silent", {"name": NAME, "count": run})
            return (silent,) if run > 0 and not found else ()
        broken = unanswered(NAME, why)
        if not found or run <= len(found):
            return (broken,)
        told = len(found)
        return broken, Reason("source_in_part", {"name": NAME, "told": told, "count": run})

    def _gather(self) -> None:
        for card in self._read():
            self._found.append(card)


def may_hide(cards: tuple[Accelerator, ...], untold: tuple[Reason, ...]) -> bool:
    """Whether there may be a card of NVIDIA's of which nobody told.

    A driver that answers nothing is there, and most often it has a card. Under WSL2, and wherever
    the bus shows none, it alone knows of it.

    Args:
        cards: all that are known.
        untold: what `joined` says was not told.
    """
    return bool(untold) and all(card.vendor != NVIDIA for card in cards)
