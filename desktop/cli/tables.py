"""Tables for people: in the terminal's width, in that of `COLUMNS`, or for a pipe.

No text is read as markup, and none of it reaches the terminal with what a terminal would obey.
"""

import io
import os
from collections.abc import Iterable
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from desktop.cli.foreign import shown
from desktop.cli.output import say
from desktop.errors import visible_text

PIPED_WIDTH: Final = 140
LABEL_WIDTH: Final = 40
"""The most that a label takes: what it labels is to be read beside it."""
_LEAST_WIDTH: Final = 20
"""Of `COLUMNS`: with less nothing can be read."""


class PlainConsole(Console):
    """Writes what is told, and obeys none of it: no markup, no `:emoji:`, no control characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Everything that is printed passes here; what moves the cursor of itself is Rich's own."""
        for segment in super().render(renderable, options):
            if segment.control or (segment.text.isascii() and segment.text.isprintable()):
                yield segment
            else:
                yield Segment(shown(segment.text, "\n"), segment.style)


def console(*, stderr: bool = False) -> Console:
    """The terminal; without colours and all other styles where `NO_COLOR` asks for none.

    Rich's own answer to `NO_COLOR` leaves bold and dim, which are escape sequences too.
    """
    plain = bool(os.environ.get("NO_COLOR"))
    return PlainConsole(stderr=stderr, color_system=None if plain else "auto")


def cell(text: str, style: str = "") -> Text:
    """A text as it is, on one line: a name with a line's end in it looks like no line of ours."""
    return Text(visible_text(text), style=style)


def lines(text: str, style: str = "") -> Text:
    """A text of ours that has several lines: each of them as `cell` shows it."""
    return Text("\n").join(cell(line, style) for line in text.split("\n"))


def columns_told() -> int | None:
    """What `COLUMNS` asks for; None where it is not set, or no sensible number."""
    told = os.environ.get("COLUMNS", "")
    return int(told) if told.isascii() and told.isdigit() and int(told) >= _LEAST_WIDTH else None


def room(piped_width: int = PIPED_WIDTH) -> int:
    """Letters in a line: the terminal's; in a pipe or a file those of `COLUMNS`, if it is set."""
    terminal = console()
    return terminal.width if terminal.is_terminal else columns_told() or piped_width


def print_table(table: RenderableType, piped_width: int = PIPED_WIDTH) -> None:
    """In the width that there is (`room`); in a pipe or a file without trailing blanks."""
    terminal = console()
    if terminal.is_terminal:
        terminal.print(table)
        return
    wide = io.StringIO()
    PlainConsole(width=room(piped_width), file=wide, color_system=None).print(table)
    for line in wide.getvalue().splitlines():
        say(line.rstrip())


def print_facts(*pairs: tuple[str, str]) -> None:
    """Labels and what they label; a pair of two empty texts is left out."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", overflow="fold", min_width=19, max_width=LABEL_WIDTH)
    table.add_column(overflow="fold")
    for label, value in pairs:
        if label or value:
            table.add_row(cell(label), cell(value))
    print_table(table)
