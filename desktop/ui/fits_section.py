"""What fits, a model's page, a device's page: one place in the rail, with a way back."""

from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from desktop.errors import Reason
from desktop.records.events import (
    FitsKnown,
    Notice,
    PartsFinished,
    Phase,
    Progress,
    RehearsalFinished,
    RunFailed,
    RunFinished,
)
from desktop.records.fits import FitRow
from desktop.records.model import Model
from desktop.records.rehearsal import RehearsalRequest
from desktop.services.estimate_events import (
    DevicePageKnown,
    FitsFailed,
    FitsGoOn,
    HerePageKnown,
    ModelPageKnown,
    PageFailed,
    WindowEvent,
)
from desktop.ui import messages, parts_words
from desktop.ui.components import Kind
from desktop.ui.context_slider import full_context
from desktop.ui.contracts import Services
from desktop.ui.device_estimate_page import DeviceEstimatePage
from desktop.ui.estimate_page import EstimatePage
from desktop.ui.fits_page import FitsPage
from desktop.ui.here_page import HerePage

LIST, MODEL, DEVICE, HERE = range(4)


class _Place(NamedTuple):
    """Where a person was."""

    page: int
    model: Model | None = None
    tokens: int = 0


class FitsSection(QWidget):
    """Asks the services what its pages want to know, and hands them the answers."""

    measuring_changed = Signal(bool)
    """A rehearsal began or ended."""
    parts_asked = Signal()

    def __init__(self, services: Services, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self.rehearsing = False
        self._rehearsed = ""
        self._way: list[_Place] = []
        self._device = ""
        self.fits = FitsPage()
        self.model = EstimatePage()
        self.device = DeviceEstimatePage()
        self.here = HerePage()
        self._stack = QStackedWidget()
        for page in (self.fits, self.model, self.device, self.here):
            self._stack.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self._connect()

    @property
    def page(self) -> int:
        """`LIST`, `MODEL` or `DEVICE`."""
        return self._stack.currentIndex()

    def handle(self, event: WindowEvent) -> None:
        """Show one event of the services."""
        match event:
            case FitsKnown():
                self.fits.show_fits(event.fits)
            case FitsGoOn():
                self.fits.show_going_on(event.fraction, event.so_far)
            case FitsFailed():
                self.fits.show_failure(event.reason)
            case ModelPageKnown():
                self.model.show_page(event.page, event.here)
            case DevicePageKnown():
                self.device.show_page(event.sheet, event.page)
            case HerePageKnown():
                self.here.show_page(event.fits, self.fits.rehearsals, event.written)
            case PageFailed():
                self._show_failure(event.reason)
            case PartsFinished() | RunFinished():
                self.fits.forget()
            case _ if self.rehearsing:
                self._go_on(event)
            case _:
                pass

    def follow_parts(self, event: WindowEvent) -> None:
        """Show how far the measurement of the parts is, which goes on elsewhere."""
        match event:
            case Progress():
                self.fits.show_step(event, parts_words.step(event))
            case PartsFinished() | RunFailed():
                self.fits.show_end()
            case _:
                pass

    def open_model(self, model: Model, tokens: int) -> None:
        """Open a model's page; the way back leads here."""
        self._way.append(self._place())
        self._show_model(model, tokens)

    def open_device(self, device_id: str) -> None:
        """Open the page of a device, or of this machine, for the model that is shown."""
        if self.model.model is None:
            return
        self._way.append(self._place())
        if not device_id:
            self._open_here(self.model.model)
            return
        self._device = device_id
        self.device.begin()
        self._stack.setCurrentIndex(DEVICE)
        self.device.tabs.bar.setFocus()
        self._ask_device(None)

    def _open_here(self, model: Model) -> None:
        self.here.begin(model)
        self._stack.setCurrentIndex(HERE)
        self.here.table.setFocus()
        self._services.open_here(model.id, self.model.slider.tokens - 1)

    def go_back(self) -> None:
        """To where this page was opened from."""
        place = self._way.pop() if self._way else _Place(LIST)
        if place.page == MODEL and place.model is not None and self._is_other(place):
            self._show_model(place.model, place.tokens)
            return
        self._stack.setCurrentIndex(place.page)
        focus = self.model.tabs.bar if place.page == MODEL else self.fits.list.table
        focus.setFocus()

    def set_blocked(self, blocked: bool) -> None:  # noqa: FBT001 - a signal's argument
        """Something else is measured: no rehearsal can begin, and nothing is worked out."""
        self.fits.set_blocked(blocked)
        self.here.set_blocked(blocked=blocked)

    def _show_failure(self, reason: Reason) -> None:
        """On the page that was asked for."""
        show = {
            MODEL: self.model.show_failure,
            DEVICE: self.device.show_failure,
            HERE: self.here.show_failure,
        }.get(self.page, self.model.show_failure)
        show(messages.sentence(reason), messages.advice(reason))

    def _go_on(self, event: WindowEvent) -> None:
        """One step of a rehearsal."""
        match event:
            case Progress():
                words = messages.rehearsal_step(event)
                self.fits.show_step(event, words)
                self.here.strip.show_step(event.fraction, words)
            case RehearsalFinished():
                self._end()
                self.fits.show_rehearsal(event.rehearsal, self._rehearsed)
                self.here.show_rehearsals(self.fits.rehearsals)
            case RunFailed():
                self._end()
                self._say(Kind.INFO if event.cancelled else Kind.ERROR, event.reason)
            case Notice():
                self._say(Kind.INFO, event.reason)
            case _:
                pass

    def _say(self, kind: Kind, reason: Reason) -> None:
        """Of a rehearsal, on the page where it was begun or is looked at."""
        banner = self.here.error if self.page == HERE else self.fits.banner
        banner.say(kind, messages.sentence(reason), messages.advice(reason))

    def _rehearse(self, row: FitRow) -> None:
        if self._services.running:
            return
        self._rehearsed = f"{row.model.name} {row.quant.label}"
        self._set_rehearsing(rehearsing=True)
        self.fits.show_begin()
        self.here.strip.show_step(0.0, messages.phase(Phase.PREPARING, None))
        self._services.start_rehearsal(RehearsalRequest(f"{row.model.id}:{row.quant.id}"))

    def _end(self) -> None:
        self._set_rehearsing(rehearsing=False)
        self.fits.show_end()
        self.here.strip.show_idle()

    def _set_rehearsing(self, *, rehearsing: bool) -> None:
        self.rehearsing = rehearsing
        self.set_blocked(rehearsing)
        self.measuring_changed.emit(rehearsing)

    def _show_model(self, model: Model, tokens: int) -> None:
        self._stack.setCurrentIndex(MODEL)
        self.model.open(model, tokens)
        self.model.tabs.bar.setFocus()

    def _place(self) -> _Place:
        return _Place(self.page, self.model.model, self.model.slider.tokens)

    def _is_other(self, place: _Place) -> bool:
        shown = self.model.model
        return shown is None or place.model is None or shown.id != place.model.id

    def _ask_fits(self, contexts: tuple[int, ...]) -> None:
        self._services.refresh_fits(tuple(map(full_context, contexts)))

    def _ask_model(self, model_id: str, tokens: int) -> None:
        self._services.open_model(model_id, tokens - 1)

    def _ask_device(self, quant_id: str | None) -> None:
        model = self.model.model
        if model is not None:
            position = self.model.slider.tokens - 1
            self._services.open_device(model.id, self._device, position, quant_id)

    def _connect(self) -> None:
        fits, model, device = self.fits, self.model, self.device
        fits.fits_asked.connect(self._ask_fits)
        fits.opened.connect(lambda row: self.open_model(row.model, fits.slider.tokens))
        fits.rehearse_asked.connect(self._rehearse)
        fits.parts_asked.connect(self.parts_asked)
        for strip in (fits.parts, self.here.strip):
            strip.stop_asked.connect(self._services.stop)
        model.page_asked.connect(self._ask_model)
        model.model_asked.connect(lambda to: self.open_model(to, model.slider.tokens))
        model.device_asked.connect(self.open_device)
        device.quant_asked.connect(self._ask_device)
        self.here.rehearse_asked.connect(self._rehearse)
        for page in (model, device, self.here):
            page.back_asked.connect(self.go_back)
