"""Headings and sentences of long pages: wrapped at words in a terminal, whole lines in a pipe.

Where `COLUMNS` is set, they are wrapped in a pipe too.
"""

from desktop.cli.output import say
from desktop.cli.tables import cell, columns_told, console, print_table


def heading(text: str) -> None:
    """A line of its own, with a blank line before it."""
    say("")
    _write(text, style="bold")


def paragraph(text: str) -> None:
    """One or more sentences."""
    _write(text)


def _write(text: str, style: str = "") -> None:
    if console().is_terminal or columns_told():
        print_table(cell(text, style))
    else:
        say(text)
