"""Start a measurement from the terminal and follow it to its end."""

import os
import queue
import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final, Protocol, TypeVar

from desktop.cli.begin import begin_log
from desktop.cli.live import LiveLine
from desktop.paths import Paths
from desktop.records.events import AppEvent, Notice, RunFailed
from desktop.records.request import Signing
from desktop.services.app_services import AppServices
from desktop.services.attempt import Outside
from desktop.services.slow import SlowCalls

POLL_S: Final = 0.5
T = TypeVar("T")


class Stoppable(Protocol):
    """What can be ended."""

    def stop(self) -> None:
        """Ask for the end; `RunFailed(cancelled=True)` follows."""


def signing_of(*, unsigned: bool, key_file: Path | None, allow_key_file: bool) -> Signing:
    """What the options `--unsigned`, `--key-file` and `--allow-key-file` ask for."""
    if unsigned:
        return Signing.UNSIGNED
    if key_file is not None:
        return Signing.KEY_FILE
    return Signing.KEYCHAIN_OR_FILE if allow_key_file else Signing.KEYCHAIN


def measured(
    outside: Outside,
    start: Callable[[AppServices], None],
    line: LiveLine,
    finished: type[T],
) -> T | RunFailed:
    """Build the services, start a measurement with them, and follow it to its end."""
    events: queue.SimpleQueue[AppEvent] = queue.SimpleQueue()
    services = AppServices(outside, events.put)
    try:
        with line:
            return follow(services, lambda: start(services), events, line, finished)
    finally:
        services.shutdown()


def outside_of(paths: Paths, fault: str | None) -> Outside:
    """The world as the terminal's measurements find it."""
    begin_log(paths)
    return Outside(paths, SlowCalls(), "a terminal", os.environ, fault)


def follow(
    services: Stoppable,
    start: Callable[[], None],
    events: "queue.SimpleQueue[AppEvent]",
    line: LiveLine,
    finished: type[T],
) -> T | RunFailed:
    """Start and show the events until the last one. Ctrl+C and SIGTERM stop it."""
    with Stopping(services.stop):
        start()
        while True:
            try:
                event = events.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if isinstance(event, (finished, RunFailed)):
                return event
            if isinstance(event, Notice):
                line.say(event.reason.text())
            line.take(event)


class Stopping:
    """While open, Ctrl+C and SIGTERM call `stop` instead of ending the program roughly."""

    SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop

    def __enter__(self) -> None:
        self._before = [signal.signal(s, self._on_signal) for s in self.SIGNALS]

    def __exit__(self, *_: object) -> None:
        for number, handler in zip(self.SIGNALS, self._before, strict=True):
            signal.signal(number, handler)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._stop()
