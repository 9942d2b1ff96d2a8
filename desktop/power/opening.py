"""Sources that are opened within one time limit; what comes too late is closed again."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from desktop.sources.limits import Deadline, Pending

T = TypeVar("T")
SHARE = 0.75
"""Of the time that is left, what one source may take: whatever sticks, the next has time too."""


class NoAnswer(str):
    """Which source was given up on, and why; English."""

    __slots__ = ()


class Opening(Generic[T]):
    """One source that is being opened in a thread of its own.

    Args:
        name: for people, where it gives no answer.
        find: opens it; may block for ever, or raise.
        let_go: closes what `find` gave after it was given up on, in its thread.
    """

    def __init__(self, name: str, find: Callable[[], T], let_go: Callable[[T], None]) -> None:
        self._find = find
        self._let_go = let_go
        self._late = False
        self._found: list[T] = []
        self._lock = threading.Lock()
        self._pending = Pending(name, self._open)

    def within(self, deadline: Deadline) -> T | NoAnswer:
        """What was found, in a share of the time that is left; asked once."""
        self._pending.result(SHARE * deadline.left_s())
        with self._lock:
            self._late = True
            if self._found:
                return self._found[0]
        why = self._pending.failure or "late"
        return NoAnswer(f"{self._pending.name} gave no answer ({why}).")

    def _open(self) -> None:
        found = self._find()
        with self._lock:
            if not self._late:
                self._found.append(found)
                return
        self._let_go(found)
