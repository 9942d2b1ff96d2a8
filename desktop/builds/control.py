"""What a person does with a running download: pause it, slow it, stop it."""

import threading
import time
from collections.abc import Callable
from typing import Final

PERSON: Final = "person"
"""Paused by somebody who will resume it."""


class StoppedError(Exception):
    """The download was stopped; what has come stays for another time."""


class Control:
    """Safe from any thread. All connections of a download share one."""

    def __init__(
        self, limit_bytes_s: float | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin, with a limit in bytes a second for all connections together."""
        self._stopped = threading.Event()
        self._running = threading.Event()
        self._running.set()
        self._lock = threading.Lock()
        self._held_by: set[str] = set()
        self._now = now
        self._limit = limit_bytes_s
        self._free_at = 0.0
        """When what has come is paid for."""

    def stop(self) -> None:
        """End it; nothing that has come is lost."""
        self._stopped.set()
        self._running.set()

    def pause(self, why: str = PERSON) -> None:
        """Hold it until `resume` of the same reason."""
        with self._lock:
            self._held_by.add(why)
            if not self._stopped.is_set():
                self._running.clear()

    def resume(self, why: str = PERSON) -> None:
        """Go on, unless another reason holds it."""
        with self._lock:
            self._held_by.discard(why)
            if not self._held_by:
                self._running.set()

    def limit(self, bytes_s: float | None) -> None:
        """Set the limit; None: none."""
        with self._lock:
            self._limit, self._free_at = bytes_s, 0.0

    @property
    def paused(self) -> bool:
        """Whether it is held."""
        return not self._running.is_set()

    @property
    def limiting(self) -> bool:
        """Whether what has come is more than the limit allows so far: nothing is read meanwhile."""
        with self._lock:
            return bool(self._limit) and self._now() < self._free_at

    @property
    def stopped(self) -> bool:
        """Whether it is to end."""
        return self._stopped.is_set()

    def pause_for(self, seconds: float) -> None:
        """Wait so long while it is held.

        Raises:
            StoppedError: it is to end.
        """
        self._running.wait(seconds)
        self.check_stopped()

    def check(self) -> None:
        """Wait while it is held.

        Raises:
            StoppedError: it is to end.
        """
        self._running.wait()
        self.check_stopped()

    def check_stopped(self) -> None:
        """Do not wait.

        Raises:
            StoppedError: it is to end.
        """
        if self._stopped.is_set():
            raise StoppedError

    def spend(self, size_bytes: int) -> None:
        """Wait until so many bytes that came are within the limit.

        Raises:
            StoppedError: it is to end.
        """
        self.check()
        with self._lock:
            if not self._limit:
                return
            now = self._now()
            self._free_at = max(self._free_at, now) + size_bytes / self._limit
            until = self._free_at
        self.wait(until - self._now())

    def wait(self, seconds: float) -> None:
        """Wait, unless it is stopped.

        Raises:
            StoppedError: it is to end.
        """
        if seconds > 0 and self._stopped.wait(seconds):
            raise StoppedError
        self.check()
