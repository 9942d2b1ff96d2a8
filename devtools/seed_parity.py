"""Checks docs/seed-parity.md: each line names only tests and pictures that exist.

`python3 -m devtools.seed_parity` prints what is wrong and how much is done. Standard library only.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "seed-parity.md"
PAGES = ("000", "001", "002", "003")
KINDS = frozenset({"figure", "list", "table", "column", "plot", "rule", "sentence"})
STATES = frozenset({"open", "done"})
ISSUES = frozenset(str(number) for number in range(2, 12))
NOTHING = "—"
ID = re.compile(r"\d{3}(\.[a-z0-9_]+)+")


@dataclass(frozen=True, slots=True)
class Row:
    """One element of one page, in the order of the table's columns."""

    id: str
    element: str
    kind: str
    issue: str
    route: str
    command: str
    test: str
    """`path::name`, several with commas between them, or `—`."""
    screenshot: str
    state: str

    @property
    def page(self) -> str:
        """The page that the id belongs to, `000`."""
        return self.id.partition(".")[0]

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests named; none for `—`."""
        return _named(self.test)

    @property
    def screenshots(self) -> tuple[str, ...]:
        """The pictures named, relative to the repository; none for `—`."""
        return _named(self.screenshot)


COLUMNS = tuple(field.name for field in fields(Row))


def problems(text: str, root: Path = ROOT) -> tuple[str, ...]:
    """Everything that is wrong with the tables in `text`, one sentence each; empty when right.

    Tests and pictures are looked for below `root`.
    """
    found: list[str] = []
    rows: list[Row] = []
    for number, cells in _lines(text):
        if len(cells) != len(COLUMNS):
            found.append(f"line {number}: {len(cells)} cells instead of {len(COLUMNS)}")
        elif cells != COLUMNS:
            rows.append(Row(*cells))
    found += (f"{row.id}: {fault}" for row in rows for fault in _faults(row, root))
    found += _doubles(rows)
    return (*found, *_missing_pages(rows))


def read_rows(text: str) -> tuple[Row, ...]:
    """The rows of all tables that have the right number of cells."""
    lines = [cells for _, cells in _lines(text)]
    return tuple(Row(*c) for c in lines if len(c) == len(COLUMNS) and c != COLUMNS)


def _lines(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("|"):
            continue
        cells = tuple(cell.strip().strip("`") for cell in line.strip().strip("|").split("|"))
        if not all(set(cell) <= set("-:") for cell in cells):
            yield number, cells


def _faults(row: Row, root: Path) -> Iterator[str]:
    if not ID.fullmatch(row.id):
        yield "the id is not a page and names with dots between them"
    if not (row.element and row.route and row.command):
        yield "a cell is empty"
    yield from _unknown(row)
    if row.state == "done" and not row.tests:
        yield "it is done, but no test shows it"
    for test in row.tests:
        yield from _test_fault(test, root)
    for picture in row.screenshots:
        if not (root / picture).is_file():
            yield f"there is no picture {picture}"


def _unknown(row: Row) -> Iterator[str]:
    known = (("kind", row.kind, KINDS), ("issue", row.issue, ISSUES), ("state", row.state, STATES))
    for column, value, allowed in known:
        if value not in allowed:
            yield f"unknown {column} {value!r}"


def _test_fault(test: str, root: Path) -> Iterator[str]:
    path, _, name = test.partition("::")
    if not (root / path).is_file():
        yield f"there is no file {path}"
    elif name not in _test_names(root / path):
        yield f"there is no test {name!r} in {path}"


@cache
def _test_names(path: Path) -> frozenset[str]:
    """`test_x` and `TestY::test_x` as pytest names them."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return frozenset(_names_in(tree, ""))


def _names_in(tree: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("test"):
                yield prefix + node.name
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _names_in(node, f"{prefix}{node.name}::")


def _doubles(rows: list[Row]) -> Iterator[str]:
    counted = Counter(row.id for row in rows)
    yield from (f"{name}: the id stands {n} times" for name, n in counted.items() if n > 1)


def _missing_pages(rows: list[Row]) -> Iterator[str]:
    pages = {row.page for row in rows}
    yield from (f"page {page} has no line" for page in PAGES if page not in pages)
    yield from (f"page {page} is not known" for page in sorted(pages - set(PAGES)))


def _named(cell: str) -> tuple[str, ...]:
    names = (name.strip().strip("`") for name in cell.split(","))
    return tuple(name for name in names if name and name != NOTHING)


def main() -> int:
    """Print what is wrong and, for each page, how many lines are done; 1 when anything is wrong."""
    text = DOCUMENT.read_text(encoding="utf-8")
    found = problems(text)
    for problem in found:
        print(problem)
    rows = read_rows(text)
    for page in PAGES:
        states = [row.state for row in rows if row.page == page]
        print(f"{page}: {states.count('done')} of {len(states)} done")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
