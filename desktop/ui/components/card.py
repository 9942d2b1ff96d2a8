"""The card, and the rows of label and value that most cards hold."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from desktop.ui.components.text import Body, Muted, Subheading
from desktop.ui.design import Space
from desktop.ui.format import DASH


class Card(QFrame):
    """A framed group with a title; add to `body`, or to `head` beside the title."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setAccessibleName(title)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(Space.XL, Space.L, Space.XL, Space.L)
        self.body.setSpacing(Space.M)
        self.head = QHBoxLayout()
        self.head.setSpacing(Space.M)
        self.title = Subheading(title)
        self.head.addWidget(self.title, 1)
        self.body.addLayout(self.head)


class Facts(QWidget):
    """Labels with values, in two columns. A value that is not known is the dash."""

    def __init__(self, *labels: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(Space.L)
        self._grid.setVerticalSpacing(Space.S)
        self._grid.setColumnStretch(1, 1)
        self._values: dict[str, Body] = {}
        for label in labels:
            self._add(label)

    def show_value(self, label: str, value: str | None) -> None:
        """Show `value`; None is the dash.

        Raises:
            KeyError: there is no row of that label.
        """
        shown = self._values[label]
        shown.setText(DASH if value is None else value)
        shown.setAccessibleName(f"{label}: {value or self.tr('not known')}")

    def value(self, label: str) -> str:
        """The text that is shown."""
        return self._values[label].text()

    def _add(self, label: str) -> None:
        at = self._grid.rowCount()
        name = Muted(label)
        name.setWordWrap(False)
        name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        value = Body()
        self._grid.addWidget(name, at, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, at, 1)
        self._values[label] = value
        self.show_value(label, None)
