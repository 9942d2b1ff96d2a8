"""What every measurement that may be signed needs: its turn, its key, its end, and its keeping."""

import logging
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from desktop import clock
from desktop.bench.process import WorkerProcess
from desktop.builds.rehearsal_folder import sweep
from desktop.errors import BenchError, Reason
from desktop.identity.envelope import seal
from desktop.identity.keys import open_signer
from desktop.identity.signer import Signer
from desktop.machine.detect import detect_to_measure
from desktop.network.ledger import Ledger
from desktop.paths import Paths
from desktop.records.events import Notice, Phase, Progress, RunEvent
from desktop.records.machine import Machine
from desktop.records.request import Signing
from desktop.services.curves import LiveCurves
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


class Payload(Protocol):
    """The bytes to sign: `run_payload` or `parts_payload` with what was measured."""

    def __call__(self, *, nonce: str, signed_at: str) -> bytes:
        """Raises StatementError `cannot_sign`."""


class Attempt(ABC):
    """One attempt to measure. `cancel` is safe from any thread; all else is the run thread's.

    `curves` are the live graph's; empty where nothing is drawn.
    """

    def __init__(self, outside: Outside, post: Callable[[RunEvent], None]) -> None:
        self.outside = outside
        self.curves = LiveCurves(clock.now_ns())
        self._post = post
        self._cancelled = threading.Event()
        self.wake = threading.Event()
        """Set when the run thread should look up from what it waits for."""
        self._worker: WorkerProcess | None = None

    def cancel(self) -> None:
        """End it within 2 s, whatever it is doing."""
        self._cancelled.set()
        self.wake.set()
        worker = self._worker
        if worker is not None:
            worker.cancel()

    @abstractmethod
    def run(self) -> RunEvent:
        """Measure, sign, keep; blocks.

        Raises:
            GramError: why there is no result; nothing is kept then.
        """

    @contextmanager
    def turn(self, *, wait: bool) -> Iterator[Paths]:
        """Be the only one that measures, on a machine that stays awake; yields the profile.

        Raises:
            BenchError: `busy`, or `cancelled` while waiting.
            GramError: the folders cannot be used.
        """
        paths = self.outside.paths.ensure()
        turn = measuring_turn(
            paths,
            self.outside.holder,
            wait=wait,
            cancelled=self._cancelled.is_set,
            notice=self.notice,
        )
        with turn, kept_awake():
            # who has the turn knows that no rehearsal runs: what lies there was left by a kill
            sweep(paths)
            yield paths

    def open_signer(self, signing: Signing, key_file: Path | None) -> Signer | None:
        """The key, and a ledger that can be written; None when nothing is to be signed.

        First of all: nobody should measure for minutes to learn that the result can be neither
        signed nor kept.

        Raises:
            KeyUnavailableError: there is no key.
            LedgerError: the ledger cannot be used.
            BenchError: `cancelled`.
        """
        if signing is Signing.UNSIGNED:
            return None
        paths, environment = self.outside.paths, self.outside.environment
        signer, reason = self.slowly(lambda: open_signer(signing, key_file, paths, environment))
        if reason is not None:
            self.notice(reason)
        Ledger(paths.ledger).check()
        return signer

    def find_machine(self) -> Machine:
        """This machine; slow sources are asked twice, and cards that are unknown are told of.

        Raises:
            BenchError: `cancelled`.
        """
        machine = self.slowly(detect_to_measure)
        if machine.cards_unknown:
            self.notice(Reason("cards_unknown"))
        return machine

    def keep(self, signer: Signer, payload_type: str, payload: Payload) -> str:
        """Sign and keep before anybody is told that it is done; returns the statement's id.

        Raises:
            StatementError: `cannot_sign`.
            LedgerError: it could not be kept.
        """
        self.say(Phase.SIGNING, 1.0)
        now = clock.utc_text(clock.utc_now())
        body = payload(nonce=secrets.token_hex(16), signed_at=now)
        kept = Ledger(self.outside.paths.ledger).keep(seal(signer, payload_type, body), now)
        log.info("kept %s", kept)
        return kept

    def made(self, worker: WorkerProcess) -> None:
        """A worker is about to start: known before, so that a Stop at any moment reaches it.

        Raises:
            BenchError: `cancelled`.
        """
        self._worker = worker
        self.check()

    def slowly(self, call: Callable[[], T], undo: Callable[[T], None] | None = None) -> T:
        """Have the slow-calls thread do it, and give up waiting when the run is stopped.

        Args:
            call: what may block.
            undo: done with a result that comes when nobody waits for it any more.

        Raises:
            GramError: what `call` raised, or `cancelled`.
        """
        future: Future[T] = self.outside.slow.submit(call)
        future.add_done_callback(lambda _: self.wake.set())
        self.wake.wait()
        # cleared first: a Stop that comes in between is seen below, a later one by the next wait
        self.wake.clear()
        if self._cancelled.is_set() and not future.done():
            # a prompt that nobody answers must not hold up the next run
            self.outside.slow.leave_behind()
        if self._cancelled.is_set() and undo is not None:
            future.add_done_callback(lambda late: _undo(late, undo))
        self.check()
        return future.result()

    def check(self) -> None:
        """Raises BenchError `cancelled` once it was asked to stop."""
        if self._cancelled.is_set():
            raise BenchError("cancelled")

    def say(self, phase: Phase, fraction: float = 0.0) -> None:
        """Tell the doors where it is."""
        self._post(Progress(phase, None, fraction, None))

    def notice(self, reason: Reason) -> None:
        """Tell the doors what the person should know."""
        self._post(Notice(reason))


def _undo(late: "Future[T]", undo: Callable[[T], None]) -> None:
    if not late.cancelled() and late.exception() is None:
        undo(late.result())
