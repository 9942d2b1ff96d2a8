"""Why an estimate is as it is: shown on demand below a table, for the selected row."""

from collections.abc import Iterable

from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from desktop.errors import Reason
from desktop.ui import estimate_words as ew
from desktop.ui.components import Reading, Subheading, column, row
from desktop.ui.design import Space

_LINES = 5
"""So many lines of text are shown; more scroll."""


class ReasonsPane(QFrame):
    """A title, lines that can be selected and scroll, and buttons at the right."""

    def __init__(self, name: str, nothing: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setAccessibleName(name)
        self._nothing = nothing
        self.title = Subheading()
        self.text = Reading(name)
        self.buttons = QVBoxLayout()
        self.buttons.setSpacing(Space.S)
        self._lay_out()
        self.show_nothing()

    def show_lines(self, title: str, lines: Iterable[str]) -> None:
        """Show them for the row that `title` names."""
        self.title.setText(title)
        self.text.show_lines(lines)

    def show_nothing(self, lines: Iterable[str] = ()) -> None:
        """No row is selected; `lines` say how to read the table."""
        self.title.setText(self.tr("How to read it"))
        self.text.show_lines((self._nothing, *lines))

    def _lay_out(self) -> None:
        words = column(self.title, self.text, gap=Space.XS)
        outer = row(gap=Space.L)
        outer.addLayout(words, 1)
        outer.addLayout(self.buttons)
        outer.setContentsMargins(Space.L, Space.M, Space.M, Space.M)
        self.setLayout(outer)
        self.text.wish_lines(_LINES)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)


def reason_lines(reasons: Iterable[Reason]) -> tuple[str, ...]:
    """Each reason by its label and what it means."""
    return tuple(_line(reason) for reason in reasons)


def _line(reason: Reason) -> str:
    label, meaning = ew.label(reason), ew.explained(reason)
    return meaning if meaning.startswith(label) else f"{label}: {meaning}"
