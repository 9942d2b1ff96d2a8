"""The command `gram fits`: its options and help; the work is in `fits`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from desktop.cli.options import Command, Seconds, Whole, not_empty

_OF_PROBE: Final = frozenset({"unsigned", "key_file", "allow_key_file", "seconds"})
_OF_LIST: Final = frozenset({"words", "context", "depth", "at_least_tok_s", "all_builds", "probe"})


@click.command("fits", cls=Command)
@click.argument("words", nargs=-1)
@click.option(
    "--context",
    type=Whole(1, 1 << 24),
    default=4096,
    show_default=True,
    metavar="N",
    help="Tokens that memory must have room for.",
)
@click.option(
    "--depth",
    type=Whole(0, (1 << 24) - 1),
    metavar="N",
    help="Tokens before the one that is generated: the rates hold for it. Less than --context. "
    "Default: 1024, or all but the last of a shorter context.",
)
@click.option(
    "--at-least",
    "at_least_tok_s",
    type=Seconds(0, 1e6),
    default=10.0,
    show_default=True,
    metavar="TOK_S",
    help="Of each model the quantization of the best quality is shown whose whole range is above "
    "this; where none is, the fastest, or a better one whose range overlaps the fastest's.",
)
@click.option(
    "--all",
    "all_builds",
    is_flag=True,
    help="Every quantization that this machine runs, and what does not fit, with the reason.",
)
@click.option(
    "--probe",
    is_flag=True,
    help="Measure this machine's parts first (under a minute), as `gram parts` does.",
)
@click.option(
    "--rehearse",
    metavar="MODEL:QUANT",
    callback=not_empty,
    help="Measure how fast a build would run without downloading it: a file of its shapes with "
    "random weights is made, run and removed. No result: it is not signed.",
)
@click.option("--unsigned", is_flag=True, help="With --probe: do not keep what is measured.")
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --probe: sign with the key in this file, as `gram bench` does.",
)
@click.option(
    "--allow-key-file",
    is_flag=True,
    help="With --probe: where there is no keychain, keep the key in a file of the data folder.",
)
@click.option("--wait", is_flag=True, help="If another measurement runs, wait for it.")
@click.option(
    "--seconds", type=Seconds(1, 600), hidden=True, help="Take no longer for the probe (tests)."
)
@click.option("--tokens", type=Whole(1, 128), default=128, hidden=True)
@click.option("--threads", type=Whole(1, 512), hidden=True)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object for programs instead of text."
)
def show_fits(**options: Any) -> None:
    """Show what fits on this machine and how fast it would run, before anything is downloaded.

    Each rate is an estimate: a range of tokens a second, with how sure it is. Tier A is narrowed by
    this machine's own runs, B by its measured parts, C is what the catalogue knows of such devices;
    where a rate is not known there is a reason. WORDS choose models by their names, and a
    quantization by its label.

    \b
    gram fits                            one line a model, the fastest first
    gram fits qwen 7b                    those with both words in their name
    gram fits llama q4_k_m               this quantization of them
    gram fits --probe                    measure the machine's parts first
    gram fits --rehearse llama-3.2-1b-instruct:Q4_K_M
    """  # noqa: D301 - click reads the backspace as: keep these lines as they are
    from desktop.cli import fits as door  # noqa: PLC0415

    _refuse_unused(click.get_current_context(), options)
    if options["depth"] is not None and options["depth"] >= options["context"]:
        raise click.UsageError(
            f"--depth {options['depth']} needs a longer context: --context {options['depth'] + 1}"
        )
    sys.exit(door.run(**options))


def _refuse_unused(context: click.Context, options: Mapping[str, Any]) -> None:
    """What would change nothing is told, not left out in silence."""
    if options["rehearse"]:
        unused, why = _OF_LIST | _OF_PROBE, "--rehearse stands alone: it names its build"
    elif options["probe"]:
        unused, why = frozenset(), ""
    else:
        unused, why = _OF_PROBE | {"wait"}, "nothing is measured without --probe or --rehearse"
    given = [p for p in context.command.params if p.name in unused and _is_given(context, p)]
    if given:
        first = given[0]
        name = first.opts[0] if isinstance(first, click.Option) else first.human_readable_name
        raise click.UsageError(f"With this, {name} would change nothing: {why}.")


def _is_given(context: click.Context, parameter: click.Parameter) -> bool:
    name = parameter.name or ""
    # no words at all come from the command line too
    told = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    return told and context.params[name] != ()
