"""What this machine has measured, newest first."""

from typing import Final

from PySide6.QtCore import QItemSelection
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from desktop.records.request import ResultRow
from desktop.records.run import Note
from desktop.rules.marks import SIGNS, signs
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.components import (
    Body,
    Card,
    Column,
    Heading,
    Muted,
    QuietButton,
    RowsModel,
    Table,
    column,
)
from desktop.ui.design import Space

_DATE_WIDTH: Final = 104
_SOURCE_WIDTH: Final = 112


class ResultsPage(QWidget):
    """A table, and below it the selected result's id."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._rows: tuple[ResultRow, ...] = ()
        self.model = RowsModel(self._columns(), self)
        self.table = Table(self.model, self.tr("Results"))
        self.table.selectionModel().selectionChanged.connect(self._selected)
        self.count = Muted()
        self.marks = Muted()
        self.id = Muted()
        self.copy_id = QuietButton(self.tr("Copy id"))
        self.copy_row = QuietButton(self.tr("Copy row"))
        self.copy_id.clicked.connect(self._copy_id)
        self.copy_row.clicked.connect(self.table.copy_row)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty())
        self._stack.addWidget(self._filled())
        self._lay_out()
        self._selected()

    def show_rows(self, rows: tuple[ResultRow, ...]) -> None:
        """Show the ledger's rows, in the order given."""
        self._rows = rows
        self.model.replace([_texts(row, self.tr("synthetic")) for row in rows])
        self._stack.setCurrentIndex(1 if rows else 0)
        if len(rows) == 1:
            self.count.setText(self.tr("One result, signed and kept on this machine."))
        else:
            words = self.tr("{count} results, signed and kept on this machine; newest first.")
            self.count.setText(words.format(count=len(rows)))
        self.count.setVisible(bool(rows))
        told = {mark for row in rows for mark in (*row.prompt_marks, *row.generation_marks)}
        meant = [f"{sign}  {messages.note(note)}" for note, sign in SIGNS.items() if note in told]
        self.marks.setText("\n".join(meant))
        self.marks.setVisible(bool(meant))
        self._selected()

    def _columns(self) -> tuple[Column, ...]:
        return (
            Column(self.tr("Measured"), width=_DATE_WIDTH),
            Column(self.tr("Build"), stretch=True),
            Column(self.tr("Prompt\ntok/s"), numeric=True),
            Column(self.tr("Generation\ntok/s"), numeric=True),
            Column(self.tr("Energy\nJ/token"), numeric=True),
            Column(self.tr("Energy\nsource"), width=_SOURCE_WIDTH),
            Column(self.tr("Signed")),
        )

    def _selected(self, *_: QItemSelection) -> None:
        row = self._current()
        self.copy_id.setEnabled(row is not None)
        self.copy_row.setEnabled(row is not None)
        if row is None:
            self.id.setText(self.tr("Select a result to see its id."))
        else:
            self.id.setText(self.tr("Id {id}\n{engine}").format(id=row.id, engine=row.engine))

    def _current(self) -> ResultRow | None:
        at = self.table.selectionModel().selectedRows()
        return self._rows[at[0].row()] if at else None

    def _copy_id(self) -> None:
        row = self._current()
        if row is not None:
            QGuiApplication.clipboard().setText(row.id)

    def _empty(self) -> QWidget:
        holder = QWidget()
        card = Card(self.tr("No results yet"))
        card.body.addWidget(
            Body(self.tr("Measure this machine, and its signed results are listed here."))
        )
        layout = QVBoxLayout(holder)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(card)
        layout.addStretch(1)
        return holder

    def _filled(self) -> QWidget:
        holder = QWidget()
        line = QHBoxLayout()
        line.setSpacing(Space.S)
        line.addWidget(self.id, 1)
        line.addWidget(self.copy_id)
        line.addWidget(self.copy_row)
        layout = column(self.table, self.marks, gap=Space.M)
        layout.addLayout(line)
        holder.setLayout(layout)
        return holder

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(Space.XL, Space.XL, Space.XL, Space.XL)
        layout.setSpacing(Space.L)
        layout.addLayout(column(Heading(self.tr("Results")), self.count, gap=Space.XS))
        layout.addWidget(self._stack, 1)


def _texts(row: ResultRow, synthetic: str) -> tuple[str, ...]:
    return (
        fmt.date(row.at),
        f"{row.build} ({synthetic})" if row.synthetic else row.build,
        _rate(row.prompt_tok_s, row.prompt_spread, row.prompt_marks),
        _rate(row.generation_tok_s, row.generation_spread, row.generation_marks),
        fmt.or_dash(row.energy_per_token_j, fmt.number),
        row.energy_source or fmt.DASH,
        fmt.short_key(row.key_id),
    )


def _rate(tok_s: float | None, spread: float | None, marks: tuple[Note, ...]) -> str:
    if tok_s is None:
        return fmt.DASH
    said = fmt.number(tok_s) if spread is None else f"{fmt.number(tok_s)} {fmt.spread(spread)}"
    return f"{said} {signs(marks)}".rstrip()
