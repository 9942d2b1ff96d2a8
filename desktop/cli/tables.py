"""Tables for people: in the terminal's width, or for a pipe."""

import io
import os
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from desktop.cli.output import say

PIPED_WIDTH: Final = 140


def console(*, stderr: bool = False) -> Console:
    """The terminal; without colours and all other styles where `NO_COLOR` asks for none.

    Rich's own answer to `NO_COLOR` leaves bold and dim, which are escape sequences too.
    """
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(stderr=stderr, color_system=None if plain else "auto")


def print_table(table: Table) -> None:
    """To a terminal in its width; to a pipe or a file without folding and trailing blanks."""
    terminal = console()
    if terminal.is_terminal:
        terminal.print(table)
        return
    wide = io.StringIO()
    Console(width=PIPED_WIDTH, file=wide, color_system=None).print(table)
    for line in wide.getvalue().splitlines():
        say(line.rstrip())


def print_facts(*pairs: tuple[str, str]) -> None:
    """Labels and what they label; a pair of two empty texts is left out."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True, min_width=19)
    table.add_column(overflow="fold")
    for label, value in pairs:
        if label or value:
            table.add_row(label, Text(value))
    print_table(table)
