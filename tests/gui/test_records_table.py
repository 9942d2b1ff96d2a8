"""Tables of records: order, what is pinned, columns that make room, ranges and their scale."""

import math

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from desktop.ui import design
from desktop.ui.components import (
    Column,
    Field,
    MenuButton,
    RecordsModel,
    RecordsTable,
    Scale,
    SearchField,
    Span,
    scale_over,
)
from desktop.ui.components.records_table import QUIET_ROLE, SPAN_ROLE
from desktop.ui.design import COLOURS, Scheme

ROWS = (("b", 2.0), ("a", 30.0), ("none", None), ("c", 400.0))


def fields():
    return (
        Field(Column("Name", stretch=True), lambda r: r[0], lambda r: r[0]),
        Field(
            Column("Rate\n ", width=240),
            lambda r: "" if r[1] is None else f"{r[1]:g}\nestimate",
            lambda r: r[1],
            lambda r: None if r[1] is None else Span(r[1], 2 * r[1], 4 * r[1]),
            lambda r: f"{r[1]} a second",
        ),
        Field(Column("More", width=300, drop=1), lambda r: "more", lambda r: r[0]),
        Field(Column("Most", width=300, drop=2), lambda r: "most", lambda r: r[0]),
    )


@pytest.fixture
def table(qtbot):
    model = RecordsModel(fields(), quiet=lambda r: r[1] is None, pinned=lambda r: r[0] == "c")
    made = RecordsTable(model, "Records")
    qtbot.addWidget(made)
    made.resize(1200, 400)
    made.show()
    model.show_records(ROWS)
    return made


def names(table):
    return [table.records.record(i)[0] for i in range(table.records.rowCount())]


def test_in_the_given_order_with_the_pinned_one_above(table):
    assert names(table) == ["c", "b", "a", "none"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Qt.SortOrder.AscendingOrder, ["c", "b", "a", "none"]),
        (Qt.SortOrder.DescendingOrder, ["c", "a", "b", "none"]),
    ],
)
def test_what_has_no_figure_comes_last_in_both_orders(table, order, expected):
    table.sortByColumn(1, order)
    assert names(table) == expected


def test_a_click_on_a_title_sorts_and_keeps_what_is_selected(qtbot, table):
    table.select(lambda r: r[0] == "a")
    header = table.horizontalHeader()
    at = header.sectionViewportPosition(0) + 20
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=_point(at, 8))
    assert names(table) == ["c", "a", "b", "none"]


def test_new_records_come_in_the_chosen_order(table):
    table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    table.records.show_records((("x", 1.0), ("z", 1.0), ("y", 1.0)))
    assert names(table) == ["z", "y", "x"]


def test_columns_make_room_in_a_narrow_window_the_least_important_first(table):
    assert [table.isColumnHidden(i) for i in range(4)] == [False, False, False, False]
    table.resize(900, 400)
    assert [table.isColumnHidden(i) for i in range(4)] == [False, False, False, True]
    table.resize(500, 400)
    assert [table.isColumnHidden(i) for i in range(4)] == [False, False, True, True]
    table.resize(1200, 400)
    assert not table.isColumnHidden(3)


def test_return_and_double_click_open_a_row(qtbot, table):
    table.select(lambda r: r[0] == "a")
    with qtbot.waitSignal(table.opened) as told:
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert table.records.record(told.args[0])[0] == "a"
    spot = table.visualRect(table.model().index(1, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    with qtbot.waitSignal(table.opened) as told:
        qtbot.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert table.records.record(told.args[0])[0] == "b"


def test_a_row_is_copied_on_one_line(qtbot, table):
    table.select(lambda r: r[0] == "a")
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "a\t30 estimate\tmore\tmost"


def test_a_range_is_said_in_words_and_a_quiet_row_is_told(table):
    model = table.records
    assert model.data(model.index(2, 1), Qt.ItemDataRole.AccessibleTextRole) == "30.0 a second"
    assert model.data(model.index(2, 1), SPAN_ROLE) == Span(30.0, 60.0, 120.0)
    assert model.data(model.index(3, 1), SPAN_ROLE) is None
    assert [model.data(model.index(i, 0), QUIET_ROLE) for i in (2, 3)] == [False, True]


class TestScale:
    def test_whole_decades_around_all_ranges_and_ceilings(self):
        assert scale_over([Span(3, 5, 12), Span(40, 90)]) == Scale(0, 2)
        assert scale_over([Span(3, 5, 1200)]) == Scale(0, 4)
        assert scale_over([]) == Scale(0, 3)
        assert scale_over([Span(10, 10)]) == Scale(1, 2)

    def test_places_are_logarithmic_and_never_beyond_the_ends(self):
        scale = Scale(0, 2)
        assert [scale.at(v) for v in (1, 10, 100)] == pytest.approx([0, 0.5, 1])
        assert [scale.at(v) for v in (0, 0.01, 1e9, math.inf)] == pytest.approx([0, 0, 1, 1])
        assert scale.marks == (1, 10, 100)


@pytest.mark.parametrize("scheme", Scheme)
def test_the_bar_reaches_from_low_to_high_and_the_ceiling_has_its_mark(qtbot, table, theme, scheme):
    theme.use(scheme)
    table.use_scale(Scale(0, 3))
    # the palette that other tests find
    theme.use(Scheme.LIGHT)
    image = QImage(240, 44, QImage.Format.Format_ARGB32)
    image.fill(QColor(COLOURS[scheme].card))
    option = QStyleOptionViewItem()
    option.rect = image.rect()
    option.widget = table
    option.palette = design.palette(scheme)
    option.font = table.font()
    painter = QPainter(image)
    table.cells.paint(painter, option, table.records.index(1, 1))  # 2 to 4, ceiling 8
    painter.end()
    colours = COLOURS[scheme]
    inner_left, inner_width = design.Space.S, 240 - 2 * design.Space.S
    y = _row_of_bar(image, colours.accent)

    def x_of(value):
        return round(inner_left + inner_width * math.log10(value) / 3)

    assert image.pixelColor(x_of(2.8), y) == QColor(colours.accent)
    assert image.pixelColor(x_of(1.5), y) != QColor(colours.accent)
    assert image.pixelColor(x_of(5.5), y) != QColor(colours.accent)
    marks = [image.pixelColor(x_of(8) + d, y) for d in (-1, 0, 1)]
    assert QColor(colours.text) in marks
    # the mark is taller than the bar: its shape tells it apart, not its colour
    assert QColor(colours.text) in [image.pixelColor(x_of(8) + d, y - 5) for d in (-1, 0, 1)]


class TestInputs:
    def test_a_menu_says_its_choice_and_tells_another(self, qtbot):
        button = MenuButton("Show", ("all", "some"))
        qtbot.addWidget(button)
        assert button.accessibleName() == "Show: all"
        with qtbot.waitSignal(button.chosen) as told:
            button.choose(1)
        assert told.args == [1]
        assert button.text().startswith("Show: some")
        button.set_choices(("one", "two", "three"))
        assert button.choice == 0
        assert [a.text() for a in button.menu().actions()] == ["one", "two", "three"]

    def test_escape_empties_a_search(self, qtbot):
        field = SearchField("Search")
        qtbot.addWidget(field)
        field.show()
        qtbot.keyClicks(field, " Qwen  8B ")
        assert field.words == ("qwen", "8b")
        qtbot.keyClick(field, Qt.Key.Key_Escape)
        assert field.words == ()


def _row_of_bar(image, colour):
    rows = [
        y
        for y in range(image.height())
        if sum(image.pixelColor(x, y) == QColor(colour) for x in range(image.width())) > 10
    ]
    assert rows, "no bar"
    return rows[len(rows) // 2]


def _point(x, y):
    from PySide6.QtCore import QPoint

    return QPoint(x, y)


def test_hidden_columns_leave_no_gap(table):
    table.resize(500, 400)
    header = table.horizontalHeader()
    shown = [i for i in range(4) if not table.isColumnHidden(i)]
    assert header.length() == sum(header.sectionSize(i) for i in shown)


def test_where_no_column_can_go_the_table_scrolls_sideways_and_no_name_is_squeezed(table):
    table.resize(300, 400)
    assert table.columnWidth(0) >= design.wide(20)
    assert table.horizontalScrollBar().maximum() > 0
    table.resize(1200, 400)
    assert table.horizontalScrollBar().maximum() == 0
