"""One test of one device: find the size that it needs and bears, then repeat until steady."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from desktop.bench.parts_device import Workload
from desktop.bench.parts_sizes import PASS_NS, Limits, is_large_enough, next_size, shapes_of
from desktop.bench.parts_tasks import Task
from desktop.bench.tensors import CannotMeasureError
from desktop.records.parts import Part, PartsPlan, PartTest, Skipped
from desktop.rules.parts_rates import Shape, least_bytes, work_of
from desktop.rules.rates import spread

WARM_NS: Final = 250_000_000
"""Clocks of cards and processors rise within so long."""
PASSES: Final = 12
"""A pass takes at most one part in so many of a test's share of the time: then there is time for
its data, its warm-up and six repetitions."""
LEAST_PASSES: Final = 4
"""The same of a pass over no more than caches do not hold, which is taken though it is slow."""
LOOKS: Final = 5
LOOKS_NS: Final = 50_000_000
"""A pass is timed so often, within so long, and the shortest time decides: on a busy machine one
alone may be mostly another program's."""
MAX_LOOPS: Final = 10_000
_TOO_LARGE: Final = frozenset({Skipped.MEMORY, Skipped.UNSUPPORTED})


class Opened(Protocol):
    """A device that is ready to compute."""

    def workload(self, test: PartTest, shape: Shape) -> AbstractContextManager[Workload]:
        """The graph of a test; raises CannotMeasureError."""


@dataclass(frozen=True, slots=True)
class Repeater:
    """Measures one task within its share of the time."""

    task: Task
    opened: Opened
    plan: PartsPlan
    memory_bytes: int | None
    """Free on the device; None when it does not tell."""
    clock: Callable[[], int]
    """Monotonic nanoseconds."""
    share_ns: int
    longest_ns: int
    """What it may take to come to the least number of repetitions."""

    def part(self) -> Part:
        """Grow to the size that is wanted, then measure.

        Raises:
            CannotMeasureError: not even the smallest size can be done, the time is too short for
                one that caches do not hold, or the result is wrong.
        """
        begun_ns = self.clock()
        shapes, at = shapes_of(self.task.test, self.memory_bytes), 0
        while True:
            try:
                with self.opened.workload(self.task.test, shapes[at]) as load:
                    took_ns = self._pass(load)
                    larger = next_size(self.task.test, shapes, at, took_ns, self._limits)
                    if larger is None:
                        self._check_size(shapes, at)
                        return self._measured(load, shapes[at], took_ns, begun_ns)
                at = larger
            except CannotMeasureError as e:
                if at == 0 or e.why not in _TOO_LARGE:
                    raise
                shapes, at = shapes[:at], at - 1

    @property
    def _limits(self) -> Limits:
        least = least_bytes(self.task.device.kind, self.plan)
        return Limits(self._pass_ns, self.share_ns // LEAST_PASSES, least)

    @property
    def _pass_ns(self) -> int:
        return self.share_ns // PASSES

    def _check_size(self, shapes: tuple[Shape, ...], at: int) -> None:
        """Rather no figure than one of caches that stands as one of memory."""
        if not is_large_enough(self.task.test, shapes, at, self._limits.least_bytes):
            raise CannotMeasureError(Skipped.TIME)

    def _pass(self, load: Workload) -> int:
        """How long a pass takes once the first one has made everything ready."""
        load.compute()
        begun = self.clock()
        took: list[int] = []
        while len(took) < LOOKS and (not took or self.clock() - begun < LOOKS_NS):
            start = self.clock()
            load.compute()
            took.append(max(1, self.clock() - start))
        return min(took)

    def _measured(self, load: Workload, shape: Shape, took_ns: int, begun_ns: int) -> Part:
        task = self.task
        loops = min(MAX_LOOPS, -(-PASS_NS // took_ns))
        warm_ns = self.clock() + min(WARM_NS, self._pass_ns)
        while self.clock() < warm_ns:
            load.compute()
        durations = self._repeat(load, loops, begun_ns)
        if not load.right():
            raise CannotMeasureError(Skipped.WRONG)
        work = loops * (work_of(task.test, shape) or 1)
        return Part(task.device.name, task.test, task.threads, work, durations, shape)

    def _repeat(self, load: Workload, loops: int, begun_ns: int) -> tuple[int, ...]:
        """Durations, until they are steady, enough, or the time is over; one at least."""
        durations: list[int] = []
        while not self._enough(durations, begun_ns):
            start = self.clock()
            for _ in range(loops):
                load.compute()
            durations.append(max(1, self.clock() - start))
        return tuple(durations)

    def _enough(self, durations: list[int], begun_ns: int) -> bool:
        plan, done, spent_ns = self.plan, len(durations), self.clock() - begun_ns
        few = done < plan.min_repetitions
        if not done:
            return False
        if done >= plan.max_repetitions or spent_ns >= (self.longest_ns if few else self.share_ns):
            return True
        found = None if few else spread([1 / ns for ns in durations])
        return found is not None and found <= plan.target_spread
