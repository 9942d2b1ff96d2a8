"""A model's estimate page: all that can be told of it without measuring, in four parts."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QBoxLayout, QStackedWidget, QWidget

from desktop.estimate import printed
from desktop.estimate.facts import active_parameters
from desktop.estimate.page import ModelPage
from desktop.estimate.page_words import Said
from desktop.records.fits import Fits
from desktop.records.model import Model
from desktop.ui import estimate_words as ew
from desktop.ui.components import (
    Banner,
    Heading,
    Kind,
    Muted,
    QuietButton,
    Tabs,
    column,
    fill_page,
    row,
)
from desktop.ui.context_slider import ContextSlider, stops_up_to
from desktop.ui.design import Space, wide
from desktop.ui.estimate_devices import DevicesPart, SizesPart, WithoutPart
from desktop.ui.estimate_overview import EstimateOverview

LOADING, FILLED = 0, 1
_ONE_LINE = 75
"""Figures that the page is wide, from which on title and slider stand side by side."""


class EstimatePage(QWidget):
    """Asks for pages by signals and shows them; it works nothing out."""

    back_asked = Signal()
    page_asked = Signal(str, int)
    """A model's id and tokens of context."""
    model_asked = Signal(object)
    """Another `Model`."""
    device_asked = Signal(str)
    """A configuration's id; of this machine empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.model: Model | None = None
        """Whose page it is."""
        self.back = QuietButton(self.tr("Back"))
        self.back.setToolTip(self.tr("Alt+Left"))
        self.title = Heading()
        self.line = Muted()
        self.counted = Muted()
        self.slider = ContextSlider()
        self.error = Banner()
        self.overview = EstimateOverview()
        self.devices = DevicesPart()
        self.sizes = SizesPart()
        self.without = WithoutPart()
        self.tabs = Tabs(self.tr("Parts of the page"))
        self._stack = QStackedWidget()
        self._connect()
        self._lay_out()

    def open(self, model: Model, tokens: int) -> None:
        """Begin to show `model`; its page is asked for."""
        self.model = model
        self.title.setText(ew.said(Said("head.title", {"model": model.name})))
        self._show_head(model)
        self.slider.use_stops(stops_up_to(model.context_trained), tokens)
        self.error.hide()
        self.tabs.show_part(0)
        self._stack.setCurrentIndex(LOADING)
        self.page_asked.emit(model.id, self.slider.tokens)

    def show_page(self, page: ModelPage, here: Fits | None) -> None:
        """Show the page; that of another model is too late and not shown.

        Args:
            page: of the model that is open.
            here: what is known of it on this machine.
        """
        if self.model is None or page.model.id != self.model.id:
            return
        self.error.hide()
        self.overview.show_page(page)
        self.devices.show_page(page, here)
        self.sizes.show_page(page)
        self.without.show_page(page)
        self.tabs.name(1, self.tr("Devices ({count})").format(count=len(page.rows)))
        self.tabs.name(2, self.tr("Sizes ({count})").format(count=len(page.sizes)))
        self.tabs.name(3, self.tr("Not estimated ({count})").format(count=len(page.without)))
        self._stack.setCurrentIndex(FILLED)

    def show_failure(self, words: str, advice: str) -> None:
        """There is no page; say why."""
        self.error.say(Kind.ERROR, words, advice)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The slider stands below a title that would have no room beside it."""
        super().resizeEvent(event)
        narrow = self.width() < wide(_ONE_LINE)
        direction = QBoxLayout.Direction
        self._head.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)

    def _show_head(self, model: Model) -> None:
        released = model.released or ew.words("facts.unknown")
        line = {"architecture": model.architecture, "released": released}
        self.line.setText(ew.said(Said("head.line", line)))
        total = {"total": printed.parameters(model.parameters)}
        active = {"active": printed.parameters(active_parameters(model))}
        self.counted.setText(
            f"{ew.said(Said('head.capacity', total))} {ew.said(Said('head.traffic', active))}"
        )

    def _connect(self) -> None:
        self.back.clicked.connect(self.back_asked)
        shortcut = QShortcut(QKeySequence("Alt+Left"), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.back_asked)
        self.slider.changed.connect(self._ask_again)
        self.overview.model_asked.connect(self.model_asked)
        self.devices.opened.connect(self.device_asked)
        self.without.opened.connect(self.device_asked)

    def _ask_again(self, tokens: int) -> None:
        if self.model is not None:
            self.page_asked.emit(self.model.id, tokens)

    def _lay_out(self) -> None:
        self.tabs.add(self.tr("Overview"), self.overview)
        self.tabs.add(self.tr("Devices"), self.devices)
        self.tabs.add(self.tr("Sizes"), self.sizes)
        self.tabs.add(self.tr("Not estimated"), self.without)
        waiting = QWidget()
        words = column(Muted(self.tr("Working it out …")))
        words.setAlignment(Qt.AlignmentFlag.AlignTop)
        waiting.setLayout(words)
        self._stack.addWidget(waiting)
        self._stack.addWidget(self.tabs)
        self.title.wrap()
        name = row(self.back, self.title)
        name.setStretch(1, 1)
        name.setAlignment(self.back, Qt.AlignmentFlag.AlignTop)
        self._head = row()
        self._head.addLayout(name, 1)
        self._head.addWidget(self.slider)
        layout = column(gap=Space.M)
        layout.addLayout(self._head)
        layout.addLayout(column(self.line, self.counted, gap=Space.XS))
        layout.addWidget(self.error)
        layout.addWidget(self._stack, 1)
        fill_page(self, layout, self.tr("Estimate"))
