"""Rows of the tables that ship with Gram: one way to read them, and to say where one is wrong.

A table is CSV with a header. Each reader turns a row into what it means, and raises ValueError
naming the column; the error that people see names the file and the line as well.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, TypeAlias, TypeVar

from desktop.errors import GramError

Row: TypeAlias = Mapping[str, str]
"""Cells by column."""

_NUMBER: Final = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SHOWN: Final = 40
"""Characters of a wrong value that an error repeats."""
_L = TypeVar("_L")
_T = TypeVar("_T")


def read_table(
    resource: str,
    text: str,
    columns: Collection[str],
    read: Callable[[Row], Iterable[_T]],
    *,
    key: Callable[[_T], str] | None = None,
) -> tuple[_T, ...]:
    """What the rows of a CSV table mean, in its order.

    Args:
        resource: the table's name, relative to `resources/`.
        text: of the whole table.
        columns: that it has to have; it may have others.
        read: what one row means: any number of entries.
        key: no two entries may have the same.

    Raises:
        GramError: `resource_damaged`, naming line and column.
    """
    return read_lines(resource, numbered_rows(resource, text, columns), read, key=key)


def read_lines(
    resource: str,
    lines: Iterable[tuple[int, _L]],
    read: Callable[[_L], Iterable[_T]],
    *,
    key: Callable[[_T], str] | None = None,
) -> tuple[_T, ...]:
    """As `read_table`, of lines that are there already, each with its number."""
    found: list[_T] = []
    met: dict[str, int] = {}
    for number, line in lines:
        try:
            entries = tuple(read(line))
            for name in map(key, entries) if key else ():
                _meet(name, met, number)
        except (ValueError, OverflowError) as e:
            raise damaged(resource, number, str(e)) from e
        found += entries
    return tuple(found)


def numbered_rows(resource: str, text: str, columns: Collection[str]) -> Iterator[tuple[int, Row]]:
    """The rows of a table with the number of each one's last line, blank lines left out.

    Raises:
        GramError: `resource_damaged` when it is no CSV, a column is missing or stands twice, or a
            row has another number of cells than the header.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        _check_header(header, columns)
        for cells in reader:
            if cells:
                _check_cells(cells, header)
                yield reader.line_num, dict(zip(header, cells, strict=True))
    except (ValueError, csv.Error) as e:
        raise damaged(resource, max(reader.line_num, 1), str(e)) from e


def damaged(resource: str, line: int, detail: str) -> GramError:
    """The error of a table that is wrong in that line."""
    return GramError("resource_damaged", name=resource, detail=f"line {line}: {detail}")


def filled(row: Row, column: str) -> str:
    """The text of a cell that may not be empty.

    Raises:
        ValueError: it is.
    """
    if not row[column]:
        raise ValueError(f"{column} is empty")
    return row[column]


def chosen(row: Row, column: str, allowed: Collection[str]) -> str:
    """A cell that is one of `allowed`.

    Raises:
        ValueError: it is another.
    """
    if row[column] not in allowed:
        raise ValueError(
            f"{column} is {shown(row[column])}, none of {', '.join(filter(None, allowed))}"
        )
    return row[column]


def listed(row: Row, column: str) -> tuple[str, ...]:
    """The parts of a cell that `|` separates; none where it is empty.

    Raises:
        ValueError: a part is empty, or stands twice.
    """
    parts = tuple(row[column].split("|")) if row[column] else ()
    if not all(part.strip() == part != "" for part in parts):
        raise ValueError(f"{column} has an empty part")
    if len(set(parts)) != len(parts):
        raise ValueError(f"{column} says a thing twice")
    return parts


def figure(row: Row, column: str, most: float) -> float | None:
    """A number above 0 and up to `most`; None where the cell is empty.

    Raises:
        ValueError: it is not one.
    """
    return number(column, row[column], most=most, above_zero=True) if row[column] else None


def whole_figure(row: Row, column: str, most: int) -> int | None:
    """As `figure`, of a whole number.

    Raises:
        ValueError: it is not one.
    """
    value = figure(row, column, most)
    if value is not None and not value.is_integer():
        raise ValueError(f"{column} is {shown(row[column])}, no whole number")
    return None if value is None else int(value)


def number(column: str, text: str, *, most: float, above_zero: bool = False) -> float:
    """The number that a cell holds, from 0 to `most`.

    Raises:
        ValueError: it is no such number.
    """
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not (math.isfinite(value) and 0 <= value <= most) or (above_zero and value == 0):
        low = "above 0" if above_zero else "from 0"
        raise ValueError(f"{column} is {shown(text)}, no number {low} to {most:g}")
    return value


def shown(value: object) -> str:
    """A wrong value, short enough for an error."""
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _meet(key: str, met: dict[str, int], line: int) -> None:
    if key in met:
        raise ValueError(f"{shown(key)} stands twice, first in line {met[key]}")
    met[key] = line


def _check_header(header: list[str], columns: Collection[str]) -> None:
    missing = [column for column in columns if column not in header]
    if missing:
        raise ValueError(f"there is no column {missing[0]}")
    twice = [column for column, count in Counter(header).items() if count > 1]
    if twice:
        raise ValueError(f"the column {shown(twice[0])} stands twice")


def _check_cells(cells: list[str], header: list[str]) -> None:
    if len(cells) != len(header):
        raise ValueError(f"{len(cells)} cells for {len(header)} columns")
    for column, cell in zip(header, cells, strict=True):
        if cell != cell.strip() or not cell.isprintable():
            raise ValueError(f"{column} has spaces around it, or characters that do not print")
