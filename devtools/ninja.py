"""Reading how far a build by ninja is."""

import re
import time
from collections.abc import Callable

from devtools.steps import show_s

NINJA_LINE = re.compile(r"\[(\d+)/(\d+)\] ")


def ninja_notes(note: Callable[[str], None]) -> Callable[[str], None]:
    """A reader of output lines that gives `note` the percent and the time left."""
    start_s = time.monotonic()

    def on_line(line: str) -> None:
        if done := ninja_done(line):
            note(show_done(*done, time.monotonic() - start_s))

    return on_line


def ninja_done(line: str) -> tuple[int, int] | None:
    """`[12/80] …` as (12, 80); None for any other line."""
    found = NINJA_LINE.match(line.strip())
    return (int(found[1]), int(found[2])) if found else None


def show_done(done: int, total: int, elapsed_s: float) -> str:
    """Percent of the build's steps and a rough time left, supposing all steps last alike."""
    if done == 0 or total == 0:
        return "0 %"
    left_s = elapsed_s / done * (total - done)
    return f"{100 * done // total} %, about {show_s(left_s)} left"
