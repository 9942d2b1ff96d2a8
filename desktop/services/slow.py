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
                self._thread = threading.Thread(target=self._work, name="slow-calls", daemon=True)
                self._thread.start()
        self._jobs.put(job)
        return future

    def shutdown(self) -> None:
        """End the thread; a call that blocks is left behind and dies with the process."""
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join(JOIN_S)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
