"""Tables with more columns than a narrow terminal has room for: the least important go first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rich.cells import cell_len
from rich.table import Table

from desktop.cli.prose import paragraph
from desktop.cli.tables import cell, console, print_table

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

    @property
    def width(self) -> int:
        """In letters."""
        return max(map(cell_len, (self.head, *self.cells)))

    @property
    def justify(self) -> Literal["left", "right"]:
        """Figures stand at the right."""
        return "right" if self.right else "left"


def print_fitting(columns: Sequence[Column]) -> None:
    """Print what fits, and name what does not. Columns that are all empty are left out."""
    filled = [column for column in columns if any(column.cells)]
    terminal = console()
    shown = fitting(filled, terminal.width if terminal.is_terminal else PIPED_WIDTH)
    print_table(_table(shown), PIPED_WIDTH)
    left_out = [column.head for column in filled if column not in shown]
    if left_out:
        named = ", ".join(left_out)
        paragraph(f"No room here for: {named}. A wider terminal, a pipe or --json has it.")


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """The columns that fit side by side; those that stay may be wider together all the same."""
    shown = list(columns)
    for column in sorted(columns, key=lambda c: -c.drop):
        if column.drop == 0 or sum(c.width + _GAP for c in shown) - _GAP <= width:
            break
        shown.remove(column)
    return shown


def _table(columns: Sequence[Column]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for column in columns:
        table.add_column(column.head, justify=column.justify, overflow="fold")
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(cell, cells))
    return table
