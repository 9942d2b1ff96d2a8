"""The order in which a machine's parts are measured.

Every device of the engine's list is measured, the processor with one thread and with all. Each test
gets an equal share of the time that is left; what one does not use is the others'. The small graph
is measured even when the time is over.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from desktop.bench.parts_protocol import PartsJob, PartsMessage, PartStarted
from desktop.bench.parts_repeat import Opened, Repeater
from desktop.bench.parts_sizes import LEAST_NS, usable_bytes
from desktop.bench.parts_tasks import Task, tasks_of
from desktop.bench.tensors import CannotMeasureError
from desktop.records.machine import Device
from desktop.records.parts import Part, PartSkip, Skipped

SHARES: Final = 2
"""A test may take so many shares of the time to come to the least number of repetitions."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Where the numbers come from and go to: replaced in tests."""

    clock: Callable[[], int]
    """Monotonic nanoseconds."""
    send: Callable[[PartsMessage], None]
    open_device: Callable[[Device, int | None], AbstractContextManager[Opened]]
    """A device, with so many threads; raises CannotMeasureError."""


def measure_parts(job: PartsJob, devices: Sequence[Device], tools: Tools) -> None:
    """Measure every device; each test ends in a `Part` or in a `PartSkip` that is sent."""
    wanted = [device for device in devices if device.name not in job.without]
    round_ = _Round(job, tools, tasks_of(wanted, job.plan))
    for group in round_.groups:
        round_.measure(group)


class _Round:
    """All tests, one after the other."""

    def __init__(self, job: PartsJob, tools: Tools, groups: tuple[tuple[Task, ...], ...]) -> None:
        self.groups = groups
        self._job, self._tools = job, tools
        self._planned = sum(map(len, groups))
        self._done = 0
        self._end_ns = tools.clock() + round(job.plan.time_limit_s * 1e9)

    def measure(self, group: tuple[Task, ...]) -> None:
        """The tests of one device with one number of threads."""
        # told before the device is opened: a driver may end the process right then
        self._begin(group[0])
        try:
            with self._tools.open_device(group[0].device, group[0].threads) as opened:
                for task in group:
                    if task is not group[0]:
                        self._begin(task)
                    self._tools.send(self._outcome(task, opened))
                    self._done += 1
        except CannotMeasureError as e:
            for task in group:
                self._tools.send(_skip(task, e.why))
            self._done += len(group)

    def _begin(self, task: Task) -> None:
        started = (task.device.name, task.test, task.threads)
        self._tools.send(PartStarted(*started, self._done, self._planned))

    def _outcome(self, task: Task, opened: Opened) -> Part | PartSkip:
        clock, job = self._tools.clock, self._job
        left_ns = self._end_ns - clock()
        share_ns = max(left_ns // (self._planned - self._done), LEAST_NS.get(task.test, 0))
        if share_ns <= 0:
            return _skip(task, Skipped.TIME)
        longest_ns = max(share_ns, min(SHARES * share_ns, left_ns))
        free = usable_bytes(task.device, job.memory_bytes)
        try:
            return Repeater(task, opened, job.plan, free, clock, share_ns, longest_ns).part()
        except CannotMeasureError as e:
            return _skip(task, e.why)


def _skip(task: Task, why: Skipped) -> PartSkip:
    return PartSkip(task.device.name, task.test, task.threads, why)
