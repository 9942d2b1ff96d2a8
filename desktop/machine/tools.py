"""Tools of the system that several probes want the words of: each is started once."""

import threading
from collections.abc import Callable, Iterable
from typing import Final

from desktop.errors import Reason
from desktop.sources.commands import Failure, ToolFailure
from desktop.sources.limits import Deadline, Pending

_CODES: Final = {
    Failure.MISSING: "source_missing",
    Failure.REFUSED: "source_refused",
    Failure.STUCK: "source_stuck",
    Failure.FAILED: "source_failed",
}
STUCK: Final = "stuck"
"""`Pending.failure`'s word."""


class SilentError(LookupError):
    """Nothing tells whether there is what a probe looks for: no sign that it is not there."""


_SILENT: Final = SilentError.__name__


def unanswered(name: str, failure: str) -> Reason:
    """Why a call under way gave nothing.

    Args:
        name: of the source.
        failure: `Pending.failure`'s word: `stuck`, or an error's name.
    """
    if failure == STUCK:
        return Reason("source_stuck", {"name": name})
    if failure == _SILENT:
        return Reason("source_unreadable", {"name": name, "detail": "nothing tells of it"})
    return Reason("source_unreadable", {"name": name, "detail": failure})


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
    def failure(self) -> Reason | None:
        """Why it gave nothing; None when it did, or nobody asked."""
        if self._started is None:
            return None
        pending, _ = self._started
        told = pending.result(0)
        if pending.failure is not None:
            return unanswered(self.name, pending.failure)
        if not isinstance(told, ToolFailure):
            return None
        return Reason(_CODES[told.why], {"name": self.name})


def failures(pending: Iterable[Pending[object]], tools: Iterable[Tool]) -> tuple[Reason, ...]:
    """What gave nothing, and why: tools first.

    A probe that waits for a tool, or was told nothing by it, is not named beside it: the tool is
    what was given up on.
    """
    broken = [tool.failure for tool in tools if tool.failure is not None]
    tools_fault = {_SILENT} if broken else set()
    if any(reason.code == _CODES[Failure.STUCK] for reason in broken):
        tools_fault.add(STUCK)
    for probe in pending:
        failure = probe.failure
        if failure is not None and failure not in tools_fault:
            broken.append(unanswered(probe.name, failure))
    return tuple(broken)
