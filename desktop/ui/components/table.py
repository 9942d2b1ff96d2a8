"""A table of texts: read by row, copied with Ctrl+C."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from desktop.ui.design import Space, Type, font

_LEAST_ROW = 44
"""Pixels: two lines of the usual size, and easy to hit."""
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its title, whether it holds numbers, whether it takes the spare width.

    `width` is fixed, in device-independent pixels, and its texts wrap; without it the column is as
    wide as its texts. `drop` is for tables of records: the column with the greatest goes first
    where there is no room, 0 stays.
    """

    title: str
    numeric: bool = False
    stretch: bool = False
    width: int | None = None
    drop: int = 0


class TextsModel(QAbstractTableModel):
    """A model whose cells are texts; what has rows says how many and which."""

    def __init__(self, columns: Sequence[Column], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)

    def text(self, row: int, column: int) -> str:
        """The text of a cell."""
        raise NotImplementedError

    def said(self, row: int, column: int) -> str:
        """What is said of a cell: its column, and its text on one line."""
        return f"{self.columns[column].title}: {self.text(row, column)}".replace("\n", " ")

    def row(self, index: int) -> tuple[str, ...]:
        """The texts of one row."""
        return tuple(self.text(index, column) for column in range(len(self.columns)))

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's names
        """How many columns."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A cell's text, its tooltip (cells may be cut), what is said of it, its alignment."""
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole}:
            return self.text(index.row(), index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.said(index.row(), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        return None

    def headerData(  # noqa: N802 - Qt's name
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """A column's title, which may have two lines; a row's number."""
        if orientation is Qt.Orientation.Vertical:
            return section + 1 if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        if role == Qt.ItemDataRole.FontRole:
            return font(Type.SMALL, strong=True)
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        numeric = self.columns[column].numeric
        side = Qt.AlignmentFlag.AlignRight if numeric else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter


class RowsModel(TextsModel):
    """Rows of ready-made texts."""

    def __init__(self, columns: Sequence[Column], parent: QObject | None = None) -> None:
        super().__init__(columns, parent)
        self._rows: tuple[tuple[str, ...], ...] = ()

    def replace(self, rows: Sequence[Sequence[str]]) -> None:
        """Show `rows` instead; each has one text per column."""
        self.beginResetModel()
        self._rows = tuple(tuple(row) for row in rows)
        self.endResetModel()

    def text(self, row: int, column: int) -> str:
        """The text of a cell."""
        return self._rows[row][column]

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's names
        """How many rows."""
        return 0 if parent.isValid() else len(self._rows)


class Table(QTableView):
    """Selects whole rows; Ctrl+C copies the selected one, separated by tabs."""

    def __init__(
        self,
        model: TextsModel,
        name: str,
        parent: QWidget | None = None,
        *,
        header: QHeaderView | None = None,
    ) -> None:
        super().__init__(parent)
        self._rows = model
        if header is not None:
            self.setHorizontalHeader(header)
        self.setModel(model)
        self.setAccessibleName(name)
        self.setFont(font(Type.SMALL))
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._prepare_headers()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Copy, else what tables do."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_row()
        else:
            super().keyPressEvent(event)

    def copy_row(self) -> None:
        """Copy the selected row's texts, separated by tabs."""
        at = self.currentIndex()
        if at.isValid():
            texts = (text.replace("\n", " ") for text in self._rows.row(at.row()))
            QGuiApplication.clipboard().setText("\t".join(texts))

    @property
    def row_height(self) -> int:
        """Pixels: two lines at the size of text that the system asks for."""
        return max(_LEAST_ROW, 2 * self.fontMetrics().height() + Space.S)

    def fit_rows(self) -> None:
        """Be exactly as high as its rows: for short tables on pages that scroll themselves."""
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        head = self.horizontalHeader().sizeHint().height()
        rows = self.row_height * self._rows.rowCount()
        self.setFixedHeight(head + rows + 2 * self.frameWidth())

    def _prepare_headers(self) -> None:
        across, down = self.horizontalHeader(), self.verticalHeader()
        across.setHighlightSections(False)
        across.setMinimumSectionSize(56)
        down.hide()
        down.setDefaultSectionSize(self.row_height)
        mode = QHeaderView.ResizeMode
        for at, column in enumerate(self._rows.columns):
            across.setSectionResizeMode(
                at, mode.Stretch if column.stretch else mode.ResizeToContents
            )
            if column.width is not None:
                across.setSectionResizeMode(at, mode.Fixed)
                across.resizeSection(at, column.width)
