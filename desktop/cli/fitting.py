"""Tables with more columns than a narrow terminal has room for: the least important go first.

Where the others are too wide all the same, what rows are called stands on lines above them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table

from desktop.cli.prose import paragraph
from desktop.cli.tables import cell, print_table, room

PIPED_WIDTH: Final = 220
"""A pipe or a file has room for every column."""
_GAP: Final = 2


@dataclass(frozen=True, slots=True)
class Column:
    """One column and all of its cells."""

    head: str
    cells: Sequence[str]
    drop: int = 0
    """The greatest goes first when there is no room; 0 stays."""
    right: bool = False
    heading: bool = False
    """What rows are called: with too little room beside the others it stands above them."""

    @property
    def width(self) -> int:
        """In letters."""
        return max(map(cell_len, (self.head, *self.cells)))

    @property
    def justify(self) -> Literal["left", "right"]:
        """Figures stand at the right."""
        return "right" if self.right else "left"


def print_fitting(columns: Sequence[Column]) -> tuple[str, ...]:
    """Print what fits, and name what does not. Columns that are all empty are left out.

    Returns:
        the heads of the columns that were printed.
    """
    filled = [column for column in columns if any(column.cells)]
    width = room(PIPED_WIDTH)
    shown = fitting(filled, width)
    headings = [column for column in filled if column.heading]
    if headings and _width(shown) > width:
        rest = fitting([c for c in filled if not c.heading], width - _GAP)
        _print_stacked(headings, rest)
        shown = headings + rest
    else:
        print_table(_table(shown), PIPED_WIDTH)
    left_out = [column.head for column in filled if column not in shown]
    if left_out:
        named = ", ".join(left_out)
        paragraph(f"No room here for: {named}. A wider terminal, a pipe or --json has it.")
    return tuple(column.head for column in shown)


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """The columns that fit side by side; those that stay may be wider together all the same."""
    shown = list(columns)
    for column in sorted(columns, key=lambda c: -c.drop):
        if column.drop == 0 or _width(shown) <= width:
            break
        shown.remove(column)
    return shown


def _width(columns: Sequence[Column]) -> int:
    """Of a table, in letters."""
    return sum(column.width + _GAP for column in columns) - _GAP


def _print_stacked(headings: Sequence[Column], columns: Sequence[Column]) -> None:
    """The headings of rows, each once, and below it, a little to the right, its rows."""
    rows = range(len(headings[0].cells))
    print_table(cell(_joined(column.head for column in headings), "bold"), PIPED_WIDTH)
    _print_below(columns, ())
    for heading, group in groupby(rows, key=lambda row: _joined(h.cells[row] for h in headings)):
        print_table(cell(heading, "bold"), PIPED_WIDTH)
        _print_below(columns, tuple(group))


def _print_below(columns: Sequence[Column], rows: Sequence[int]) -> None:
    """Some of the rows; without any, the head."""
    # a part of a table is as wide as the whole, so that all of them stand one below the other
    aligned = _width(columns) + _GAP <= room(PIPED_WIDTH)
    table = _table(columns, rows, aligned=aligned)
    table.show_header = not rows
    print_table(Padding(table, (0, 0, 0, _GAP)), PIPED_WIDTH)


def _joined(texts: Iterable[str]) -> str:
    return (" " * _GAP).join(filter(None, texts))


def _table(
    columns: Sequence[Column], rows: Iterable[int] | None = None, *, aligned: bool = False
) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for column in columns:
        width = column.width if aligned else None
        table.add_column(column.head, justify=column.justify, overflow="fold", min_width=width)
    every = range(len(columns[0].cells)) if columns else ()
    for row in every if rows is None else rows:
        table.add_row(*(cell(column.cells[row]) for column in columns))
    return table
