"""A table of records: every column sorts, a cell may have a quiet second line or a range."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from desktop.ui.components.cells import CellDelegate, RangeHeader
from desktop.ui.components.scale import Scale, Span
from desktop.ui.components.table import Column, Table, TextsModel

R = TypeVar("R")
Key = float | str | None
SPAN_ROLE: Final = Qt.ItemDataRole.UserRole + 1
QUIET_ROLE: Final = Qt.ItemDataRole.UserRole + 2
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
    """The range that is drawn below the first line."""
    said: Callable[[R], str] | None = None
    """What is said of a cell whose text is not enough."""


class RecordsModel(TextsModel, Generic[R]):
    """Records as rows. Texts are made when they are shown, so that thousands cost nothing."""

    def __init__(
        self,
        fields: Sequence[Field[R]],
        quiet: Callable[[R], bool] = lambda _: False,
        parent: QObject | None = None,
    ) -> None:
        super().__init__([field.column for field in fields], parent)
        self.fields = tuple(fields)
        self._quiet = quiet
        self._given: tuple[R, ...] = ()
        self._shown: tuple[R, ...] = ()
        self._by: tuple[int, Qt.SortOrder] | None = None

    def show_records(self, records: Sequence[R]) -> None:
        """Show these instead, in the order that is chosen."""
        self.beginResetModel()
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
        if self._by is None:
            return self._given
        column, order = self._by
        keyed = [(self.fields[column].key(record), record) for record in self._given]
        known = [(key, record) for key, record in keyed if key is not None]
        known.sort(key=lambda pair: pair[0], reverse=order is Qt.SortOrder.DescendingOrder)
        return tuple(r for _, r in known) + tuple(r for key, r in keyed if key is None)


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

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Open with Return, else as tables do."""
        at = self.currentIndex()
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and at.isValid():
            self.opened.emit(at.row())
        else:
            super().keyPressEvent(event)
