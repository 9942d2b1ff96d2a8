"""`gram parts`: the machine measures itself, with a progress line, then the table."""

from pathlib import Path
from typing import TypedDict, Unpack

from desktop.cli import EXIT_ERROR, EXIT_STOPPED, parts_show
from desktop.cli.following import measured, outside_of, signing_of
from desktop.cli.live import LiveLine
from desktop.cli.output import after_keeping, say_error, say_json
from desktop.cli.statements import statement_json, unsigned_parts_json
from desktop.paths import default_paths
from desktop.records.events import PartsFinished, Phase, RunFailed
from desktop.records.events import Progress as RunProgress
from desktop.records.parts import PartsRequest
from desktop.rules.parts_words import TESTS
from desktop.services.results import kept_parts, kept_statement


class PartsLine(LiveLine):
    """The moving line, in the parts' words: the device and its test."""

    def words(self, event: RunProgress) -> str:
        """`Starting the engine`, `CPU, 2 threads: matrix-vector, Q4_0 (9 of 11)`."""
        at = event.part
        if at is not None:
            device = parts_show.with_threads(at.device, at.threads)
            return f"{device}: {TESTS[at.test]} ({at.number} of {at.planned})"
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
    outside = outside_of(default_paths(), fault)
    request = _request(options)
    line = PartsLine(quiet=as_json)
    end = measured(outside, lambda services: services.start_parts(request), line, PartsFinished)
    return _tell(end, as_json=as_json)


def show_kept(*, as_json: bool) -> None:
    """The newest parts that the ledger holds.

    Raises:
        LedgerError: there are none, or it cannot be read.
    """
    kept = kept_parts(default_paths())
    if as_json:
        say_json(statement_json(kept))
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
    with after_keeping(end.statement_id):
        if not as_json:
            parts_show.parts_finished(end)
        elif end.statement_id is None:
            say_json(unsigned_parts_json(end.parts))
        else:
            say_json(statement_json(kept_statement(default_paths(), end.statement_id)))
    return 0
