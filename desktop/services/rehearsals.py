"""A rehearsal from the press of the button to its speed: files are made, measured and removed.

The worker measures generation by the ordinary protocol, a few repetitions of each file in turn, so
that a busy moment meets both. Nothing is signed: `Attempt.keep` is never called, and there is no
statement of a rehearsal.
"""

import contextlib
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import Final

from desktop import clock
from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Job, Loaded
from desktop.builds.rehearsal_file import (
    can_rehearse,
    make_rehearsal,
    room_bytes,
)
from desktop.builds.rehearsal_folder import rehearsal_folder, sweep
from desktop.errors import GramError
from desktop.estimate.catalogue import find, suggestions
from desktop.estimate.rehearsal import RehearsalPlan, plan_rehearsal, whole_seconds
from desktop.estimate.sheet import check_suits
from desktop.machine.conditions import read_conditions
from desktop.machine.cores import usable_cores
from desktop.machine.load import LoadReader, LoadWindow
from desktop.machine.memory import memory_bytes
from desktop.paths import Paths
from desktop.records.events import Devices, Phase, Progress, RehearsalFinished, RunEvent
from desktop.records.model import Model, Quant
from desktop.records.rehearsal import Rehearsal, RehearsalRequest, RehearsedDepth
from desktop.records.run import Note, Plan, Repetition, SpeedTest
from desktop.rules.notes import notes_around
from desktop.services.attempt import Attempt, Outside
from desktop.services.estimate_tables import quants
from desktop.services.profiles import models
from desktop.services.turn import measuring_turn

log = logging.getLogger(__name__)
ROUNDS: Final = 2
"""Each file is measured so often, in turn with the other."""
REPETITIONS: Final = 3
_MAKING: Final = 0.3
"""The part of the whole that the files take, for the bar."""
_MEMORY_SHARE: Final = 2
"""A file takes at most one part in so many of the memory that is free."""


class RehearsalSession(Attempt):
    """One rehearsal. `run` blocks, on the run thread; `cancel` is safe from any thread."""

    def __init__(
        self,
        request: RehearsalRequest,
        outside: Outside,
        post: Callable[[RunEvent], None],
        load: LoadReader | None = None,
    ) -> None:
        super().__init__(outside, post)
        self._request = request
        self._load = load
        self._seen: _Seen = _Seen()

    def run(self) -> RehearsalFinished:
        """Make, measure, remove.

        Raises:
            GramError: why there is no speed.
        """
        model, quant = named_build(self._request.build)
        with self.turn(wait=self._request.wait) as paths:
            self.say(Phase.PREPARING)
            plan = plan_rehearsal(model, quant, room_for(paths))
            if not can_rehearse(model, quant.file_type):
                raise GramError("rehearsal_unknown", name=f"{model.id}:{quant.label}")
            log.info("rehearsing %s:%s", model.id, quant.label)
            with self._files(plan, paths) as files:
                before = read_conditions()
                seconds = self._measured(files)
                after = read_conditions(self._seen.other_percent)
            notes = notes_around(before, after)
            return RehearsalFinished(self._rehearsal(plan, seconds, notes))

    @contextmanager
    def _files(self, plan: RehearsalPlan, paths: Paths) -> Iterator[list[Path]]:
        """Files of the plan's depths; gone at the end, whatever it is."""
        try:
            files = []
            for i, depth in enumerate(plan.depths):
                path = rehearsal_folder(paths) / f"{plan.model.id}-{plan.quant.id}-{i}.gguf"
                make_rehearsal(path, plan.model, plan.file_type, depth.picked, self._made(i, plan))
                files.append(path)
            yield files
        finally:
            sweep(paths)

    def _made(self, i: int, plan: RehearsalPlan) -> Callable[[int, int], None]:
        """Progress of making file `i`; the way out when stopped."""
        told = -1

        def progress(done: int, total: int) -> None:
            nonlocal told
            self.check()
            percent = 100 * done // total
            if percent != told:
                told = percent
                share = (i + done / total) / len(plan.depths)
                self._post(Progress(Phase.PREPARING, None, _MAKING * share, None))

        return progress

    def _measured(self, files: list[Path]) -> list[list[float]]:
        """Seconds of a token, of each file's repetitions."""
        seconds: list[list[float]] = [[] for _ in files]
        turns = [(i, path) for _ in range(ROUNDS) for i, path in enumerate(files)]
        for at, (i, path) in enumerate(turns):
            fraction = _MAKING + (1 - _MAKING) * at / len(turns)
            self._post(Progress(Phase.MEASURING, f"tg{self._request.tokens}", fraction, None))
            seconds[i] += self._one(path)
        return seconds

    def _one(self, path: Path) -> list[float]:
        plan = Plan(
            tests=(SpeedTest(0, self._request.tokens),),
            threads=self._threads,
            gpu_layers=self._request.gpu_layers,
            min_repetitions=REPETITIONS,
            max_repetitions=REPETITIONS,
        )
        job = Job(os.fspath(path), plan)
        worker = WorkerProcess(job, self.outside.paths.worker_log, self.outside.fault)
        self.made(worker)
        found, load = [], LoadWindow([os.getpid()], self._load)
        with worker:
            for message in worker.messages():
                match message:
                    case Devices():
                        self._seen.engine, self._seen.version = message.engine, message.version
                    case Loaded():
                        self._seen.backend = message.backend
                    case Repetition(warmup=False):
                        found.append(1 / message.rate_tok_s)
                    case _:
                        pass
            # while the worker lives: not every system counts one that has ended as ours
            self._seen.add_load(load.other_percent(worker.our_pids))
        return found

    @property
    def _threads(self) -> int:
        return self._request.threads or usable_cores()

    def _rehearsal(
        self, plan: RehearsalPlan, seconds: list[list[float]], notes: tuple[Note, ...]
    ) -> Rehearsal:
        span = whole_seconds(plan, seconds)
        depths = tuple(
            RehearsedDepth(len(depth.picked), depth.active_bytes, tuple(values))
            for depth, values in zip(plan.depths, seconds, strict=True)
        )
        return Rehearsal(
            model=plan.model.id,
            quant=plan.quant.id,
            layers=plan.model.layers,
            active_bytes=plan.active_bytes,
            depths=depths,
            low_tok_s=1 / span.high,
            middle_tok_s=1 / span.middle,
            high_tok_s=1 / span.low,
            engine=self._seen.engine,
            engine_version=self._seen.version,
            backend=self._seen.backend,
            threads=self._threads,
            at=clock.utc_text(clock.utc_now()),
            notes=notes,
        )


class _Seen:
    """What the workers told of themselves, and how busy other programs were beside them."""

    engine = "unknown"
    version = "unknown"
    backend = "unknown"

    def __init__(self) -> None:
        self._loads: list[float] = []

    def add_load(self, percent: float | None) -> None:
        """Of one worker's time; None where the system told nothing."""
        if percent is not None:
            self._loads.append(percent)

    @property
    def other_percent(self) -> float | None:
        """Over all of them, which take about as long each."""
        return mean(self._loads) if self._loads else None


def named_build(text: str) -> tuple[Model, Quant]:
    """The model and the quantization of `MODEL:QUANT`, by exact keys.

    Raises:
        GramError: `rehearsal_name`, with names that are spelt alike; `rehearsal_no_quant`,
            `quant_unknown`, with those that there are for the model; `estimate_mixtures_only`.
    """
    name, colon, label = text.partition(":")
    model = find(name, models())
    if model is None:
        near = suggestions(name, models())
        said = f" Near: {', '.join(near)}." if near else ""
        raise GramError("rehearsal_name", name=text.strip() or "nothing", near=said)
    quant = find(label, quants())
    if quant is None:
        allowed = ", ".join(q.label for q in quants() if q.file_type and q.suits(model))
        if not (colon and label.strip()):
            raise GramError("rehearsal_no_quant", name=model.id, allowed=allowed)
        raise GramError("quant_unknown", name=label, allowed=allowed)
    check_suits(quant, model)
    return model, quant


def sweep_left(paths: Paths) -> None:
    """Remove what a killed rehearsal left, unless somebody measures now."""
    if not rehearsal_folder(paths).exists():
        return
    turn = measuring_turn(
        paths, "tidying up", wait=False, cancelled=lambda: False, notice=lambda _: None
    )
    with contextlib.suppress(GramError), turn:
        sweep(paths)


def room_for(paths: Paths) -> int:
    """Bytes that one file may have: what disk and memory leave, for two files at a time.

    Raises:
        BuildError: `build_write` when the disk does not tell.
    """
    _, available = memory_bytes()
    on_disk = room_bytes(paths) // 2
    return on_disk if available is None else min(on_disk, available // _MEMORY_SHARE)
