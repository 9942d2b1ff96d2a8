"""What a person sets on a page: a word to search, one of a few choices, which part is shown."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent
from PySide6.QtWidgets import (
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.design import Space, Type, font


class SearchField(QLineEdit):
    """One field for words; Escape empties it."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(name)
        self.setAccessibleName(name)
        self.setFont(font(Type.BODY))
        self.setClearButtonEnabled(True)

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are asked for, in small letters."""
        return tuple(self.text().casefold().split())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Empty it with Escape, else as fields do."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class MenuButton(QPushButton):
    """A caption with the choice that holds; pressing it shows the others. `chosen` has its number.

    A menu, not a list in a field: it is as wide as its words, and reads as one sentence.
    """

    chosen = Signal(int)

    def __init__(self, caption: str, choices: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "menu")
        self.setFont(font(Type.SMALL))
        self._caption = caption
        self.choice = 0
        self._menu = QMenu(self)
        self._group = QActionGroup(self)
        for number, words in enumerate(choices):
            self._add(number, words)
        self.setMenu(self._menu)
        self._show()

    def choose(self, number: int) -> None:
        """Choose one, as a person does."""
        self._group.actions()[number].trigger()

    def set_choices(self, choices: Sequence[str]) -> None:
        """Offer others; the first of them holds, and nothing is told."""
        for action in self._group.actions():
            self._group.removeAction(action)
            self._menu.removeAction(action)
        self.choice = 0
        for number, words in enumerate(choices):
            self._add(number, words)
        self._show()

    def _add(self, number: int, words: str) -> None:
        action = QAction(words, self._group)
        action.setCheckable(True)
        action.setChecked(number == self.choice)
        action.triggered.connect(lambda: self._take(number))
        self._menu.addAction(action)

    def _take(self, number: int) -> None:
        self.choice = number
        self._show()
        self.chosen.emit(number)

    def _show(self) -> None:
        words = self._group.actions()[self.choice].text()
        self.setText(f"{self._caption}: {words} \N{BLACK DOWN-POINTING SMALL TRIANGLE}")
        self.setAccessibleName(f"{self._caption}: {words}")


class _Bar(QTabBar):
    """Tells of keys that scroll: it has the focus when a page opens, and cannot scroll itself."""

    paged = Signal(object)
    """A `QKeyEvent`."""

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Page Up and Page Down are for what is shown below."""
        if event.key() in {Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}:
            self.paged.emit(event)
        else:
            super().keyPressEvent(event)


class Tabs(QWidget):
    """Parts of a page, one at a time; the arrow keys go from one to the next.

    Page Up and Page Down scroll a part that scrolls as a whole: its texts take no focus.
    """

    changed = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = _Bar()
        self.bar.paged.connect(self._page)
        self.bar.setAccessibleName(name)
        self.bar.setFont(font(Type.BODY))
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        self.bar.setUsesScrollButtons(True)
        self._stack = QStackedWidget()
        self.bar.currentChanged.connect(self._stack.setCurrentIndex)
        self.bar.currentChanged.connect(self.changed)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.M)
        layout.addWidget(self.bar)
        layout.addWidget(self._stack, 1)

    def add(self, title: str, part: QWidget) -> None:
        """One part more, at the right."""
        self._stack.addWidget(part)
        self.bar.addTab(title)

    def name(self, number: int, title: str) -> None:
        """Change a part's title."""
        self.bar.setTabText(number, title)

    def show_part(self, number: int) -> None:
        """Show one."""
        self.bar.setCurrentIndex(number)

    def _page(self, event: QKeyEvent) -> None:
        part = self._stack.currentWidget()
        area = part.findChild(QScrollArea) if part is not None else None
        if area is not None:
            QCoreApplication.sendEvent(area, event)
