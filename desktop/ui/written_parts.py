"""Bytes by layer group and written-out arithmetic of one quantization: two parts of a page."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QWidget

from desktop.estimate.layer_bytes import LayerBytes
from desktop.estimate.page_words import Said
from desktop.estimate.written_line import Line
from desktop.ui import estimate_words as ew
from desktop.ui.components import Muted, Reading, RowsModel, Table, Tabs, column
from desktop.ui.design import Space
from desktop.ui.estimate_fields import layer_columns, layer_texts
from desktop.ui.format import DASH

QUANTS, LAYERS, ARITHMETIC = range(3)
"""The parts of a page that has both."""


class WrittenParts(QObject):
    """A table of layers and a text, each below the name of the quantization that it is of."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.layers = RowsModel(layer_columns(), self)
        self.layers_table = Table(self.layers, _tr("Bytes by layer group"))
        # a group's words take three lines in a narrow window
        line = self.layers_table.fontMetrics().height()
        self.layers_table.verticalHeader().setDefaultSectionSize(3 * line + Space.M)
        self.layers_title = Muted()
        self.written = Reading(_tr("The arithmetic"), figures=True)
        self.written_title = Muted()

    def add_to(self, tabs: Tabs) -> None:
        """Have both shown as the next parts of a page."""
        tabs.add(_tr("Bytes by layer"), filled(self.layers_table, self.layers_title))
        tabs.add(_tr("Arithmetic"), filled(self.written, self.written_title))

    def show_quant(
        self, label: str | None, layers: Sequence[LayerBytes], arithmetic: Sequence[Line]
    ) -> None:
        """Show those of one quantization; None: of none."""
        quant = {"quant": label or DASH}
        self.layers_title.setText(ew.said(Said("device.layers", quant)))
        self.layers.replace([layer_texts(found) for found in layers])
        self.written_title.setText(ew.said(Said("device.arithmetic", quant)))
        nothing = (_tr("Nothing to count: it does not run here."),)
        self.written.show_lines([written(line) for line in arithmetic] or nothing)


def written(line: Line) -> str:
    """A line of the arithmetic: what is counted, then how and what it comes to."""
    return f"{ew.joined(line.what)}\n    {line.expression} = {line.result} {line.unit}"


def filled(main: QWidget, other: QWidget) -> QWidget:
    """What stretches, with a title above it or a pane below it."""
    holder = QWidget()
    above = isinstance(other, Muted)
    parts = column(*((other, main) if above else (main, other)), gap=Space.S)
    parts.setStretch(1 if above else 0, 1)
    holder.setLayout(parts)
    return holder


def _tr(text: str) -> str:
    return QCoreApplication.translate("DeviceEstimate", text)
