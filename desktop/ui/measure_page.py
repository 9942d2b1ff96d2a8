"""The main page: this machine, the build, one button, the run as it goes, the result."""

from dataclasses import replace
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop.errors import Reason
from desktop.records.events import (
    AppEvent,
    BuildKnown,
    CostsKnown,
    MachineKnown,
    Notice,
    Power,
    Progress,
    RepetitionDone,
    RunFailed,
    RunFinished,
)
from desktop.records.request import RunRequest, Signing
from desktop.ui import messages
from desktop.ui.build_card import BuildCard
from desktop.ui.components import Action, Banner, Kind, column, scrolled
from desktop.ui.contracts import Services
from desktop.ui.design import Size, Space
from desktop.ui.live_card import LiveCard
from desktop.ui.machine_card import MachineCard
from desktop.ui.result_card import ResultCard
from desktop.ui.run_card import RunCard
from desktop.ui.theme import Theme
from desktop.ui.ways_out import ways_out

_BELOW_BANNERS: Final = 3


class MeasurePage(QWidget):
    """Starts and stops runs and shows what the services tell of them."""

    running_changed = Signal(bool)
    signing_changed = Signal(object)
    """A `Signing`: how this session signs."""

    def __init__(self, services: Services, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._services = services
        self._base = self._request = RunRequest()
        self.running = self._blocked = False
        self.machine = MachineCard()
        self.build = BuildCard()
        self.run = RunCard()
        self.error = Banner()
        self.notice = Banner()
        self.result = ResultCard()
        self.live = LiveCard(services.curves, theme.colours)
        theme.changed.connect(self.live.graph.set_colours)
        self.run.measure_asked.connect(self.measure)
        self.run.stop_asked.connect(self.stop)
        self._lay_out()

    def measure(self) -> None:
        """Measure the chosen build; nothing while a run goes on."""
        build = self.build
        self._start(replace(self._base, build=build.wanted, called=build.called))

    def measure_build(self, build: str, name: str) -> None:
        """Choose a build that is here, shown as `name`, and measure it."""
        if not self.running and not self._blocked:
            self.build.use_build(build, name)
            self.measure()

    def use(self, base: RunRequest) -> None:
        """Measure as `base` says from now on, apart from the build, which is chosen here."""
        self._base = base
        self.signing_changed.emit(base.signing)

    def stop(self) -> None:
        """End the run."""
        if self.running:
            self.run.show_stopping()
            self._services.stop()

    def set_blocked(self, blocked: bool) -> None:  # noqa: FBT001 - a signal's argument
        """Something else is measured: the button waits and says so."""
        self._blocked = blocked
        if blocked:
            self.run.show_blocked()
        else:
            self.run.show_idle(finished=not self.result.isHidden())

    def handle(self, event: AppEvent) -> None:
        """Show one event of the services. Steps are not shown singly: the graph is pulled."""
        match event:
            case Progress():
                self.run.show_step(event)
            case BuildKnown():
                self.build.show_build(event.build)
            case RepetitionDone():
                self.live.show_repetition(event)
            case Power():
                self.live.show_power(event)
            case Notice():
                self._say(self.notice, Kind.INFO, event.reason)
            case RunFinished():
                self._finish(event)
            case RunFailed():
                self._fail(event)
            case CostsKnown():
                self.result.show_costs(event.costs)
            case MachineKnown():
                self.machine.show_machine(event)
            case _:
                pass

    def _start(self, request: RunRequest) -> None:
        if self.running or self._blocked:
            return
        self._request = request
        self._set_running(running=True)
        self.error.hide()
        self.notice.hide()
        self.run.show_started()
        self._order(self.live, self.result)
        self.live.show()
        self.live.begin()
        self._services.start(request)

    def _finish(self, event: RunFinished) -> None:
        self._end()
        self.build.show_build(event.run.build)
        self.result.show_result(event)
        self._order(self.result, self.live)
        self.run.show_idle(finished=True)

    def _fail(self, event: RunFailed) -> None:
        self._end()
        self.run.show_idle(finished=not self.result.isHidden())
        kind = Kind.INFO if event.cancelled else Kind.ERROR
        self._say(self.error, kind, event.reason, self._ways_out(event.reason))

    def _end(self) -> None:
        self._set_running(running=False)
        self.live.end()

    def _set_running(self, *, running: bool) -> None:
        self.running = running
        self.build.set_busy(busy=running)
        self.running_changed.emit(running)

    def sign_with(self, signing: Signing) -> None:
        """For this session: the next presses of the button sign this way."""
        self._base = replace(self._base, signing=signing)

    def _ways_out(self, reason: Reason) -> tuple[Action, ...]:
        return ways_out(
            reason,
            with_file=self._sign_with_file,
            unsigned=self._measure_unsigned,
            after=self._measure_after,
        )

    def _sign_with_file(self) -> None:
        self.sign_with(Signing.KEY_FILE)
        self.signing_changed.emit(Signing.KEY_FILE)
        self._start(replace(self._request, signing=Signing.KEY_FILE))

    def _measure_unsigned(self) -> None:
        self._start(replace(self._request, signing=Signing.UNSIGNED))

    def _measure_after(self) -> None:
        self._start(replace(self._request, wait=True))

    def _say(
        self, banner: Banner, kind: Kind, reason: Reason, actions: tuple[Action, ...] = ()
    ) -> None:
        banner.say(kind, messages.sentence(reason), messages.advice(reason), actions)

    def _order(self, first: QWidget, second: QWidget) -> None:
        """Put what matters now right below the button."""
        self._main.removeWidget(first)
        self._main.removeWidget(second)
        self._main.insertWidget(_BELOW_BANNERS, first)
        self._main.insertWidget(_BELOW_BANNERS + 1, second)
        self._main.setStretchFactor(self.live, 1)
        self._area.verticalScrollBar().setValue(0)

    def _lay_out(self) -> None:
        side, main = QWidget(), QWidget()
        left = QVBoxLayout(side)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(Space.L)
        left.addWidget(self.machine)
        left.addWidget(self.build)
        left.addStretch(1)
        side_area = scrolled(side, self.tr("Machine and build"))
        side_area.setFixedWidth(Size.SIDE)
        self._main = column(self.run, self.error, self.notice, self.live, self.result)
        self._main.setStretchFactor(self.live, 1)
        main.setLayout(self._main)
        self._area = scrolled(main, self.tr("Measurement"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(Space.XL, Space.XL, Space.L, Space.XL)
        layout.setSpacing(Space.S)
        layout.addWidget(side_area)
        layout.addWidget(self._area, 1)
