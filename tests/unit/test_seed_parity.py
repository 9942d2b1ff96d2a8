"""docs/seed-parity.md holds, and its checker sees each way in which it could not."""

from dataclasses import replace
from pathlib import Path

import pytest

from devtools.seed_parity import COLUMNS, DOCUMENT, PAGES, Row, problems, read_rows

GOOD = Row(
    id="000.kinds",
    element="One row for each kind",
    kind="table",
    issue="8",
    route="/hardware",
    command="gram hardware",
    test="tests/test_a.py::test_one",
    screenshot="docs/a.png",
    state="done",
)
OTHERS = tuple(
    replace(GOOD, id=f"{page}.title", test="—", screenshot="—", state="open") for page in PAGES[1:]
)


def table(*rows: Row) -> str:
    lines = [COLUMNS, ("---",) * len(COLUMNS)]
    lines += [tuple(getattr(row, name) for name in COLUMNS) for row in rows]
    return "# Title\n\n" + "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(
        "def test_one(): ...\n"
        "def helper():\n    def test_inner(): ...\n"
        "class TestBoth:\n    async def test_two(self): ...\n",
        encoding="utf-8",
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.png").write_bytes(b"\x89PNG")
    return tmp_path


def test_the_document_holds() -> None:
    assert problems(DOCUMENT.read_text(encoding="utf-8")) == ()


def test_the_document_covers_the_four_pages() -> None:
    rows = read_rows(DOCUMENT.read_text(encoding="utf-8"))
    counted = {page: sum(row.page == page for row in rows) for page in PAGES}
    floor = {"000": 50, "001": 112, "002": 77, "003": 105}
    assert all(counted[page] >= least for page, least in floor.items()), counted


def test_a_right_table_has_no_problem(root: Path) -> None:
    assert problems(table(GOOD, *OTHERS), root) == ()


def test_a_method_of_a_class_and_several_tests_are_found(root: Path) -> None:
    both = "tests/test_a.py::test_one, tests/test_a.py::TestBoth::test_two"
    assert problems(table(replace(GOOD, test=both), *OTHERS), root) == ()


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("test", "tests/test_b.py::test_one", "there is no file tests/test_b.py"),
        ("test", "tests/test_a.py::test_gone", "there is no test 'test_gone' in tests/test_a.py"),
        ("test", "tests/test_a.py::test_inner", "there is no test 'test_inner'"),
        ("test", "tests/test_a.py::helper", "there is no test 'helper'"),
        ("test", "tests/test_a.py", "there is no test ''"),
        ("test", "tests/test_a.py::test_one, tests/test_a.py::test_x", "there is no test 'test_x'"),
        ("test", "—", "it is done, but no test shows it"),
        ("test", "", "it is done, but no test shows it"),
        ("screenshot", "docs/b.png", "there is no picture docs/b.png"),
        ("screenshot", "docs", "there is no picture docs"),
        ("state", "almost", "unknown state 'almost'"),
        ("kind", "thing", "unknown kind 'thing'"),
        ("issue", "1", "unknown issue '1'"),
        ("issue", "soon", "unknown issue 'soon'"),
        ("route", "", "a cell is empty"),
        ("id", "000", "the id is not a page and names"),
        ("id", "000.Kinds rows", "the id is not a page and names"),
    ],
)
def test_a_wrong_cell_is_named(root: Path, column: str, value: str, said: str) -> None:
    wrong = replace(GOOD, **{column: value})
    spare = replace(GOOD, id="000.spare")
    found = problems(table(wrong, spare, *OTHERS), root)
    assert len(found) == 1
    assert said in found[0]
    assert found[0].startswith(wrong.id)


def test_a_double_id_is_named(root: Path) -> None:
    assert problems(table(GOOD, GOOD, *OTHERS), root) == ("000.kinds: the id stands 2 times",)


def test_a_missing_page_is_named(root: Path) -> None:
    assert problems(table(GOOD, *OTHERS[1:]), root) == ("page 001 has no line",)


def test_a_page_that_is_not_there_is_named(root: Path) -> None:
    stray = replace(OTHERS[0], id="004.title")
    assert problems(table(GOOD, *OTHERS, stray), root) == ("page 004 is not known",)


def test_an_empty_document_misses_every_page(root: Path) -> None:
    assert problems("", root) == tuple(f"page {page} has no line" for page in PAGES)


def test_a_line_with_a_cell_too_few_is_named(root: Path) -> None:
    cut = "| 000.cut | only three | cells |"
    found = problems(f"{table(GOOD, *OTHERS)}\n{cut}", root)
    assert len(found) == 1
    assert "3 cells instead of 9" in found[0]
