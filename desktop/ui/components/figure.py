"""A big number with its unit, what it is above it, and how far it can be trusted below it."""

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from desktop.ui.components.text import Muted
from desktop.ui.design import Space, Type, font
from desktop.ui.format import DASH


class Figure(QWidget):
    """One number. A measured one always comes with its spread in the line below."""

    def __init__(self, caption: str, unit: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._caption = caption
        self._unit = unit
        self._number = QLabel()
        self._number.setTextFormat(Qt.TextFormat.RichText)
        self._number.setFont(font(Type.FIGURE, strong=True))
        self._below = Muted()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.XS)
        for part in (Muted(caption), self._number, self._below):
            layout.addWidget(part)
        layout.addStretch(1)
        self.show_value(None)

    def show_value(self, value: str | None, below: str = "") -> None:
        """Show a formatted number without its unit; None is the dash."""
        unit = f"{self._small()}&nbsp;{escape(self._unit)}</span>" if value else ""
        self._number.setText(escape(value or DASH) + unit)
        self._below.setText(below)
        said = f"{value} {self._unit}" if value else self.tr("not known")
        name = f"{self._caption}: {said}"
        self._number.setAccessibleName(f"{name}, {below}" if below else name)

    def text(self) -> str:
        """What is said of it: caption, number, unit and the line below."""
        return self._number.accessibleName()

    def _small(self) -> str:
        small = font(Type.BODY)
        return f'<span style="font-size:{small.pixelSize()}px; font-weight:400">'
