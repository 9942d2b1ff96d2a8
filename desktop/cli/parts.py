"""`gram parts`: the machine measures itself, with a progress line, then the table."""

import json
import os
import queue
from pathlib import Path
from typing import TypedDict, Unpack

import click

from desktop.cli import EXIT_ERROR, EXIT_STOPPED, parts_show, say_error
from desktop.cli.following import follow, signing_of
from desktop.cli.live import LiveLine
from desktop.cli.plain import to_plain
from desktop.paths import default_paths
from desktop.records.events import AppEvent, PartsFinished, Phase, RunFailed
from desktop.records.events import Progress as RunProgress
from desktop.records.parts import PartsRequest, PartTest
from desktop.rules.parts_words import TESTS
from desktop.services.app_services import AppServices
from desktop.services.attempt import Outside
from desktop.services.log import log_to
from desktop.services.results import kept_parts
from desktop.services.slow import SlowCalls


class PartsLine(LiveLine):
    """The moving line, in the parts' words: the device and its test."""

    def words(self, event: RunProgress) -> str:
        """`Starting the engine`, `CPU: matrix-vector, Q4_0`."""
        if event.test:
            device, _, test = event.test.rpartition(" ")
            return f"{device}: {TESTS[PartTest(test)]}"
        # a run's words would speak of a build
        return "Starting the engine" if event.phase is Phase.LOADING else super().words(event)


class Options(TypedDict):
    """The options of `gram parts`."""

    unsigned: bool
    key_file: Path | None
    allow_key_file: bool
    wait: bool
    seconds: float | None


def measure(*, as_json: bool, fault: str | None, **options: Unpack[Options]) -> int:
    """Measure and show; returns the exit status."""
    paths = default_paths()
    log_to(paths)
    request = _request(options)
    events: queue.SimpleQueue[AppEvent] = queue.SimpleQueue()
    outside = Outside(paths, SlowCalls(), "a terminal", os.environ, fault)
    services = AppServices(outside, events.put)
    try:
        with PartsLine(quiet=as_json) as line:
            end = follow(
                services, lambda: services.start_parts(request), events, line, PartsFinished
            )
    finally:
        services.shutdown()
    return _tell(end, as_json=as_json)


def show_kept(*, as_json: bool) -> None:
    """The newest parts that the ledger holds.

    Raises:
        LedgerError: there are none, or it cannot be read.
    """
    kept = kept_parts(default_paths())
    if as_json:
        click.echo(json.dumps(to_plain(kept), indent=2, ensure_ascii=False))
    else:
        parts_show.parts_kept(kept)


def _request(options: Options) -> PartsRequest:
    signing = signing_of(
        unsigned=options["unsigned"],
        key_file=options["key_file"],
        allow_key_file=options["allow_key_file"],
    )
    return PartsRequest(
        signing, options["key_file"], wait=options["wait"], time_limit_s=options["seconds"]
    )


def _tell(end: PartsFinished | RunFailed, *, as_json: bool) -> int:
    if isinstance(end, RunFailed):
        say_error(end.reason, as_json=as_json)
        return EXIT_STOPPED if end.cancelled else EXIT_ERROR
    if as_json:
        click.echo(json.dumps(to_plain(end), indent=2, ensure_ascii=False))
    else:
        parts_show.parts_finished(end)
    return 0
