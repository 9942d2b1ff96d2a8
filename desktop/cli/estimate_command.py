"""The command `gram estimate`: its options and help; the work is in `estimate`."""

import sys
from typing import Any

import click

from desktop.cli.options import Command, Whole, not_empty


@click.command("estimate", cls=Command)
@click.argument("model", nargs=-1)
@click.option(
    "--device",
    metavar="ID",
    callback=not_empty,
    help="One device only, with every quantization on it and the arithmetic written out. The id is "
    "as the page of all devices shows it, for example geforce-rtx-3090-24gb; `this` is this "
    "machine, as `gram fits` has it.",
)
@click.option(
    "--context",
    "position",
    type=Whole(0, 1 << 24),
    metavar="N",
    help="Tokens before the one that is generated: a longer text takes more memory and is slower. "
    "Default: 1024.",
)
@click.option(
    "--quant",
    metavar="Q",
    callback=not_empty,
    help="This quantization only, for example Q4_K_M. Default: the best in quality that fits.",
)
@click.option(
    "--find",
    metavar="WORD",
    callback=not_empty,
    help="List the models that have WORD in their name.",
)
@click.option(
    "--profile",
    type=click.Choice(["gram", "page"]),
    help="Whose constants: Gram's own (the default), or those of the published page that Gram is "
    "compared with.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object for programs instead of text."
)
def show_estimate(**options: Any) -> None:
    """Show what would run MODEL, and how fast, before anything is downloaded.

    Nothing is measured: each rate is a range with its ceiling and the reasons for its width; where
    there is no range there is a reason. MODEL is a name of the catalogue, with or without quotes;
    without it, all models are listed.

    \b
    gram estimate                              all models
    gram estimate --find qwen                  those with a word in their name
    gram estimate qwen3-8b                     its page: sizes, devices, where to start
    gram estimate qwen3-8b --device geforce-rtx-3090-24gb
    """  # noqa: D301 - click reads the backspace as: keep these lines as they are
    from desktop.cli import estimate as door  # noqa: PLC0415

    sys.exit(door.run(**options))
