"""A list, or what stands in its place: it takes the height that nothing else needs."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedWidget, QWidget

from desktop.ui.components import Table


class ListStack(QStackedWidget):
    """The parts, the table the last of them.

    A page that scrolls is as high as its parts wish to be, and a table wishes for more than it
    needs: three rows.
    """

    def __init__(self, *parts: QWidget, table: Table, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = table
        for part in (*parts, table):
            self.addWidget(part)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """The least."""
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """The titles and three rows."""
        least = self._table.minimumSizeHint()
        return QSize(least.width(), least.height() + self._table.row_height)
