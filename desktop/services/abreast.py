"""One call for many arguments, some at a time, for who may not be kept waiting at the end."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Final, TypeVar

A = TypeVar("A")
T = TypeVar("T")
_POLL_S: Final = 0.2


def abreast(
    call: Callable[[A], T], arguments: Iterable[A], threads: int
) -> Iterator[tuple[A, "Future[T]"]]:
    """Call it for each, and give what came of each when it is there: a result or an exception.

    The threads are daemons, and not an executor of the standard library, which waits for them: who
    stops reading, also by Ctrl+C, goes at once, and a call that blocks dies with the process. What
    was not begun by then is not called.

    Args:
        call: is made on several threads.
        arguments: of it, one each.
        threads: at most so many.
    """
    waiting = deque(arguments)
    done: queue.SimpleQueue[tuple[A, Future[T]]] = queue.SimpleQueue()

    def work() -> None:
        while waiting:
            try:
                argument = waiting.popleft()
            except IndexError:  # another one was quicker
                return
            done.put((argument, _called(call, argument)))

    count = len(waiting)
    for _ in range(min(threads, count)):
        threading.Thread(target=work, name="abreast", daemon=True).start()
    try:
        for _ in range(count):
            yield _next(done)
    finally:
        waiting.clear()


def _called(call: Callable[[A], T], argument: A) -> "Future[T]":
    future: Future[T] = Future()
    try:
        future.set_result(call(argument))
    except BaseException as e:  # noqa: BLE001 - the future hands it to who reads
        future.set_exception(e)
    return future


def _next(done: "queue.SimpleQueue[T]") -> T:
    """Wait in short steps: on Windows no Ctrl+C ends a long one."""
    while True:
        try:
            return done.get(timeout=_POLL_S)
        except queue.Empty:
            continue
