"""The line that moves while a build is fetched or read: how far, how fast, how long still."""

from typing import Final

from desktop.cli import figures
from desktop.cli.live import LiveLine
from desktop.records.offers import FetchState, FetchStep

_WORDS: Final = {
    FetchState.WAITING: "Waiting",
    FetchState.ASKING: "Asking what it is",
    FetchState.LOOKING: "Looking whether it is here already",
    FetchState.FETCHING: "Downloading",
    FetchState.SILENT: "No answer; asking again",
    FetchState.PAUSED: "Paused",
    FetchState.CHECKING: "Checking",
}
_LEAST_S: Final = 1
"""Less is no time to tell: it would stand there until the last byte is checked."""
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600


class FetchLine(LiveLine):
    """A context manager. Without a terminal it prints a line a state; `quiet` prints nothing."""

    def step(self, told: FetchStep) -> None:
        """Show how far it is."""
        words = _WORDS[told.state]
        if self._lines and told.state is not FetchState.WAITING and words != self._last:
            self._last = words
            self.say(f"{words} …")
        whole = told.total_bytes or 0
        fraction = told.done_bytes / whole if whole else 0.0
        self._update(description=words, completed=fraction, live=_live(told))


def _live(told: FetchStep) -> str:
    if not told.total_bytes:
        return ""
    parts = [f"{figures.size(told.done_bytes)} of {figures.size(told.total_bytes)}"]
    if told.rate_bytes_s is not None:
        parts.append(f"{figures.size(round(told.rate_bytes_s))}/s")
    if told.time_left_s is not None and told.time_left_s >= _LEAST_S:
        parts.append(f"about {_time(told.time_left_s)} left")
    return "  ".join(parts)


def _time(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.0f} s"
    if seconds < _HOUR_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    return f"{seconds / _HOUR_S:.1f} h"
