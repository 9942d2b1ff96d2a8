"""Buttons: one that matters on a page, and quiet ones."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from desktop.ui.design import Type, font


class PrimaryButton(QPushButton):
    """The one thing to do on a page."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setFont(font(Type.BODY, strong=True))
        self.setProperty("role", "primary")
        _prepare(self)


class QuietButton(QPushButton):
    """Any other thing to do."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setFont(font(Type.SMALL))
        _prepare(self)


def as_stop(button: QPushButton) -> None:
    """Give the primary button the look of a way out."""
    _restyle(button, "stop")


def as_primary(button: QPushButton) -> None:
    """Give it back the look of the one thing to do."""
    _restyle(button, "primary")


def _prepare(button: QPushButton) -> None:
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    # Return presses the focused button, as everywhere but in Qt's plain windows
    button.setAutoDefault(True)


def _restyle(button: QPushButton, role: str) -> None:
    button.setProperty("role", role)
    button.style().unpolish(button)
    button.style().polish(button)
