"""`gram bench`: one run with a progress bar and live figures, then the result."""

from pathlib import Path
from typing import TypedDict, Unpack

from desktop.cli import EXIT_ERROR, EXIT_STOPPED, show
from desktop.cli.following import measured, outside_of, signing_of
from desktop.cli.live import LiveLine
from desktop.cli.output import after_keeping, say_error, say_json, say_reason
from desktop.cli.statements import statement_json, unsigned_run_json
from desktop.paths import Paths, default_paths
from desktop.records.cost import Costs
from desktop.records.events import RunFailed, RunFinished
from desktop.records.request import RunRequest
from desktop.records.run import PP512, TG128, SpeedTest
from desktop.services.costs import costs_of
from desktop.services.results import kept_statement
from desktop.settings import Settings, read_settings


class Options(TypedDict):
    """The options of `gram bench` that shape the run."""

    build: str
    unsigned: bool
    key_file: Path | None
    allow_key_file: bool
    wait: bool
    threads: int | None
    gpu_layers: int
    devices: tuple[str, ...]
    repetitions: int | None
    tests: tuple[SpeedTest, ...] | None


def measure(*, as_json: bool, fault: str | None, **options: Unpack[Options]) -> int:
    """Measure and show; returns the exit status."""
    paths = default_paths()
    outside = outside_of(paths, fault)
    settings = _settings(paths)
    request = _request(options)
    line = LiveLine(quiet=as_json)
    end = measured(outside, lambda services: services.start(request), line, RunFinished)
    return _tell(end, settings, as_json=as_json)


def _settings(paths: Paths) -> Settings:
    """Read once, before the run: a broken file is set aside, which is told in any case."""
    settings, told = read_settings(paths.settings)
    for reason in told:
        say_reason(reason)
    return settings


def _request(options: Options) -> RunRequest:
    return RunRequest(
        build=options["build"],
        signing=signing_of(
            unsigned=options["unsigned"],
            key_file=options["key_file"],
            allow_key_file=options["allow_key_file"],
        ),
        key_file=options["key_file"],
        threads=options["threads"],
        gpu_layers=options["gpu_layers"],
        devices=options["devices"],
        repetitions=options["repetitions"],
        tests=options["tests"] or (PP512, TG128),
        wait=options["wait"],
    )


def _tell(end: RunFinished | RunFailed, settings: Settings, *, as_json: bool) -> int:
    if isinstance(end, RunFinished):
        with after_keeping(end.statement_id):
            _show(end, costs_of(end.run, settings), as_json=as_json)
        return 0
    say_error(end.reason, as_json=as_json)
    return EXIT_STOPPED if end.cancelled else EXIT_ERROR


def _show(end: RunFinished, costs: Costs, *, as_json: bool) -> None:
    if not as_json:
        show.run_finished(end, costs)
    elif end.statement_id is None:
        say_json(unsigned_run_json(end.run, costs))
    else:
        say_json(statement_json(kept_statement(default_paths(), end.statement_id), costs))
