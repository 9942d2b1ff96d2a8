"""Past results as a table."""

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from desktop.records.events import ResultsKnown
from desktop.records.run import Note
from desktop.rules.notes import WORDS
from desktop.ui import format as fmt
from desktop.ui.content import RESULTS
from tests.gui import demo


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_empty_state_has_words(window, services):
    window.content.show_page(RESULTS)
    services.post(ResultsKnown(()))
    assert not window.content.results.table.isVisible()
    assert not window.content.results.count.isVisible()


def test_rows(window, services):
    window.content.show_page(RESULTS)
    services.post(demo.rows(6))
    model = window.content.results.model
    first = [plain(text) for text in model.row(0)]
    assert first[1:] == [
        "SmolLM2-135M-Instruct.Q4_1",
        "312 ± 0.9 %",
        "48.3 ± 1.2 %",
        "0.712",
        "modelled (CPU load)",
        "·acbe75",
    ]
    assert model.row(2)[1] == "synthetic-0.5B.Q4_0 (synthetic)"
    assert plain(model.row(4)[3]) == "12.1"
    assert model.row(5)[4:6] == (fmt.DASH, fmt.DASH)
    assert window.content.results.table.isVisible()


def test_a_rate_to_be_read_with_care_is_marked_and_a_line_says_why(window, services):
    window.content.show_page(RESULTS)
    first, second = demo.rows(2).rows
    few = replace(first, prompt_spread=None, prompt_marks=(Note.FEW,))
    wide = replace(second, generation_spread=0.31, generation_marks=(Note.SPREAD,))
    services.post(ResultsKnown((few, wide)))
    page = window.content.results
    assert plain(page.model.row(0)[2]) == "312 ?"
    assert plain(page.model.row(1)[3]).endswith("± 31.0 % !")
    assert page.marks.text().split("\n") == [
        f"!  {WORDS[Note.SPREAD]}",
        f"?  {WORDS[Note.FEW]}",
    ]
    assert page.marks.isVisible()
    services.post(demo.rows(2))
    assert not page.marks.isVisible()


def test_selected_row_shows_its_id_and_copies(qtbot, window, services):
    window.content.show_page(RESULTS)
    services.post(demo.rows(3))
    page = window.content.results
    assert not page.copy_id.isEnabled()
    page.table.selectRow(1)
    assert "01" * 32 in page.id.text()
    qtbot.mouseClick(page.copy_id, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "01" * 32
    qtbot.keyClick(page.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "\t".join(page.model.row(1))


def test_cells_say_their_column(window, services):
    services.post(demo.rows(1))
    model = window.content.results.model
    said = model.data(model.index(0, 2), Qt.ItemDataRole.AccessibleTextRole)
    assert plain(said) == "Prompt tok/s: 312 ± 0.9 %"


def test_new_rows_forget_the_selection(window, services):
    services.post(demo.rows(3))
    window.content.results.table.selectRow(2)
    services.post(demo.rows(1))
    assert not window.content.results.copy_id.isEnabled()
