"""`gram builds get`: fetch a build, unless it is on this machine already."""

import queue
from collections.abc import Mapping
from typing import Final, Literal, TypedDict, Unpack

import click

from desktop.cli import EXIT_ERROR, EXIT_STOPPED, figures
from desktop.cli.asking import can_ask
from desktop.cli.begin import begin_log
from desktop.cli.builds_words import fit_words
from desktop.cli.fetch_line import FetchLine
from desktop.cli.following import POLL_S, Stopping
from desktop.cli.output import say, say_error, say_json, say_reason
from desktop.cli.plain import to_plain
from desktop.errors import Reason
from desktop.paths import Paths, default_paths
from desktop.records.build_events import FetchEnded
from desktop.records.offers import FetchRequest, FetchStep, HeldBuild
from desktop.rules.shell_words import gram_command
from desktop.services.fetches import Fetches
from desktop.services.fetching import Means
from desktop.services.ground import read_ground
from desktop.services.judging import judge_here

_QUESTIONS: Final[Mapping[str, tuple[str, Literal["anyway", "metered", "make_room"]]]] = {
    "download_metered": ("Download it all the same?", "metered"),
    "download_not_run": ("Download it all the same?", "anyway"),
    "library_needs_room": ("Remove them, and download it?", "make_room"),
}
"""What a person is asked after a refusal, and the option that says yes."""


class Options(TypedDict):
    """The options of `gram builds get`."""

    name: str
    anyway: bool
    metered: bool
    make_room: bool
    limit_mb_s: float | None
    as_json: bool


def run(**options: Unpack[Options]) -> int:
    """Fetch; returns the exit status.

    Raises:
        GramError: the folders cannot be used.
    """
    paths = default_paths().ensure()
    begin_log(paths)
    end = _fetched(paths, options)
    while end.reason is not None and _may_ask(end, options):
        question, option = _QUESTIONS[end.reason.code]
        if not click.confirm(f"{end.reason.text()} {question}", err=True):
            say("Nothing was downloaded.", err=True)
            return EXIT_ERROR
        options[option] = True
        end = _fetched(paths, options)
    _tell_removed(end, err=end.held is None or options["as_json"])
    if end.held is None:
        reason = end.reason or Reason("download_stopped", {"name": options["name"]})
        say_error(reason, as_json=options["as_json"])
        return EXIT_STOPPED if end.stopped else EXIT_ERROR
    if options["as_json"]:
        say_json(to_plain(end))
    else:
        _tell(end, end.held)
    return 0


def _may_ask(end: FetchEnded, options: Options) -> bool:
    """Whether a person's yes would let it go on, and there is somebody to say so."""
    code = end.reason.code if end.reason is not None and end.held is None else ""
    if code not in _QUESTIONS or options[_QUESTIONS[code][1]]:
        return False
    return can_ask() and not options["as_json"]


def _fetched(paths: Paths, options: Options) -> FetchEnded:
    limit = options["limit_mb_s"]
    request = FetchRequest(
        options["name"],
        anyway=options["anyway"],
        metered=options["metered"],
        make_room=options["make_room"],
        limit_bytes_s=None if limit is None else limit * 1e6,
    )
    events: queue.SimpleQueue[FetchStep | FetchEnded] = queue.SimpleQueue()
    line = FetchLine(quiet=options["as_json"])
    judge = judge_here(lambda: read_ground(paths), lambda row: line.say(fit_words(row)))
    fetches = Fetches(Means(paths, judge), events.put)
    with line, Stopping(lambda: fetches.stop(request.name)):
        fetches.fetch(request)
        while True:
            try:
                event = events.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if isinstance(event, FetchEnded):
                break
            if event.told is not None:
                line.say(f"{event.told.text()} {event.told.advice()}".strip())
            line.step(event)
    fetches.shutdown()
    return event


def _tell_removed(end: FetchEnded, *, err: bool) -> None:
    """What made room, whatever came of the download."""
    for entry in end.evicted.gone if end.evicted else ():
        words = f"Removed to make room: {entry.name}, {figures.size(entry.freed_bytes)}"
        say(words, err=err)


def _tell(end: FetchEnded, held: HeldBuild) -> None:
    if end.reason is not None:
        say_reason(end.reason)
    else:
        say(f"Fetched and verified: {held.name}, {figures.size(held.size_bytes)}")
    say(f"Measure it:   {gram_command('bench', held.name)}")
    say(f"Run it:       {gram_command('builds use', held.name)}")
