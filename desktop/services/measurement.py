"""What the worker tells, turned into events for the doors and the values of a run."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from desktop import clock
from desktop.bench.engine_log import PROCESSOR
from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Finished, Loaded, Message, RepetitionStarted
from desktop.errors import BenchError
from desktop.machine.conditions import read_conditions
from desktop.machine.load import LoadWindow
from desktop.records.build import Build
from desktop.records.energy import Energy
from desktop.records.events import (
    Devices,
    Phase,
    Progress,
    RepetitionDone,
    RunEvent,
    Steps,
)
from desktop.records.machine import Conditions, Device, Machine
from desktop.records.run import EngineFacts, MemoryHeld, Plan, Repetition, Run
from desktop.rules.notes import notes_of
from desktop.rules.rates import rate_of
from desktop.services.curves import LiveCurves
from desktop.services.power_watch import PowerWatch
from desktop.services.progress import ProgressGuess


@dataclass(slots=True)
class Measurement:
    """Takes one worker's messages to their end; `build` and `machine` are what it measures."""

    build: Build
    machine: Machine
    plan: Plan
    worker: WorkerProcess
    power: PowerWatch
    curves: LiveCurves
    post: Callable[[RunEvent], None]
    cards: tuple[Device, ...] = ()
    """The cards that are to hold layers."""
    _repetitions: list[Repetition] = field(default_factory=list)
    _devices: Devices | None = None
    _loaded: Loaded | None = None
    _finished: Finished | None = None

    def take(self) -> Run:
        """Read every message.

        Raises:
            BenchError: as `WorkerProcess.messages`.
        """
        started_at = clock.utc_text(clock.utc_now())
        load = LoadWindow([os.getpid()])
        virtual = self.machine.may_be_virtual
        before = read_conditions(virtual=virtual)
        guess = ProgressGuess(self.plan)
        self.post(Progress(Phase.LOADING, None, 0.0, None))
        for message in self.worker.messages():
            self._heed(message, guess)
        after = read_conditions(load.other_percent(self.worker.our_pids), virtual=virtual)
        return self._measured(started_at, before, after)

    def _heed(self, message: Message, guess: ProgressGuess) -> None:
        match message:
            case Devices():
                self._devices = message
                self.post(message)
            case Loaded():
                self._loaded = message
                self._refuse_processor(message)
            case Steps():
                self.curves.add_steps(message)
                self.post(message)
            case Repetition():
                self._repetition(message, guess)
            case Finished():
                self._finished = message
            case RepetitionStarted():
                pass

    def _refuse_processor(self, loaded: Loaded) -> None:
        """A build that was to lie on a card and does not is another measurement.

        Told as soon as it is loaded: nobody should wait for a figure that will not be kept.

        Raises:
            BenchError: `processor_instead`.
        """
        if self.cards and loaded.backend == PROCESSOR:
            raise BenchError(
                "processor_instead", name=self.build.name, card=self.cards[0].description
            )

    def _repetition(self, done: Repetition, guess: ProgressGuess) -> None:
        self._repetitions.append(done)
        rate = rate_of(done.test, self._repetitions)
        self.post(RepetitionDone(done, rate))
        self.post(guess.repetition(done, rate))

    def _measured(self, started_at: str, before: Conditions, after: Conditions) -> Run:
        repetitions = tuple(self._repetitions)
        tests = [t.name for t in self.plan.tests]
        run = Run(
            build=self.build,
            machine=self.machine,
            engine=self._engine(),
            plan=self.plan,
            repetitions=repetitions,
            rates=tuple(r for t in tests if (r := rate_of(t, repetitions)) is not None),
            memory=self._memory(),
            energy=tuple((t, e) for t in tests if (e := self._energy(t)) is not None),
            before=before,
            after=after,
            started_at=started_at,
        )
        return replace(run, notes=notes_of(run))

    def _energy(self, test: str) -> Energy | None:
        windows = [
            (r.start_ns, r.end_ns) for r in self._repetitions if r.test == test and not r.warmup
        ]
        return self.power.energy(windows)

    def _engine(self) -> EngineFacts:
        devices, loaded, finished = self._devices, self._loaded, self._finished
        return EngineFacts(
            name=devices.engine if devices else "unknown",
            version=devices.version if devices else "unknown",
            backend=loaded.backend if loaded else "unknown",
            devices=self._used(),
            threads=self.plan.threads,
            flash_attention=finished.flash_attention if finished else None,
            gpu_layers=self.plan.gpu_layers,
        )

    def _used(self) -> tuple[Device, ...]:
        """The devices that held layers; where the engine named none, all that it lists."""
        listed = self._devices.devices if self._devices else ()
        names = self._loaded.devices if self._loaded else ()
        return tuple(d for d in listed if d.name in names) or listed

    def _memory(self) -> MemoryHeld:
        loaded, finished = self._loaded, self._finished
        return MemoryHeld(
            weights_bytes=loaded.weights_bytes if loaded else None,
            kv_cache_bytes=finished.kv_cache_bytes if finished else None,
            compute_bytes=finished.compute_bytes if finished else None,
            process_peak_bytes=finished.process_peak_bytes if finished else None,
        )
