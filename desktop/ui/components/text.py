"""Labels: one class for each step of the type scale."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from desktop.ui.design import Type, font


class _Text(QLabel):
    """Plain text in one size. Never rich text: values come from files and drivers."""

    def __init__(
        self,
        text: str = "",
        size: Type = Type.BODY,
        *,
        strong: bool = False,
        role: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(font(size, strong=strong))
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def wrap(self) -> None:
        """Break lines; the height follows the width, and no long name widens the page."""
        self.setWordWrap(True)
        self.setMinimumWidth(1)

    def restyle(self) -> None:
        """Look up the style rules again, after a property that they ask for has changed."""
        self.style().unpolish(self)
        self.style().polish(self)


class Heading(_Text):
    """A page's title."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, Type.HEADING, strong=True, parent=parent)


class Subheading(_Text):
    """A card's title."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, Type.SUBHEADING, strong=True, parent=parent)
        self.wrap()


class Body(_Text):
    """A sentence, wrapped."""

    def __init__(
        self, text: str = "", *, strong: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, strong=strong, parent=parent)
        self.wrap()


class Muted(_Text):
    """Small print, wrapped."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, Type.SMALL, role="muted", parent=parent)
        self.wrap()


class Badge(_Text):
    """A few words on a quiet ground; `quiet` takes the accent away."""

    def __init__(
        self, text: str = "", *, quiet: bool = False, parent: QWidget | None = None
    ) -> None:
        role = "badge-quiet" if quiet else "badge"
        super().__init__(text, Type.SMALL, strong=True, role=role, parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Maximum)

    def show_text(self, text: str, *, quiet: bool) -> None:
        """Change words and tone."""
        self.setText(text)
        self.setProperty("role", "badge-quiet" if quiet else "badge")
        self.restyle()
