"""One test of one device: find the size that it needs and bears, then repeat until steady."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from desktop.bench.parts_device import Workload
from desktop.bench.parts_sizes import PASS_NS, next_size, shapes_of
from desktop.bench.parts_tasks import Task
from desktop.bench.tensors import CannotMeasureError
from desktop.records.parts import Part, PartsPlan, PartTest, Skipped
from desktop.rules.parts_rates import Shape, work_of
from desktop.rules.rates import spread

WARM_NS: Final = 250_000_000
"""Clocks of cards and processors rise within so long."""
PASSES: Final = 12
"""A pass takes at most one part in so many of a test's share of the time: then there is time for
its data, its warm-up and six repetitions."""
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

    def part(self) -> Part:
        """Grow to the size that is wanted, then measure.

        Raises:
            CannotMeasureError: not even the smallest size can be done, or the result is wrong.
        """
        end_ns = self.clock() + self.share_ns
        shapes, at = shapes_of(self.task.test, self.memory_bytes), 0
        while True:
            try:
                with self.opened.workload(self.task.test, shapes[at]) as load:
                    took_ns = self._second_pass(load)
                    larger = next_size(self.task.test, shapes, at, took_ns, self._pass_ns)
                    if larger is None:
                        return self._measured(load, shapes[at], took_ns, end_ns)
                at = larger
            except CannotMeasureError as e:
                if at == 0 or e.why not in _TOO_LARGE:
                    raise
                shapes, at = shapes[:at], at - 1

    @property
    def _pass_ns(self) -> int:
        return self.share_ns // PASSES

    def _second_pass(self, load: Workload) -> int:
        """How long a pass takes once the first one has made everything ready."""
        load.compute()
        start = self.clock()
        load.compute()
        return max(1, self.clock() - start)

    def _measured(self, load: Workload, shape: Shape, took_ns: int, end_ns: int) -> Part:
        task = self.task
        loops = min(MAX_LOOPS, -(-PASS_NS // took_ns))
        warm_ns = self.clock() + min(WARM_NS, self._pass_ns)
        while self.clock() < warm_ns:
            load.compute()
        durations = self._repeat(load, loops, end_ns)
        if not load.right():
            raise CannotMeasureError(Skipped.WRONG)
        work = loops * (work_of(task.test, shape) or 1)
        return Part(task.device.name, task.test, task.threads, work, durations, shape)

    def _repeat(self, load: Workload, loops: int, end_ns: int) -> tuple[int, ...]:
        """Durations, until they are steady, enough, or the time is over; one at least."""
        durations: list[int] = []
        while not self._enough(durations, end_ns):
            start = self.clock()
            for _ in range(loops):
                load.compute()
            durations.append(max(1, self.clock() - start))
        return tuple(durations)

    def _enough(self, durations: list[int], end_ns: int) -> bool:
        plan, done = self.plan, len(durations)
        if not done:
            return False
        if done >= plan.max_repetitions or self.clock() >= end_ns:
            return True
        found = spread([1 / ns for ns in durations]) if done >= plan.min_repetitions else None
        return found is not None and found <= plan.target_spread
