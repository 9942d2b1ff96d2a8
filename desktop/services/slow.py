"""The one thread for calls that may block for long: keychain prompts, detection, hashing."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

T = TypeVar("T")
_Job = Callable[[], None]
JOIN_S: Final = 0.5


class SlowCalls:
    """Runs calls one after the other on a daemon thread.

    A daemon, and not an executor of the standard library: those are joined when the program ends,
    and a keychain prompt that nobody answers would keep a closed app alive.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, call: Callable[[], T]) -> "Future[T]":
        """Queue `call`; its result or its exception is in the future."""
        future: Future[T] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(call())
            except BaseException as e:  # noqa: BLE001 - the future hands it to who waits
                future.set_exception(e)

        with self._lock:
            if self._thread is None:
                self._start()
        self._jobs.put(job)
        return future

    def shutdown(self) -> None:
        """End the thread; a call that blocks is left behind and dies with the process."""
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join(JOIN_S)

    def leave_behind(self) -> None:
        """Give up on the call that blocks: its thread ends with it, those that wait get another."""
        with self._lock:
            old, self._jobs = self._jobs, queue.SimpleQueue()
            waiting = []
            while not old.empty():
                waiting.append(old.get())
            old.put(None)
            self._thread = None
            if waiting:
                self._start()
        for job in waiting:
            self._jobs.put(job)

    def _start(self) -> None:
        self._thread = threading.Thread(
            target=self._work, args=(self._jobs,), name="slow-calls", daemon=True
        )
        self._thread.start()

    @staticmethod
    def _work(jobs: "queue.SimpleQueue[_Job | None]") -> None:
        while (job := jobs.get()) is not None:
            job()
