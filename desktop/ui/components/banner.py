"""A message in the page: what happened, what to do next, and buttons that do it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from desktop.ui.components.buttons import QuietButton
from desktop.ui.components.text import Body
from desktop.ui.design import Space


class Kind(StrEnum):
    """How much a message matters; said in words too, never by colour alone."""

    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Action:
    """A button of a banner."""

    text: str
    do: Callable[[], None]


class Banner(QWidget):
    """Hidden until there is something to say; stays until dismissed or replaced.

    `around` is kept free at left, top, right and bottom while it is shown.
    """

    dismissed = Signal()

    def __init__(
        self,
        around: tuple[int, int, int, int] = (0, 0, 0, 0),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._frame = QFrame()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(*around)
        outer.addWidget(self._frame)
        self._text = Body(strong=True)
        self._advice = Body()
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(Space.S)
        layout = QVBoxLayout(self._frame)
        layout.setContentsMargins(Space.L, Space.M, Space.L, Space.M)
        layout.setSpacing(Space.S)
        layout.addWidget(self._text)
        layout.addWidget(self._advice)
        layout.addLayout(self._buttons)
        self.hide()

    @property
    def text(self) -> str:
        """The sentence shown; empty when hidden."""
        return "" if self.isHidden() else self._text.text()

    def say(
        self,
        kind: Kind,
        text: str,
        advice: str = "",
        actions: tuple[Action, ...] = (),
        *,
        dismiss: str = "",
    ) -> None:
        """Show a message with its buttons; one to dismiss it is always there, the last.

        `dismiss` is what that one is called where the message asks something.
        """
        self._frame.setProperty("role", f"banner-{kind}")
        self._text.setText(text)
        self._advice.setText(advice)
        self._advice.setVisible(bool(advice))
        self._set_actions((*actions, Action(dismiss or self.tr("Dismiss"), self._dismiss)))
        self.setAccessibleName(f"{self._kind_word(kind)}: {text} {advice}".strip())
        self.style().unpolish(self._frame)
        self.style().polish(self._frame)
        # their rule asks for the frame's property, which Qt does not look at again by itself
        self._text.restyle()
        self._advice.restyle()
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def focus_dismiss(self) -> None:
        """Give the last button the focus: the answer after which nothing has happened."""
        # behind it is the stretch
        item = self._buttons.itemAt(self._buttons.count() - 2)
        button = item.widget() if item is not None else None
        if button is not None:
            button.setFocus()

    def _dismiss(self) -> None:
        self.hide()
        self.dismissed.emit()

    def _set_actions(self, actions: tuple[Action, ...]) -> None:
        while (item := self._buttons.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for action in actions:
            button = QuietButton(action.text)
            button.clicked.connect(action.do)
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)

    def _kind_word(self, kind: Kind) -> str:
        words = {
            Kind.INFO: self.tr("Notice"),
            Kind.WARN: self.tr("Warning"),
            Kind.ERROR: self.tr("Error"),
        }
        return words[kind]
