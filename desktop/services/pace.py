"""How fast bytes come, and how long the rest takes."""

from collections import deque
from collections.abc import Callable
from typing import Final

from desktop.clock import now_ns

_WINDOW_S: Final = 5.0
_SILENT_S: Final = 5.0
_LEAST_S: Final = 0.5
"""A rate of less would jump."""


class Pace:
    """Of one download, over the last seconds."""

    def __init__(self, clock: Callable[[], int] = now_ns) -> None:
        self._clock = clock
        self._seen: deque[tuple[int, int]] = deque()

    def at(self, done_bytes: int) -> float | None:
        """Note how far it is; bytes a second, None where it is too early or nothing came."""
        now = self._clock()
        if self._seen and done_bytes < self._seen[-1][1]:
            self._seen.clear()  # something is fetched again
        self._seen.append((now, done_bytes))
        while len(self._seen) > 1 and now - self._seen[1][0] >= _WINDOW_S * 1e9:
            self._seen.popleft()
        then, before = self._seen[0]
        seconds = (now - then) / 1e9
        return (done_bytes - before) / seconds or None if seconds >= _LEAST_S else None

    def begin(self) -> None:
        """Forget what was before: it was paused, or is about something else."""
        self._seen.clear()


class Silence:
    """Of a server: whether nothing has come of it for some seconds."""

    def __init__(self, clock: Callable[[], int] = now_ns) -> None:
        self._clock = clock
        self._heard_ns = clock()
        self._done_bytes = -1

    def at(self, done_bytes: int, *, waiting: bool) -> bool:
        """Note how far it is; whether it is silent.

        Args:
            done_bytes: that have come.
            waiting: for a limit, a pause, or nothing more: then nobody listens.
        """
        now = self._clock()
        if waiting or done_bytes != self._done_bytes:
            self._heard_ns, self._done_bytes = now, done_bytes
        return now - self._heard_ns >= _SILENT_S * 1e9
