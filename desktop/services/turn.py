"""One measurement at a time on a machine, whoever starts it, and no sleep while it runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from desktop.errors import BenchError, Reason
from desktop.paths import Paths

POLL_S: Final = 0.2


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
        lock.acquire(timeout=0)
    except Timeout:
        if not wait:
            raise BenchError("busy", holder=_holder(paths)) from None
        notice(Reason("waiting", {"holder": _holder(paths)}))
        _wait(lock, cancelled)
    try:
        _name_file(paths).write_text(holder, encoding="utf-8")
        yield
    finally:
        lock.release()


@contextmanager
def kept_awake() -> Iterator[bool]:
    """Keep the machine from sleeping; yields whether the system agreed."""
    from wakepy import keep  # noqa: PLC0415 - loads D-Bus code, only needed in a run

    with keep.running(on_fail="pass") as mode:
        yield bool(mode.active)


def _wait(lock: FileLock, cancelled: Callable[[], bool]) -> None:
    while not cancelled():
        try:
            lock.acquire(timeout=POLL_S, poll_interval=POLL_S)
        except Timeout:
            continue
        return
    raise BenchError("cancelled")


def _holder(paths: Paths) -> str:
    try:
        return _name_file(paths).read_text(encoding="utf-8")[:40] or "another program"
    except OSError:
        return "another program"


def _name_file(paths: Paths) -> Path:
    return paths.measure_lock.with_suffix(".holder")
