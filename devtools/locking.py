"""A lock between processes, freed by the system when its holder dies."""

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from devtools.steps import say

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(file: IO[str]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def held(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path` during the body; waits for another holder and says so once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:  # closing it frees the lock
        waiting = False
        while not taken(file):
            if not waiting:
                say(f"... another dev.py is busy with {what}; waiting for it")
            waiting = True
            time.sleep(0.2)
        yield


def taken(file: IO[str]) -> bool:
    """Take the lock on an open file if it is free; whether it was."""
    try:
        _try_lock(file)
    except OSError:
        return False
    return True
