"""One measurement at a time on a machine, whoever starts it, and no sleep while it runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from desktop.errors import BenchError, GramError, Reason
from desktop.own_files import never_a_pipe
from desktop.paths import Paths

POLL_S: Final = 0.2
_LOOKED_S: Final = 0.5
"""Another one may hold the lock for an instant, to see whether somebody measures."""
_SHOWN_BYTES: Final = 40


@contextmanager
def measuring_turn(
    paths: Paths,
    holder: str,
    *,
    wait: bool,
    cancelled: Callable[[], bool],
    notice: Callable[[Reason], None],
) -> Iterator[None]:
    """Hold the measuring lock; the system frees it if this process dies.

    Args:
        paths: the profile whose lock it is.
        holder: who measures, for the other one's message: `the window`, `a terminal`.
        wait: wait for the other one, else fail.
        cancelled: asked while waiting.
        notice: told once that it waits, and for whom.

    Raises:
        BenchError: `busy` when another one measures, `cancelled` when stopped while waiting.
    """
    lock = FileLock(paths.measure_lock)
    try:
        _acquire(lock, _LOOKED_S)
    except Timeout:
        if not wait:
            raise BenchError("busy", holder=_holder(paths)) from None
        notice(Reason("waiting", {"holder": _holder(paths)}))
        _wait(lock, cancelled)
    try:
        # only for the words that others see
        with suppress(OSError):
            _say_holder(_name_file(paths), holder)
        yield
    finally:
        lock.release()


def is_measuring(paths: Paths) -> bool:
    """Whether somebody measures in this profile now, in whatever process."""
    try:
        with FileLock(paths.measure_lock, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


@contextmanager
def kept_awake() -> Iterator[bool]:
    """Keep the machine from sleeping; yields whether the system agreed."""
    from wakepy import keep  # noqa: PLC0415 - loads D-Bus code, only needed in a run

    with keep.running(on_fail="pass") as mode:
        yield bool(mode.active)


def _wait(lock: FileLock, cancelled: Callable[[], bool]) -> None:
    while not cancelled():
        try:
            _acquire(lock, POLL_S)
        except Timeout:
            continue
        return
    raise BenchError("cancelled")


def _acquire(lock: FileLock, timeout_s: float) -> None:
    """Take the lock.

    Raises:
        Timeout: another one holds it.
        GramError: `folder_read_only` when the folder takes no file: read-only, or the disk is full.
    """
    try:
        lock.acquire(timeout=timeout_s, poll_interval=POLL_S)
    except Timeout:
        raise
    except OSError as e:
        raise GramError("folder_read_only", detail=e.strerror or str(e)) from e


def _say_holder(file: Path, holder: str) -> None:
    with open(file, "w", encoding="utf-8", opener=never_a_pipe) as said:
        said.write(holder)


def _holder(paths: Paths) -> str:
    try:
        with open(_name_file(paths), "rb", opener=never_a_pipe) as file:
            said = file.read(_SHOWN_BYTES).decode("utf-8", "replace")
    except OSError:
        said = ""
    return said or "another program"


def _name_file(paths: Paths) -> Path:
    return paths.measure_lock.with_suffix(".holder")
