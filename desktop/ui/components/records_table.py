"""A table of records: every column sorts, a cell may have a quiet second line or a range."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from desktop.ui.components.cells import CellDelegate, RangeHeader
from desktop.ui.components.scale import Scale, Span
from desktop.ui.components.table import Column, Table, TextsModel
from desktop.ui.design import wide

R = TypeVar("R")
Key = float | str | None
SPAN_ROLE: Final = Qt.ItemDataRole.UserRole + 1
QUIET_ROLE: Final = Qt.ItemDataRole.UserRole + 2
_STRETCHED: Final = 24
"""Figures that the column which takes the spare width has at least."""
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Field(Generic[R]):
    """One column of a record."""

    column: Column
    text: Callable[[R], str]
    """One line, or two: the second is quieter."""
    key: Callable[[R], Key]
    """What it is sorted by; None always comes last."""
    span: Callable[[R], Span | None] | None = None
    """The range that is drawn below the first line; the second then stands beside it."""
    said: Callable[[R], str] | None = None
    """What is said of a cell whose text is not enough."""


class RecordsModel(TextsModel, Generic[R]):
    """Records as rows. Texts are made when they are shown, so that thousands cost nothing."""

    def __init__(
        self,
        fields: Sequence[Field[R]],
        *,
        quiet: Callable[[R], bool] = lambda _: False,
        pinned: Callable[[R], bool] = lambda _: False,
        parent: QObject | None = None,
    ) -> None:
        """Make it.

        Args:
            fields: the columns.
            quiet: whether a record is shown in a quieter colour; its words must say why.
            pinned: whether a record stands above the others, however they are sorted.
            parent: owns it.
        """
        super().__init__([field.column for field in fields], parent)
        self.fields = tuple(fields)
        self._quiet = quiet
        self._pinned = pinned
        self._given: tuple[R, ...] = ()
        self._shown: tuple[R, ...] = ()
        self._by: tuple[int, Qt.SortOrder] | None = None

    def show_records(self, records: Sequence[R], fields: Sequence[Field[R]] | None = None) -> None:
        """Show these instead, in the order that is chosen.

        Args:
            records: the rows.
            fields: as many as before, where texts depend on more than the record.
        """
        self.beginResetModel()
        self.fields = self.fields if fields is None else tuple(fields)
        self._given = tuple(records)
        self._shown = self._sorted()
        self.endResetModel()

    def record(self, row: int) -> R:
        """The record of a row."""
        return self._shown[row]

    def find(self, wanted: Callable[[R], bool]) -> int | None:
        """The row of the first record that is wanted."""
        return next((i for i, record in enumerate(self._shown) if wanted(record)), None)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order by a column; by none, as the records were given, when it is -1."""
        self.beginResetModel()
        self._by = (column, order) if column >= 0 else None
        self._shown = self._sorted()
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's names
        """How many rows."""
        return 0 if parent.isValid() else len(self._shown)

    def text(self, row: int, column: int) -> str:
        """The text of a cell."""
        return self.fields[column].text(self._shown[row])

    def said(self, row: int, column: int) -> str:
        """What is said of it."""
        field = self.fields[column]
        return super().said(row, column) if field.said is None else field.said(self._shown[row])

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """As texts have it, besides the range and whether the row is quiet."""
        if role == SPAN_ROLE:
            span = self.fields[index.column()].span
            return span(self._shown[index.row()]) if span else None
        if role == QUIET_ROLE:
            return self._quiet(self._shown[index.row()])
        return super().data(index, role)

    def _sorted(self) -> tuple[R, ...]:
        above = tuple(record for record in self._given if self._pinned(record))
        below = tuple(record for record in self._given if not self._pinned(record))
        if self._by is None:
            return above + below
        column, order = self._by
        key = self.fields[column].key
        keyed = [(key(record), record) for record in below]
        known = [(found, record) for found, record in keyed if found is not None]
        known.sort(key=lambda pair: pair[0], reverse=order is Qt.SortOrder.DescendingOrder)
        unknown = tuple(record for found, record in keyed if found is None)
        return above + tuple(record for _, record in known) + unknown


class RecordsTable(Table, Generic[R]):
    """Return or a double click opens a row: `opened` carries its number."""

    opened = Signal(int)
    picked = Signal()
    """Another row is the current one, or none."""

    def __init__(self, model: RecordsModel[R], name: str, parent: QWidget | None = None) -> None:
        super().__init__(model, name, parent, header=RangeHeader())
        self.records = model
        self.cells = CellDelegate(SPAN_ROLE, QUIET_ROLE, self)
        self.setItemDelegate(self.cells)
        self.setSortingEnabled(True)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.doubleClicked.connect(lambda index: self.opened.emit(index.row()))
        self.selectionModel().selectionChanged.connect(lambda *_: self.picked.emit())

    def use_scale(self, scale: Scale) -> None:
        """Draw all ranges on this scale, and its decades above them."""
        self.cells.scale = scale
        columns = [i for i, field in enumerate(self.records.fields) if field.span is not None]
        header = self.horizontalHeader()
        if isinstance(header, RangeHeader):
            header.show_scale(scale, columns)
        self.viewport().update()

    @property
    def current(self) -> R | None:
        """The record of the selected row."""
        rows = self.selectionModel().selectedRows()
        return self.records.record(rows[0].row()) if rows else None

    def select(self, wanted: Callable[[R], bool]) -> None:
        """Select the row of the first record that is wanted; none when there is none."""
        at = self.records.find(wanted)
        if at is None:
            self.clearSelection()
        else:
            self.selectRow(at)
            self.scrollTo(self.records.index(at, 0))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """The titles and two rows: what is below the table makes room before."""
        rows = self.horizontalHeader().sizeHint().height() + 2 * self.row_height
        return QSize(super().minimumSizeHint().width(), rows + 2 * self.frameWidth())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave out columns for which there is no room; each row can be opened to see all."""
        super().resizeEvent(event)
        self._drop_columns()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """A header that is not on the screen keeps the place of what is hidden: do it again."""
        super().showEvent(event)
        self._drop_columns()

    def _drop_columns(self) -> None:
        columns = [field.column for field in self.records.fields]
        free = self.viewport().width() - sum(c.width or wide(_STRETCHED) for c in columns)
        for at in sorted(range(len(columns)), key=lambda i: -columns[i].drop):
            column = columns[at]
            hide = free < 0 and column.drop > 0
            self.showColumn(at)
            self.setColumnHidden(at, hide)
            free += (column.width or wide(_STRETCHED)) if hide else 0
        self._stretch(scrolls=free < 0)

    def _stretch(self, *, scrolls: bool) -> None:
        """Where there is no room even so, the table scrolls sideways and no name is squeezed."""
        mode = QHeaderView.ResizeMode
        for at, field in enumerate(self.records.fields):
            if field.column.stretch:
                header = self.horizontalHeader()
                header.setSectionResizeMode(at, mode.Fixed if scrolls else mode.Stretch)
                if scrolls:
                    header.resizeSection(at, wide(_STRETCHED))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Open with Return, else as tables do."""
        at = self.currentIndex()
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and at.isValid():
            self.opened.emit(at.row())
        else:
            super().keyPressEvent(event)
