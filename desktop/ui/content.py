"""What the window holds: the rail, the pages, the keys."""

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from desktop import __version__
from desktop.records.build_events import (
    BuildCallFailed,
    BuildChecked,
    BuildRemoved,
    FetchEnded,
    HubKnown,
    OffersKnown,
    ShelfKnown,
    TokenFailed,
    TokenKept,
    TokenKnown,
    UseKnown,
)
from desktop.records.events import (
    CallFailed,
    CostsKnown,
    FitsKnown,
    MachineKnown,
    PartDone,
    PartsFinished,
    PartsKnown,
    ResultsKnown,
    RunEvent,
    RunFailed,
    RunFinished,
)
from desktop.records.offers import FetchStep
from desktop.services.estimate_events import (
    DevicePageKnown,
    FitsFailed,
    FitsGoOn,
    HerePageKnown,
    ModelPageKnown,
    PageFailed,
    WindowEvent,
)
from desktop.ui import messages
from desktop.ui.builds_holder import BuildsHolder
from desktop.ui.components import Banner, Kind, column
from desktop.ui.context_slider import USUAL, full_context
from desktop.ui.contracts import Services
from desktop.ui.design import Space
from desktop.ui.fits_holder import FitsHolder
from desktop.ui.machine_page import MachinePage
from desktop.ui.measure_page import MeasurePage
from desktop.ui.rail import Rail
from desktop.ui.results_page import ResultsPage
from desktop.ui.theme import Theme

MEASURE: Final = 0
MACHINE: Final = 1
FITS: Final = 2
BUILDS: Final = 3
RESULTS: Final = 4


class Content(QWidget):
    """Hands each event to the page it belongs to."""

    quit_asked = Signal()

    def __init__(self, services: Services, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("content")
        self._services = services
        self.measure = MeasurePage(services, theme)
        self.machine = MachinePage(services)
        self.fits = FitsHolder(services)
        self.builds = BuildsHolder(services)
        self.results = ResultsPage()
        self.banner = Banner((Space.XL, Space.XL, Space.XL, 0))
        self._pages = QStackedWidget()
        self.rail = Rail(self._names(), __version__)
        self._lay_out()
        self._add_keys()
        self.rail.picked.connect(self.show_page)
        self.measure.signing_changed.connect(self.machine.sign_with)
        self.machine.signing_changed.connect(self.measure.sign_with)
        self._keep_apart()
        self.fits.parts_asked.connect(self.machine.measure)
        self.builds.measure_asked.connect(self._measure_build)
        self.builds.fits_asked.connect(self._ask_fits)
        self.show_page(MEASURE)

    @property
    def page(self) -> int:
        """The number of the page that is shown."""
        return self._pages.currentIndex()

    def begin(self) -> None:
        """Load what is slow and ask the services for what there is to show."""
        # where Return does the main thing
        self.measure.run.button.setFocus()
        self.measure.live.graph.load()
        self._services.refresh_machine()
        self._services.refresh_parts()
        self._services.refresh_results()

    def end(self) -> None:
        """Leave nothing running; the window closes."""
        self.measure.live.end()
        self.measure.live.graph.wait()

    def show_page(self, number: int) -> None:
        """Show `MEASURE`, `MACHINE`, `FITS`, `BUILDS` or `RESULTS`."""
        self._pages.setCurrentIndex(number)
        self.rail.show_page(number)

    def measure_now(self) -> None:
        """Show the page and start a run, unless one goes on."""
        self.show_page(MEASURE)
        self.measure.measure()

    def handle(self, event: WindowEvent) -> None:
        """Show one event of the services, on the page it belongs to."""
        match event:
            case ResultsKnown():
                self.results.show_rows(event.rows)
            case CallFailed():
                self._show_failure(event)
            case MachineKnown():
                self.measure.handle(event)
                self.machine.handle(event)
            case CostsKnown():
                self.measure.handle(event)
            case FitsGoOn() | FitsKnown() | FitsFailed():
                self.fits.handle(event)
                self.builds.handle(event)
            case PageFailed() | ModelPageKnown() | DevicePageKnown() | HerePageKnown():
                self.fits.handle(event)
            case ShelfKnown() | OffersKnown() | FetchStep() | FetchEnded() | UseKnown():
                self.builds.handle(event)
            case BuildChecked() | BuildRemoved() | BuildCallFailed():
                self.builds.handle(event)
            case HubKnown() | TokenKnown() | TokenKept() | TokenFailed():
                self.builds.handle(event)
            case _:
                self._show_measurement(event)

    def _show_measurement(self, event: RunEvent | PartsKnown) -> None:
        """An event of whatever is measured now."""
        if self.fits.rehearsing:
            self.fits.handle(event)
        elif self.machine.measuring or isinstance(event, PartDone | PartsFinished | PartsKnown):
            self._show_parts(event)
        else:
            self.measure.handle(event)
        if isinstance(event, RunFinished | PartsFinished):
            self.fits.handle(event)
            self.builds.handle(event)
        if isinstance(event, RunFinished):
            self._services.refresh_costs(event.run)
            if event.statement_id is not None:
                self._services.refresh_results()

    def _measure_build(self, build: str, name: str) -> None:
        """One that is here; its page is shown unless the person looks at another one."""
        if self.page == BUILDS:
            self.show_page(MEASURE)
        self.measure.measure_build(build, name)

    def _ask_fits(self) -> None:
        """For the page Builds: what *What fits* asked for is not answered then."""
        self.fits.drop_asked()
        self._services.refresh_fits((full_context(USUAL),))

    def _show_parts(self, event: RunEvent | PartsKnown) -> None:
        """Parts are measured on their page, and asked for on another one too."""
        self.machine.handle(event)
        self.fits.follow_parts(event)
        failed = isinstance(event, RunFailed) and not event.cancelled
        if failed and self.page == FITS:
            # why, and the ways out of it, are told there
            self.show_page(MACHINE)

    def _show_failure(self, event: CallFailed) -> None:
        if not event.reason.code.startswith("ledger"):
            self.measure.machine.show_failure()
        self.banner.say(Kind.ERROR, messages.sentence(event.reason), messages.advice(event.reason))

    def _names(self) -> tuple[str, ...]:
        """Of the pages, in the order of their numbers."""
        return (
            self.tr("Measure"),
            self.tr("Machine"),
            self.tr("What fits"),
            self.tr("Builds"),
            self.tr("Results"),
        )

    def _keep_apart(self) -> None:
        """One measurement at a time."""
        starts = (
            self.measure.running_changed,
            self.machine.measuring_changed,
            self.fits.measuring_changed,
        )
        blocked = (self.measure.set_blocked, self.machine.parts.set_blocked, self.fits.set_blocked)
        for start, own in zip(starts, blocked, strict=True):
            for block in blocked:
                if block is not own:
                    start.connect(block)
            start.connect(self.builds.set_blocked)

    def _lay_out(self) -> None:
        for page in (self.measure, self.machine, self.fits, self.builds, self.results):
            self._pages.addWidget(page)
        right = column(self.banner, self._pages, gap=0)
        right.setStretch(1, 1)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(0)
        line.addWidget(self.rail)
        line.addLayout(right, 1)

    def _add_keys(self) -> None:
        for page, name in enumerate(self._names()):
            self._add_key(name, f"Ctrl+{page + 1}", partial(self.show_page, page))
        self._add_key(self.tr("Measure this machine"), "F5", self.measure_now)
        self._add_key(self.tr("Quit"), "Ctrl+Q", self.quit_asked.emit)

    def _add_key(self, text: str, keys: str, do: Callable[[], object]) -> None:
        action = QAction(text, self)
        action.setShortcut(QKeySequence(keys))
        # the signal's `checked` is not for `do`
        action.triggered.connect(lambda _checked: do())
        self.addAction(action)
