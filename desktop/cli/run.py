"""`gram bench`: one run with a progress bar and live figures, then the result."""

import json
import os
import queue
import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final, TypedDict, Unpack

import click

from desktop.cli import EXIT_ERROR, EXIT_STOPPED, say_error, show
from desktop.cli.live import LiveLine
from desktop.cli.plain import to_plain
from desktop.paths import default_paths
from desktop.records.events import AppEvent, Notice, RunFailed, RunFinished
from desktop.records.request import RunRequest, Signing
from desktop.records.run import PP512, TG128, SpeedTest
from desktop.services.app_services import AppServices
from desktop.services.log import log_to
from desktop.services.session import Outside
from desktop.services.slow import SlowCalls

POLL_S: Final = 0.5


class Options(TypedDict):
    """The options of `gram bench` that shape the run."""

    build: str
    unsigned: bool
    key_file: Path | None
    allow_key_file: bool
    wait: bool
    threads: int | None
    gpu_layers: int
    repetitions: int | None
    tests: tuple[SpeedTest, ...] | None


def measure(*, as_json: bool, fault: str | None, **options: Unpack[Options]) -> int:
    """Measure and show; returns the exit status."""
    paths = default_paths()
    log_to(paths)
    events: queue.SimpleQueue[AppEvent] = queue.SimpleQueue()
    outside = Outside(paths, SlowCalls(), "a terminal", os.environ, fault)
    services = AppServices(outside, events.put)
    try:
        with LiveLine(quiet=as_json) as line:
            end = _follow(services, _request(options), events, line)
    finally:
        services.shutdown()
    return _tell(end, as_json=as_json)


def _request(options: Options) -> RunRequest:
    return RunRequest(
        build=options["build"],
        signing=_signing(options),
        key_file=options["key_file"],
        threads=options["threads"],
        gpu_layers=options["gpu_layers"],
        repetitions=options["repetitions"],
        tests=options["tests"] or (PP512, TG128),
        wait=options["wait"],
    )


def _signing(options: Options) -> Signing:
    if options["unsigned"]:
        return Signing.UNSIGNED
    if options["key_file"] is not None:
        return Signing.KEY_FILE
    if options["allow_key_file"]:
        return Signing.KEYCHAIN_OR_FILE
    return Signing.KEYCHAIN


def _follow(
    services: AppServices,
    request: RunRequest,
    events: "queue.SimpleQueue[AppEvent]",
    line: LiveLine,
) -> RunFinished | RunFailed:
    """Start the run and show its events until the last one. Ctrl+C and SIGTERM stop it."""
    with _Stopping(services.stop):
        services.start(request)
        while True:
            try:
                event = events.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if isinstance(event, (RunFinished, RunFailed)):
                return event
            if isinstance(event, Notice):
                line.say(event.reason.text())
            line.take(event)


def _tell(end: RunFinished | RunFailed, *, as_json: bool) -> int:
    if isinstance(end, RunFinished):
        if as_json:
            click.echo(json.dumps(to_plain(end), indent=2, ensure_ascii=False))
        else:
            show.run_finished(end)
        return 0
    say_error(end.reason, as_json=as_json)
    return EXIT_STOPPED if end.cancelled else EXIT_ERROR


class _Stopping:
    """While open, Ctrl+C and SIGTERM end the run cleanly instead of the program roughly."""

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
