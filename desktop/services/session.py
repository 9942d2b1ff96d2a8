"""One run from the press of the button to the kept result: brings the rooms together."""

import logging
import os
import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TypeVar

from desktop import clock
from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Job
from desktop.builds.download import fetch_file
from desktop.builds.hashes import hashes_in
from desktop.builds.header import read_header
from desktop.builds.reference import obtain_reference, reference
from desktop.builds.store import find_build, locate
from desktop.errors import BenchError, Reason
from desktop.estimate.memory import memory_need, shortfall
from desktop.identity.envelope import seal
from desktop.identity.keys import open_signer
from desktop.identity.signer import Signer
from desktop.machine.conditions import read_conditions
from desktop.machine.cores import usable_cores
from desktop.machine.detect import detect
from desktop.network.ledger import Ledger
from desktop.paths import Paths
from desktop.records.build import LocalBuild
from desktop.records.events import BuildKnown, Notice, Phase, Progress, RunEvent, RunFinished
from desktop.records.machine import Machine
from desktop.records.request import REFERENCE, RunRequest, Signing
from desktop.records.run import Plan, Run
from desktop.rules.statements import RUN_TYPE, run_payload
from desktop.services.curves import LiveCurves
from desktop.services.facts import cards_of, engine_devices
from desktop.services.measurement import Measurement
from desktop.services.power_watch import PowerWatch
from desktop.services.slow import SlowCalls
from desktop.services.turn import kept_awake, measuring_turn

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outside:
    """What a session needs from the world; built once by each door."""

    paths: Paths
    slow: SlowCalls
    holder: str
    """Who measures, in words for others: `the window`, `a terminal`."""
    environment: Mapping[str, str]
    fault: str | None = None
    """A fault to ask of the worker (tests)."""


class Session:
    """One run. `run` blocks, on the run thread; `cancel` is safe from any thread."""

    def __init__(
        self, request: RunRequest, outside: Outside, post: Callable[[RunEvent], None]
    ) -> None:
        self.outside = outside
        self.curves = LiveCurves(clock.now_ns())
        self._request = request
        self._post = post
        self._cancelled = threading.Event()
        self._wake = threading.Event()
        self._worker: WorkerProcess | None = None

    def cancel(self) -> None:
        """End the run within 2 s, whatever it is doing."""
        self._cancelled.set()
        self._wake.set()
        worker = self._worker
        if worker is not None:
            worker.cancel()

    def run(self) -> RunFinished:
        """Measure, sign, keep.

        Raises:
            GramError: why there is no result; nothing of the run is kept then.
        """
        paths = self.outside.paths.ensure()
        with ExitStack() as held:
            held.enter_context(
                measuring_turn(
                    paths,
                    self.outside.holder,
                    wait=self._request.wait,
                    cancelled=self._cancelled.is_set,
                    notice=self._notice,
                )
            )
            held.enter_context(kept_awake())
            return self._measure(paths)

    def _measure(self, paths: Paths) -> RunFinished:
        self._say(Phase.PREPARING)
        if not self._wants_reference():
            # a file that is no build is told before a keychain asks for a password
            read_header(locate(self._request.build, paths))
        # key and ledger come first: nobody should measure for minutes to learn that the result
        # can be neither signed nor kept
        signer = self._open_signer(paths)
        if signer is not None:
            Ledger(paths.ledger).check()
        local = self._find_build(paths)
        self._post(BuildKnown(local.build))
        machine = self._slowly(detect)
        plan = self._plan()
        cards = self._cards(plan)
        self._check_memory(local, cards)
        log.info("measuring %s", local.build.name)
        run = self._benchmark(local, machine, plan, cards)
        self._check_cancelled()
        return self._keep(run, signer, paths)

    def _open_signer(self, paths: Paths) -> Signer | None:
        request = self._request
        if request.signing is Signing.UNSIGNED:
            return None
        signer, reason = self._slowly(
            lambda: open_signer(request.signing, request.key_file, paths, self.outside.environment)
        )
        if reason is not None:
            self._notice(reason)
        return signer

    def _find_build(self, paths: Paths) -> LocalBuild:
        if not self._wants_reference():
            return find_build(self._request.build, paths, hashes_in(paths), self._fetching)
        local, reason = obtain_reference(
            paths,
            environment=self.outside.environment,
            progress=self._fetching,
            fetch=fetch_file,
        )
        if reason is not None:
            self._notice(reason)
        return local

    def _wants_reference(self) -> bool:
        return self._request.build in {REFERENCE, str(reference().name)}

    def _fetching(self, _done: int, _total: int) -> None:
        """Progress of hashing and downloading; the way out of both when stopped."""
        self._check_cancelled()

    def _check_memory(self, local: LocalBuild, cards: tuple[str, ...]) -> None:
        """Refuse what cannot fit before it drives the machine into swap.

        Only where the processor alone would run it: cards have memory of their own.

        Raises:
            BenchError: `too_large`, with the estimate and what is free.
        """
        available = read_conditions().memory_available_bytes
        if available is None or cards:
            return
        need = memory_need(read_header(local.path), max(t.n_tokens for t in self._request.tests))
        if shortfall(need, available) is not None:
            raise BenchError(
                "too_large",
                name=local.build.name,
                need_gb=f"{need.known_bytes / 1e9:.1f}",
                free_gb=f"{available / 1e9:.1f}",
            )

    def _benchmark(
        self, local: LocalBuild, machine: Machine, plan: Plan, cards: tuple[str, ...]
    ) -> Run:
        with PowerWatch(machine, cards, self.curves, self._post) as power:
            power.start(self._wake)
            self._check_cancelled()
            job = Job(os.fspath(local.path), plan)
            worker = WorkerProcess(job, self.outside.paths.worker_log, self.outside.fault)
            self._made(worker)
            with worker:
                return Measurement(
                    local.build, machine, plan, worker, power, self.curves, self._post
                ).take()

    def _cards(self, plan: Plan) -> tuple[str, ...]:
        """The cards that will hold layers."""
        if plan.gpu_layers == 0:
            return ()
        return cards_of(engine_devices(self.outside.paths, self._made))

    def _made(self, worker: WorkerProcess) -> None:
        """A worker is about to start: known before, so that a Stop at any moment reaches it."""
        self._worker = worker
        self._check_cancelled()

    def _keep(self, run: Run, signer: Signer | None, paths: Paths) -> RunFinished:
        """Sign and keep before anybody is told that it is done."""
        if signer is None:
            return RunFinished(run, None, None)
        self._say(Phase.SIGNING, 1.0)
        now = clock.utc_text(clock.utc_now())
        payload = run_payload(run, nonce=secrets.token_hex(16), signed_at=now)
        envelope = seal(signer, RUN_TYPE, payload)
        statement_id = Ledger(paths.ledger).keep(envelope, now)
        log.info("kept %s", statement_id)
        return RunFinished(run, statement_id, signer.key_id)

    def _plan(self) -> Plan:
        request = self._request
        plan = Plan(
            tests=request.tests,
            threads=request.threads or usable_cores(),
            gpu_layers=request.gpu_layers,
        )
        n = request.repetitions
        return plan if n is None else replace(plan, min_repetitions=n, max_repetitions=n)

    def _slowly(self, call: Callable[[], T]) -> T:
        """Have the slow-calls thread do it, and give up waiting when the run is stopped.

        Raises:
            GramError: what `call` raised, or `cancelled`.
        """
        future: Future[T] = self.outside.slow.submit(call)
        future.add_done_callback(lambda _: self._wake.set())
        self._wake.wait()
        # cleared first: a Stop that comes in between is seen below, a later one by the next wait
        self._wake.clear()
        if self._cancelled.is_set() and not future.done():
            # a prompt that nobody answers must not hold up the next run
            self.outside.slow.leave_behind()
        self._check_cancelled()
        return future.result()

    def _check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise BenchError("cancelled")

    def _say(self, phase: Phase, fraction: float = 0.0) -> None:
        self._post(Progress(phase, None, fraction, None))

    def _notice(self, reason: Reason) -> None:
        self._post(Notice(reason))
