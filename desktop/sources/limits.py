"""A time limit around calls that offer none (drivers, system libraries)."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Pending(Generic[T_co]):
    """A call under way in a short-lived daemon thread, so that a stuck driver stops nobody.

    A Python thread cannot be ended from outside: a call that never returns keeps its thread until
    the process ends, which is why callers start each source once and give up on it by name.
    """

    def __init__(self, name: str, call: Callable[[], T_co]) -> None:
        self.name = name
        self._call = call
        self._result: T_co | None = None
        self._error: str | None = None
        self._done = threading.Event()
        threading.Thread(target=self._run, name=f"probe-{name}", daemon=True).start()

    def _run(self) -> None:
        try:
            self._result = self._call()
        except Exception as e:  # noqa: BLE001 - a broken source must never end its caller
            self._error = type(e).__name__
        finally:
            self._done.set()

    def result(self, limit_s: float) -> T_co | None:
        """What the call gave; None when it failed or is not done within `limit_s`."""
        self._done.wait(max(0.0, limit_s))
        return self._result if self._done.is_set() else None

    @property
    def failure(self) -> str | None:
        """`stuck`, or the name of the error; None when the call gave its answer."""
        return self._error if self._done.is_set() else "stuck"


class Deadline:
    """A point in time that several calls share."""

    def __init__(self, limit_s: float) -> None:
        self._end_s = time.monotonic() + limit_s

    def left_s(self) -> float:
        """Seconds until then, never negative."""
        return max(0.0, self._end_s - time.monotonic())
