"""What the worker tells of the parts, turned into events for the doors and the values to sign.

A driver that ends the process costs its device only: the others go on in another worker. Every test
ends in a figure or in a `PartSkip`, whatever becomes of the workers.
"""

import logging
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from desktop import clock
from desktop.bench.parts_protocol import PartsJob, PartStarted
from desktop.bench.parts_tasks import Task, tasks_of
from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Finished, Message
from desktop.errors import BenchError
from desktop.machine.conditions import read_conditions
from desktop.machine.load import LoadWindow
from desktop.machine.merge import with_engine
from desktop.records.events import (
    Devices,
    PartDone,
    PartMissed,
    PartStep,
    Phase,
    Progress,
    RunEvent,
)
from desktop.records.machine import Machine
from desktop.records.parts import Part, PartRate, Parts, PartSkip, PartsPlan, PartTest, Skipped
from desktop.rules.parts_rates import part_rate

log = logging.getLogger(__name__)
_Key: TypeAlias = tuple[str, PartTest, int | None]
_SHOWN: Final = 60
"""Characters of a device's name that is not one."""
ENDS: Final = frozenset(
    {"worker_start", "worker_crashed", "worker_killed", "worker_hung", "worker_late"}
    | {"out_of_memory"}
)
"""How a worker ends that does not spoil what others have measured: most often a device's driver
took it with it."""
LEAST_S: Final = 5.0
"""What is given to the devices that are left."""
LATE_S: Final = 15.0
"""How long after its time a worker may still be at its last test."""


@dataclass(slots=True)
class PartsMeasurement:
    """Takes workers' messages to their end. `start` makes a worker for a job, not yet started."""

    machine: Machine
    plan: PartsPlan
    start: Callable[[PartsJob], WorkerProcess]
    post: Callable[[RunEvent], None]
    late_s: float = LATE_S
    _devices: Devices | None = None
    _now: PartStarted | None = None
    _parts: list[Part] = field(default_factory=list)
    _skipped: list[PartSkip] = field(default_factory=list)
    _lost: BenchError | None = None
    """How the last of the workers ended that were lost."""
    _pids: set[int] = field(default_factory=lambda: {os.getpid()})
    """This process and all workers."""
    _knows_ended: bool = sys.platform == "linux"
    """Whether the system still counts the CPU time of a worker that has ended."""
    _fraction: float = 0.0
    _started_ns: int = field(default_factory=clock.now_ns)

    def take(self) -> Parts:
        """Read every message of as many workers as it takes.

        Raises:
            BenchError: as `WorkerProcess.messages` where no device gave any figure; `no_parts`;
                `cancelled` and `worker_garbage` in any case.
        """
        started_at = clock.utc_text(clock.utc_now())
        virtual = self.machine.may_be_virtual
        load, before = LoadWindow(self._pids), read_conditions(virtual=virtual)
        self.post(Progress(Phase.LOADING, None, 0.0, None))
        other_percent = self._measure(before.memory_available_bytes, load)
        devices = self._devices
        return Parts(
            # what is signed of cards is what the engine can use of them
            machine=with_engine(self.machine, devices.devices if devices else ()),
            engine=devices.engine if devices else "unknown",
            engine_version=devices.version if devices else "unknown",
            devices=devices.devices if devices else (),
            plan=self.plan,
            parts=tuple(self._parts),
            before=before,
            after=read_conditions(other_percent, virtual=virtual),
            started_at=started_at,
            skipped=tuple(self._skipped),
        )

    def _measure(self, memory_bytes: int | None, load: LoadWindow) -> float | None:
        """Returns how busy other programs were meanwhile, percent."""
        while True:
            done = self._done()
            try:
                other_percent = self._one_worker(memory_bytes, load)
            except BenchError as e:
                if e.code not in ENDS:
                    raise
                self._lose(e)
                if self._done() != done:
                    continue
                # it ended before any device's turn, and so would the next one
                other_percent = self._other_percent(load)
            break
        if not self._parts:
            raise self._lost or BenchError("no_parts", detail=self._why())
        if self._lost is not None:
            self._miss(self._tasks())
        return other_percent

    def _one_worker(self, memory_bytes: int | None, load: LoadWindow) -> float | None:
        left_s = max(LEAST_S, self.plan.time_limit_s - self._spent_s())
        plan = replace(self.plan, time_limit_s=left_s)
        self._now = None
        with self.start(PartsJob(plan, memory_bytes, tuple(sorted(self._done())))) as worker:
            if worker.pid is not None:
                self._pids.add(worker.pid)
            end_ns = None
            for message in worker.messages():
                # its time begins with its first words: a driver may load for long before
                end_ns = end_ns or clock.now_ns() + round((left_s + self.late_s) * 1e9)
                self._heed(message)
                if clock.now_ns() > end_ns and not isinstance(message, Finished):
                    raise BenchError("worker_late", seconds=round(self.late_s))
            return self._other_percent(load)

    def _other_percent(self, load: LoadWindow) -> float | None:
        """None rather than a lost worker's work taken for other programs'."""
        if self._lost is not None and not self._knows_ended:
            return None
        return load.other_percent(self._pids)

    def _done(self) -> set[str]:
        """The devices that no further worker is to measure."""
        return {p.device for p in self._parts} | {s.device for s in self._skipped}

    def _heed(self, message: Message) -> None:
        match message:
            case Devices():
                self._listed(message)
            case PartStarted():
                self._begun(message)
            case Part():
                self._check(message)
                self._parts.append(message)
                self.post(PartDone(self._rate(message), self._fraction))
            case PartSkip():
                self._check(message)
                self._skip(message)
            case _:
                pass

    def _check(self, told: Part | PartSkip) -> None:
        """Raises BenchError `worker_garbage`: a test that nobody asked for, or that has ended."""
        key = (told.device, told.test, told.threads)
        asked = {(t.device.name, t.test, t.threads) for t in self._tasks()}
        if key not in asked - self._ended():
            line = f"{told.device[:_SHOWN]} {told.test}"
            raise BenchError("worker_garbage", line=repr(line))

    def _listed(self, devices: Devices) -> None:
        # a driver that ended a worker may list less the next time, and figures need their device
        if self._devices is None:
            self._devices = devices
            self.post(devices)

    def _begun(self, started: PartStarted) -> None:
        self._now = started
        # after a lost device fewer tests are planned: the bar stands still, it does not go back
        fraction = started.index / max(1, started.planned)
        self._fraction = max(self._fraction, fraction)
        name = f"{started.device} {started.test}"
        step = self._step(started)
        self.post(Progress(Phase.MEASURING, name, self._fraction, self._left_s(), step))

    def _step(self, started: PartStarted) -> PartStep:
        """Counted over all workers."""
        number, planned = len(self._ended()) + 1, len(tuple(self._tasks()))
        return PartStep(started.device, started.test, started.threads, number, planned)

    def _rate(self, part: Part) -> PartRate:
        listed = self._devices.devices if self._devices else ()
        kinds = {device.name: device.kind for device in listed}
        return part_rate(part, self.plan, kinds[part.device])

    def _left_s(self) -> float | None:
        """A guess from what it took so far; None before there is anything to guess from."""
        if not self._fraction:
            return None
        spent_s = self._spent_s()
        guess_s = spent_s * (1 - self._fraction) / self._fraction
        return max(0.0, min(guess_s, self.plan.time_limit_s - spent_s))

    def _spent_s(self) -> float:
        return (clock.now_ns() - self._started_ns) / 1e9

    def _lose(self, error: BenchError) -> None:
        """A worker ended: what its device has not given is missing."""
        self._lost = error
        at = self._now
        if at is None:
            log.warning("a worker ended before any test: %s", error)
            return
        log.warning("%s is left out, the worker ended in %s: %s", at.device, at.test, error)
        self._miss(task for task in self._tasks() if task.device.name == at.device)

    def _tasks(self) -> Iterable[Task]:
        devices = self._devices.devices if self._devices else ()
        return (task for group in tasks_of(devices, self.plan) for task in group)

    def _miss(self, tasks: Iterable[Task]) -> None:
        """Those of `tasks` that have not ended yet are skipped."""
        ended = self._ended()
        for task in tasks:
            key = (task.device.name, task.test, task.threads)
            if key not in ended:
                self._skip(PartSkip(*key, Skipped.CRASHED))

    def _ended(self) -> set[_Key]:
        """The tests that have a figure, or a reason why there is none."""
        ended = {(p.device, p.test, p.threads) for p in self._parts}
        return ended | {(s.device, s.test, s.threads) for s in self._skipped}

    def _skip(self, skip: PartSkip) -> None:
        self._skipped.append(skip)
        self.post(PartMissed(skip, self._fraction))

    def _why(self) -> str:
        """Why nothing could be measured."""
        why = sorted({f"{s.device}: {s.why}" for s in self._skipped})
        return "; ".join(why) or "the engine lists no device"
