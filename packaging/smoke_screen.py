"""A screen to start the windowed program on."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from smoke_program import Done, Frozen, execute


@contextmanager
def screen() -> Iterator[str | None]:
    """A screen for a window: the system's own, else an Xvfb for as long as it is needed."""
    if sys.platform in ("win32", "darwin"):
        yield ""
        return
    if not shutil.which("Xvfb"):
        yield os.environ.get("DISPLAY")
        return
    reading, writing = os.pipe()
    argv = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(argv, pass_fds=(writing,), stdout=quiet, stderr=quiet) as server:
        os.close(writing)
        with os.fdopen(reading) as numbers_of_display:
            display = numbers_of_display.readline().strip()  # told once it accepts windows
        try:
            yield f":{display}" if display else None
        finally:
            server.terminate()


def window_variables(display: str) -> dict[str, str]:
    """Variables that put a window on `display`; none where the system has its own screen."""
    return {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"} if display else {}


def start_window(frozen: Frozen, display: str) -> Done:
    """Start the windowed program, which quits after its first paint."""
    argv = [frozen.program("gram-window"), "--quit-after-paint"]
    return execute(argv, frozen.environment(**window_variables(display)), 60.0)
