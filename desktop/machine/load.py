"""How busy the machine is with anything but Gram."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from desktop.sources import system
from desktop.sources.system import CpuTimes


@dataclass(frozen=True, slots=True)
class LoadReader:
    """Where the CPU times come from; tests pass their own."""

    cpu_times: Callable[[], CpuTimes | None] = system.cpu_times
    tree_cpu_s: Callable[[Iterable[int]], float] = system.tree_cpu_s


class LoadWindow:
    """Other load between its making and `other_percent`, without sleeping.

    Args:
        pids: Gram's own processes; their children are found. Close the window while they live:
            only Linux still counts a child that has ended.
    """

    def __init__(self, pids: Iterable[int], reader: LoadReader | None = None) -> None:
        self._reader = reader or LoadReader()
        self._before = self._reader.cpu_times()
        self._own_s = self._reader.tree_cpu_s(tuple(pids))

    def other_percent(self, pids: Iterable[int]) -> float | None:
        """CPU use of everything else since the start, percent of all logical cores, 0 to 100.

        Args:
            pids: Gram's own processes now; one begun since then counts from its first moment.

        Returns:
            None when the system told nothing or no clock tick has passed.
        """
        after = self._reader.cpu_times()
        own_s = self._reader.tree_cpu_s(tuple(pids)) - self._own_s
        if self._before is None or after is None or after.total_s <= self._before.total_s:
            return None
        other_s = after.busy_s - self._before.busy_s - own_s
        # ticks of 10 ms can make the difference a little negative
        return min(100.0, max(0.0, 100 * other_s / (after.total_s - self._before.total_s)))
