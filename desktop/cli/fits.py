"""`gram fits`: what fits on this machine; with a probe of its parts first, or a rehearsal."""

from pathlib import Path
from typing import TypedDict, Unpack

from desktop.cli import EXIT_ERROR, EXIT_STOPPED, EXIT_USAGE, fits_json, fits_show
from desktop.cli.begin import begin_log
from desktop.cli.fits_line import FitsLine
from desktop.cli.following import measured, outside_of, signing_of
from desktop.cli.live import LiveLine
from desktop.cli.output import after_keeping, say_error, say_json
from desktop.cli.parts import PartsLine
from desktop.errors import GramError
from desktop.paths import Paths, default_paths
from desktop.records.events import PartsFinished, RehearsalFinished, RunFailed
from desktop.records.fits import USUAL_DEPTH, Fits, FitsRequest
from desktop.records.parts import Parts, PartsRequest
from desktop.records.rehearsal import RehearsalRequest
from desktop.services.estimates import FitsWork
from desktop.services.fits_words import refuse_unknown
from desktop.services.ground import read_ground
from desktop.services.rehearsals import named_build


class Options(TypedDict):
    """The options of `gram fits`."""

    words: tuple[str, ...]
    context: int
    depth: int | None
    at_least_tok_s: float
    all_builds: bool
    probe: bool
    rehearse: str | None
    unsigned: bool
    key_file: Path | None
    allow_key_file: bool
    wait: bool
    seconds: float | None
    tokens: int
    threads: int | None
    as_json: bool


def run(**options: Unpack[Options]) -> int:
    """Show what fits, or rehearse; returns the exit status.

    Raises:
        GramError: the tables or the ledger cannot be read.
    """
    paths = default_paths()
    try:
        refuse_unknown(options["words"])
        if options["rehearse"]:
            named_build(options["rehearse"])
    except GramError as e:
        say_error(e.reason, as_json=options["as_json"])
        return EXIT_USAGE
    if options["rehearse"]:
        return _rehearse(paths, options["rehearse"], options)
    if not options["probe"]:
        begin_log(paths)
        return _show(paths, None, options)
    end = _probe(paths, options)
    if isinstance(end, RunFailed):
        return _failed(end, options)
    with after_keeping(end.statement_id):
        return _show(paths, end.parts, options)


def _show(paths: Paths, parts: Parts | None, options: Options) -> int:
    depth = USUAL_DEPTH if options["depth"] is None else options["depth"]
    request = FitsRequest(
        context=options["context"],
        depth=depth,
        words=options["words"],
        all_builds=options["all_builds"],
        at_least_tok_s=options["at_least_tok_s"],
    )
    with FitsLine(quiet=options["as_json"]) as line:
        found = _found(paths, parts, request, line)
    if options["as_json"]:
        say_json(fits_json.fits(found))
    else:
        fits_show.fits(found)
    return 0


def _found(paths: Paths, parts: Parts | None, request: FitsRequest, line: FitsLine) -> Fits:
    line.reading()
    work = FitsWork(read_ground(paths, parts), (request,))
    line.finish(work)
    found = work.answers()[0]
    if request.words and not found.rows and found.hidden:
        # who names models wants to know of them, also why none of them runs here
        return work.answers(every_model=True)[0]
    return found


def _probe(paths: Paths, options: Options) -> PartsFinished | RunFailed:
    signing = signing_of(
        unsigned=options["unsigned"],
        key_file=options["key_file"],
        allow_key_file=options["allow_key_file"],
    )
    request = PartsRequest(
        signing, options["key_file"], wait=options["wait"], time_limit_s=options["seconds"]
    )
    line = PartsLine(quiet=options["as_json"])
    outside = outside_of(paths, None)
    return measured(outside, lambda services: services.start_parts(request), line, PartsFinished)


def _rehearse(paths: Paths, build: str, options: Options) -> int:
    request = RehearsalRequest(
        build, options["threads"], wait=options["wait"], tokens=options["tokens"]
    )
    line = LiveLine(quiet=options["as_json"])
    outside = outside_of(paths, None)
    end = measured(outside, lambda s: s.start_rehearsal(request), line, RehearsalFinished)
    if isinstance(end, RunFailed):
        return _failed(end, options)
    if options["as_json"]:
        say_json(fits_json.rehearsal(end.rehearsal))
    else:
        fits_show.rehearsal(end.rehearsal)
    return 0


def _failed(end: RunFailed, options: Options) -> int:
    say_error(end.reason, as_json=options["as_json"])
    return EXIT_STOPPED if end.cancelled else EXIT_ERROR
