"""What the worker tells of the parts, turned into events for the doors and the values to sign.

A driver that ends the process costs its device only: the others go on in another worker.
"""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from desktop import clock
from desktop.bench.parts_protocol import PartsJob, PartStarted
from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Message
from desktop.errors import BenchError
from desktop.machine.conditions import read_conditions
from desktop.machine.load import LoadWindow
from desktop.records.events import Devices, PartDone, Phase, Progress, RunEvent
from desktop.records.machine import Machine
from desktop.records.parts import Part, Parts, PartSkip, PartsPlan, Skipped
from desktop.rules.parts_rates import part_rate

log = logging.getLogger(__name__)
ENDS: Final = frozenset({"worker_crashed", "worker_killed", "worker_hung", "out_of_memory"})
"""How a worker ends that a device's driver took with it."""
LEAST_S: Final = 5.0
"""What is given to the devices that are left."""


@dataclass(slots=True)
class PartsMeasurement:
    """Takes workers' messages to their end. `start` makes a worker for a job, not yet started."""

    machine: Machine
    plan: PartsPlan
    start: Callable[[PartsJob], WorkerProcess]
    post: Callable[[RunEvent], None]
    _devices: Devices | None = None
    _now: PartStarted | None = None
    _parts: list[Part] = field(default_factory=list)
    _skipped: list[PartSkip] = field(default_factory=list)
    _pids: set[int] = field(default_factory=lambda: {os.getpid()})
    _fraction: float = 0.0
    _started_ns: int = field(default_factory=clock.now_ns)

    def take(self) -> Parts:
        """Read every message of as many workers as it takes.

        Raises:
            BenchError: as `WorkerProcess.messages` where no device gave any figure; `no_parts`.
        """
        started_at = clock.utc_text(clock.utc_now())
        virtual = self.machine.virtual is not None
        load, before = LoadWindow([os.getpid()]), read_conditions(virtual=virtual)
        self.post(Progress(Phase.LOADING, None, 0.0, None))
        other_percent = self._measure(before.memory_available_bytes, load)
        devices = self._devices
        return Parts(
            machine=self.machine,
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
        """Returns how busy other programs were meanwhile."""
        last: BenchError | None = None
        while True:
            try:
                other_percent = self._one_worker(memory_bytes, load)
                break
            except BenchError as e:
                if e.code not in ENDS or self._now is None:
                    raise
                last = e
                self._lost(self._now, e)
        if not self._parts:
            raise last or BenchError("no_parts", detail=self._why())
        return other_percent

    def _one_worker(self, memory_bytes: int | None, load: LoadWindow) -> float | None:
        done = {p.device for p in self._parts} | {s.device for s in self._skipped}
        left_s = max(LEAST_S, self.plan.time_limit_s - self._spent_s())
        plan = replace(self.plan, time_limit_s=left_s)
        with self.start(PartsJob(plan, memory_bytes, tuple(sorted(done)))) as worker:
            self._now = None
            for message in worker.messages():
                self._heed(message)
            pids = [os.getpid(), *([worker.pid] if worker.pid else [])]
            return load.other_percent(pids)

    def _heed(self, message: Message) -> None:
        match message:
            case Devices():
                self._devices = message
                self.post(message)
            case PartStarted():
                self._begun(message)
            case Part():
                self._parts.append(message)
                self.post(PartDone(part_rate(message), self._fraction))
            case PartSkip():
                self._skipped.append(message)
            case _:
                pass

    def _begun(self, started: PartStarted) -> None:
        self._now = started
        # after a lost device fewer tests are planned: the bar stands still, it does not go back
        fraction = started.index / max(1, started.planned)
        self._fraction = max(self._fraction, fraction)
        name = f"{started.device} {started.test}"
        self.post(Progress(Phase.MEASURING, name, self._fraction, self._left_s()))

    def _left_s(self) -> float | None:
        """A guess from what it took so far; None before there is anything to guess from."""
        if not self._fraction:
            return None
        spent_s = self._spent_s()
        guess_s = spent_s * (1 - self._fraction) / self._fraction
        return max(0.0, min(guess_s, self.plan.time_limit_s - spent_s))

    def _spent_s(self) -> float:
        return (clock.now_ns() - self._started_ns) / 1e9

    def _lost(self, at: PartStarted, error: BenchError) -> None:
        log.warning("%s is left out, the worker ended in %s: %s", at.device, at.test, error)
        self._skipped.append(PartSkip(at.device, at.test, at.threads, Skipped.CRASHED))

    def _why(self) -> str:
        """Why nothing could be measured."""
        why = sorted({f"{s.device}: {s.why}" for s in self._skipped})
        return "; ".join(why) or "the engine lists no device"
