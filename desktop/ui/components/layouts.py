"""Rows, columns and scrolled columns with the design's distances."""

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.design import Space

L = TypeVar("L", bound=QBoxLayout)


def row(*widgets: QWidget, gap: int = Space.M) -> QHBoxLayout:
    """Widgets side by side, without outer margins."""
    return _fill(QHBoxLayout(), widgets, gap)


def column(*widgets: QWidget, gap: int = Space.L) -> QVBoxLayout:
    """Widgets below each other, without outer margins."""
    return _fill(QVBoxLayout(), widgets, gap)


def scrolled(content: QWidget, name: str) -> QScrollArea:
    """`content` in an area that scrolls up and down when the window is too low; `name` is said."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    # scrolled by keyboard through what is inside: the area alone would be one more stop of Tab
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setAccessibleName(name)
    content.setObjectName("scrolled")
    content.setContentsMargins(0, 0, Space.S, 0)
    area.setWidget(content)
    return area


def fill_page(page: QWidget, parts: QBoxLayout, name: str) -> None:
    """Lay `parts` out on a page, which scrolls where text is large and the window low."""
    main = QWidget()
    parts.setContentsMargins(Space.XL, Space.XL, Space.L, Space.XL)
    main.setLayout(parts)
    outer = QVBoxLayout(page)
    outer.setContentsMargins(0, 0, 0, 0)
    outer.addWidget(scrolled(main, name))


def _fill(layout: L, widgets: tuple[QWidget, ...], gap: int) -> L:
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(gap)
    for widget in widgets:
        layout.addWidget(widget)
    return layout
