"""Builds: what can be had and what is here, with the downloads that go on above both."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from desktop.records.offers import Shelf
from desktop.ui.builds_fields import shelf_words
from desktop.ui.builds_get import GetPart
from desktop.ui.builds_here import HerePart
from desktop.ui.components import Banner, Heading, Muted, Tabs, column, fill_page
from desktop.ui.design import Space
from desktop.ui.fetch_strips import FetchStrips

GET, HERE = range(2)
"""The choices."""


class BuildsPage(QWidget):
    """The two lists; `looked_at` tells that the page came into view."""

    looked_at = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.about = Muted(self.tr("Looking what is on this machine …"))
        self.banner = Banner()
        self.strips = FetchStrips()
        self.get = GetPart()
        self.here = HerePart()
        self.tabs = Tabs(self.tr("Builds to get, or builds that are here"))
        self.tabs.add(self.tr("Get"), self.get)
        self.tabs.add(self.tr("Here"), self.here)
        title = column(Heading(self.tr("Builds")), self.about, gap=Space.XS)
        layout = column(gap=Space.S)
        layout.addLayout(title)
        layout.addWidget(self.banner)
        layout.addWidget(self.strips)
        layout.addWidget(self.tabs, 1)
        fill_page(self, layout, self.tr("Builds"))

    def show_shelf(self, shelf: Shelf) -> None:
        """Show what is here."""
        self.about.setText(shelf_words(shelf))
        self.tabs.name(HERE, self.tr("Here ({count})").format(count=len(shelf.held)))
        self.here.show_shelf(shelf)

    def set_blocked(self, *, blocked: bool) -> None:
        """Something is measured: nothing else can be, and downloads wait."""
        self.strips.set_blocked(blocked=blocked)
        self.get.set_blocked(blocked=blocked)
        self.here.set_blocked(blocked=blocked)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """What is asked is asked when somebody looks."""
        super().showEvent(event)
        self.looked_at.emit()
