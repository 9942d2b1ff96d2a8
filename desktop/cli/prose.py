"""Headings and sentences of long pages: wrapped at words in a terminal, whole lines in a pipe."""

from desktop.cli.output import say
from desktop.cli.tables import cell, console


def heading(text: str) -> None:
    """A line of its own, with a blank line before it."""
    say("")
    _write(text, style="bold")


def paragraph(text: str) -> None:
    """One or more sentences."""
    _write(text)


def _write(text: str, style: str = "") -> None:
    terminal = console()
    if terminal.is_terminal:
        terminal.print(cell(text, style))
    else:
        say(text)
