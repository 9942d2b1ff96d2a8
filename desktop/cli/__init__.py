"""The terminal door: `gram`. Never imports Qt; each command imports what it needs when it runs."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from desktop import __version__
from desktop.cli.builds_command import builds
from desktop.cli.estimate_command import show_estimate
from desktop.cli.fits_command import show_fits
from desktop.cli.options import Commands, Seconds, Whole, known_fault, speed_tests
from desktop.cli.output import (
    say,
    say_error,
    say_json,
    say_output_failed,
    tolerate_poor_output,
)
from desktop.cli.plain import to_plain
from desktop.cli.results_command import show_results, verify_statement
from desktop.errors import GramError

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_STOPPED = 130
"""As shells report Ctrl+C."""
JSON_HELP = "Print one JSON object for programs instead of text."


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gram")
def gram() -> None:
    """Measure language models on this machine, and sign what you found.

    \b
    Start here:
      gram machine     what this machine is
      gram bench       measure the reference build (about a minute or two)
      gram results     what was measured here
      gram estimate    what would run a model, before it is downloaded
      gram builds      find builds that fit, and fetch them
      gram window      the same in a window
    """  # noqa: D301 - click reads the backspace as: keep these lines as they are


@gram.command()
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def machine(*, as_json: bool) -> None:
    """Show what this machine is, and what can read its power."""
    from desktop.cli import machine_show  # noqa: PLC0415
    from desktop.cli.begin import begin_log  # noqa: PLC0415
    from desktop.paths import default_paths  # noqa: PLC0415
    from desktop.services.facts import machine_facts  # noqa: PLC0415

    begin_log(default_paths())
    _print(machine_facts(default_paths()), machine_show.machine, as_json=as_json)


@gram.command("power")
@click.option("--watch", is_flag=True, help="Go on, a figure a second, until Ctrl+C.")
@click.option(
    "--seconds",
    type=Seconds(0.2, 86_400),
    help="How long to read. Default: 2; with --watch until Ctrl+C.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object for programs instead of text; with --watch one a line.",
)
def show_power(*, watch: bool, seconds: float | None, as_json: bool) -> None:
    """Show the watts of this machine now, and what reads them.

    The meter is the one that a run on this machine's cards (or, without cards, its processor)
    would have. Watts that are not measured are called modelled, with the formula.

    With --watch --json each line is an object, one a second: `seconds` since the start, `watts_w`
    of the last second (null where nothing was read) and `source` (sensor or modelled). The last
    line is {"summary": ...} with the mean, the joules, the share of the time that was read
    (`covered`) and the meter.
    """
    from desktop.cli import power  # noqa: PLC0415

    sys.exit(power.run(watch=watch, as_json=as_json, seconds=seconds))


@gram.command()
@click.argument("build", default="reference")
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
@click.option("--unsigned", is_flag=True, help="Only measure: the result is shown, not kept.")
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Sign with the key in this file (made on first use, for your eyes only) instead of the "
    "keychain's. For servers.",
)
@click.option(
    "--allow-key-file",
    is_flag=True,
    help="Where there is no keychain, keep the key in a file of the data folder, and say so.",
)
@click.option("--wait", is_flag=True, help="If another measurement runs, wait for it.")
@click.option("--threads", type=Whole(1, 512), help="CPU threads. Default: the physical cores.")
@click.option(
    "--gpu-layers",
    type=Whole(-1, 1000),
    default=-1,
    metavar="N",
    help="Layers to put on the graphics card; -1, the default, puts all there.",
)
@click.option(
    "--device",
    "devices",
    multiple=True,
    metavar="NAME",
    help="Use only this card, by the engine's name (`gram machine` shows it, as CUDA0). Can be "
    "given several times. Default: the engine's choice.",
)
@click.option(
    "--repetitions",
    # a statement holds at most 2,000 repetitions of all tests together
    type=Whole(1, 500),
    help="Exactly so many of each test. Default: until the spread is at most 2.5 %.",
)
@click.option(
    "--tests", callback=speed_tests, hidden=True, help="Other tests, as `pp16,tg4` (tests)."
)
@click.option(
    "--fault", callback=known_fault, hidden=True, help="Ask the worker for a fault (tests)."
)
def bench(as_json: bool, **options: Any) -> None:  # noqa: FBT001 - click passes by name
    """Measure BUILD: a GGUF file, the name of a build that is here, or `reference`.

    Prompt processing (pp512) and text generation (tg128) are measured as llama-bench does, and
    repeated until the spread is small. The result is signed with this machine's key and kept.
    Stop with Ctrl+C: nothing of a stopped run is kept.
    """
    from desktop.cli import run  # noqa: PLC0415

    if options["devices"] and options["gpu_layers"] == 0:
        raise click.UsageError("--device chooses a card, --gpu-layers 0 uses none")
    sys.exit(run.measure(as_json=as_json, **options))


@gram.command("parts")
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
@click.option("--unsigned", is_flag=True, help="Only measure: the result is shown, not kept.")
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Sign with the key in this file, as `gram bench` does.",
)
@click.option(
    "--allow-key-file",
    is_flag=True,
    help="Where there is no keychain, keep the key in a file of the data folder, and say so.",
)
@click.option("--wait", is_flag=True, help="If another measurement runs, wait for it.")
@click.option("--last", is_flag=True, help="Do not measure: show what was kept last.")
@click.option(
    "--seconds", type=Seconds(1, 600), hidden=True, help="Take no longer than so (tests)."
)
@click.option(
    "--fault", callback=known_fault, hidden=True, help="Ask the worker for a fault (tests)."
)
def measure_parts(as_json: bool, last: bool, **options: Any) -> None:  # noqa: FBT001 - by name
    """Measure this machine's parts, in under a minute.

    What the engine gets out of each of its devices: products in 16 bits, memory by matrix-vector
    products of several quantizations and by copying, and the fixed cost of a small graph. The
    result is signed with this machine's key and kept.
    """
    from desktop.cli import parts as door  # noqa: PLC0415

    if last:
        door.show_kept(as_json=as_json)
        return
    sys.exit(door.measure(as_json=as_json, **options))


@gram.command("settings", context_settings={"ignore_unknown_options": True})
@click.argument("key", required=False)
@click.argument("values", nargs=-1, metavar="[VALUE]...")
@click.option("--unset", is_flag=True, help="Forget what was set.")
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def set_settings(key: str | None, values: tuple[str, ...], *, unset: bool, as_json: bool) -> None:
    """List what can be set, show KEY, or set it to VALUE.

    \b
    For carbon:  gram settings place NL          (or US-CA)
    For price:   gram settings tariff_usd_kwh 0.30
                 gram settings hardware_price_usd 1600
                 gram settings rented yes
                 gram settings hourly_rate_usd 0.50
    For builds:  gram settings builds.budget_gb 200
                 gram settings builds.limit_mb_s 2.5
                 gram settings builds.metered allow
                 gram settings builds.folders /data/models /data/more

    builds.folders then holds just these; `gram builds add PATH` adds one.
    """  # noqa: D301 - click reads the backspace as: keep these lines as they are
    from desktop.cli import settings  # noqa: PLC0415
    from desktop.paths import default_paths  # noqa: PLC0415

    settings.run(default_paths(), key, values, unset=unset, as_json=as_json)


@gram.command()
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def doctor(*, as_json: bool) -> None:
    """Check what Gram needs: what is found, what is missing, where the log is."""
    from desktop.cli import show  # noqa: PLC0415
    from desktop.services.doctor import FAULTS, examine  # noqa: PLC0415

    findings = examine()
    _print(findings, show.findings, as_json=as_json)
    sys.exit(EXIT_ERROR if any(f.state in FAULTS for f in findings) else 0)


@gram.command(context_settings={"ignore_unknown_options": True})
@click.option("--measure", is_flag=True, help="Begin to measure at once.")
@click.option(
    "--allow-key-file",
    is_flag=True,
    help="Where there is no keychain, keep the key in a file of the data folder, and say so.",
)
@click.argument("others", nargs=-1, type=click.UNPROCESSED, metavar="")
def window(*, measure: bool, allow_key_file: bool, others: tuple[str, ...]) -> None:
    """Open the window: this machine, measuring with live curves, and past results.

    One window for each profile: when it is open already, it comes to the front.
    """
    import subprocess  # noqa: PLC0415

    # `desktop.__main__` opens this door itself: here for its help, and for who calls `main`
    asked = {"--measure": measure, "--allow-key-file": allow_key_file}
    options = [*(name for name, wanted in asked.items() if wanted), *others]
    command = [sys.executable, "-m", "desktop", "window", *options]
    sys.exit(subprocess.run(command, check=False).returncode)


gram.add_command(builds)
gram.add_command(show_estimate)
gram.add_command(show_fits)
gram.add_command(show_results)
gram.add_command(verify_statement)


def main(arguments: list[str]) -> int:
    """Run `gram` with `arguments`; returns the exit status."""
    tolerate_poor_output()
    try:
        return _told(arguments)
    except click.Abort:
        return EXIT_STOPPED
    except OSError as e:
        say_output_failed(e)
    return EXIT_ERROR


def _told(arguments: list[str]) -> int:
    try:
        return _run(arguments)
    except GramError as e:
        say_error(e.reason, as_json="--json" in arguments)
    return EXIT_ERROR


def _run(arguments: list[str]) -> int:
    try:
        status = gram.main(arguments, prog_name="gram", standalone_mode=False)
    except click.ClickException as e:
        said = io.StringIO()
        e.show(file=said)
        say(said.getvalue().rstrip("\n"), err=True)
        status = e.exit_code
    except SystemExit as e:
        status = e.code if isinstance(e.code, int) else EXIT_ERROR
    # here, where it is told in words; at the program's end it would be a warning of Python's
    sys.stdout.flush()
    return status if isinstance(status, int) else 0


def _print(value: Any, show: Callable[[Any], None], *, as_json: bool) -> None:
    if as_json:
        say_json(to_plain(value))
    else:
        show(value)
