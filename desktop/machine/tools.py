"""Tools of the system that several probes want the words of: each is started once."""

import threading
from collections.abc import Callable
from typing import Final

from desktop.sources.commands import Failure, ToolFailure
from desktop.sources.limits import Deadline, Pending

_WORDS: Final = {
    Failure.MISSING: "is not on this system",
    Failure.REFUSED: "could not be started",
    Failure.STUCK: "did not answer in time and was given up on",
    Failure.FAILED: "ended with an error",
}
STUCK_WORDS: Final = _WORDS[Failure.STUCK]
STUCK: Final = "stuck"
"""`Pending.failure`'s word."""


class Tool:
    """A tool's words, asked for at most once however many want them; why it gave none is kept.

    Args:
        name: for people.
        call: runs the tool.
        limit_s: the longest that anybody waits for it, from its start.
    """

    def __init__(self, name: str, call: Callable[[], str | ToolFailure], limit_s: float) -> None:
        self.name = name
        self._call = call
        self._limit_s = limit_s
        self._lock = threading.Lock()
        self._started: tuple[Pending[str | ToolFailure], Deadline] | None = None

    def start(self) -> tuple[Pending[str | ToolFailure], Deadline]:
        """Begin, without waiting; a second call changes nothing."""
        with self._lock:
            if self._started is None:
                self._started = Pending(self.name, self._call), Deadline(self._limit_s)
            return self._started

    def text(self) -> str | None:
        """What the tool wrote; None when it gave nothing within its time."""
        pending, deadline = self.start()
        told = pending.result(deadline.left_s())
        return told if isinstance(told, str) else None

    @property
    def failure(self) -> str | None:
        """In plain words why it gave nothing; None when it did, or nobody asked."""
        if self._started is None:
            return None
        pending, _ = self._started
        told = pending.result(0)
        if pending.failure is not None:
            stuck = pending.failure == STUCK
            return STUCK_WORDS if stuck else f"could not be read ({pending.failure})"
        return _WORDS[told.why] if isinstance(told, ToolFailure) else None
