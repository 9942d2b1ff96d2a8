"""Tables for people: in the terminal's width, or for a pipe."""

import io
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPED_WIDTH: Final = 140


def print_table(table: Table) -> None:
    """To a terminal in its width; to a pipe or a file without folding and trailing blanks."""
    console = Console()
    if console.is_terminal:
        console.print(table)
        return
    wide = io.StringIO()
    Console(width=PIPED_WIDTH, file=wide).print(table)
    for line in wide.getvalue().splitlines():
        console.out(line.rstrip(), highlight=False)


def print_facts(*pairs: tuple[str, str]) -> None:
    """Labels and what they label; a pair of two empty texts is left out."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True, min_width=19)
    table.add_column(overflow="fold")
    for label, value in pairs:
        if label or value:
            table.add_row(label, Text(value))
    print_table(table)
