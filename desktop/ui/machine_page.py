"""This machine whole: hardware, cards, what a build may use, and the parts as measured."""

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.errors import Reason
from desktop.records.events import (
    AppEvent,
    Devices,
    MachineKnown,
    Notice,
    PartDone,
    PartMissed,
    PartsFinished,
    PartsKnown,
    Progress,
    RunFailed,
)
from desktop.records.parts import PartsRequest
from desktop.records.request import Signing
from desktop.rules.notes import notes_of_parts
from desktop.ui import messages
from desktop.ui.accelerators_card import AcceleratorsCard
from desktop.ui.components import Action, Banner, Heading, Kind, Muted, column, row, scrolled
from desktop.ui.contracts import Services
from desktop.ui.design import Space
from desktop.ui.hardware_card import HardwareCard, MemoryCard
from desktop.ui.parts_card import PartsCard
from desktop.ui.ways_out import ways_out


class MachinePage(QWidget):
    """Shows what the services tell of the machine; starts and stops the parts' benchmark."""

    measuring_changed = Signal(bool)
    signing_changed = Signal(object)
    """A `Signing`: how this session signs."""

    def __init__(self, services: Services, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._services = services
        self._base = PartsRequest()
        self.measuring = False
        self.kind = Heading(self.tr("Looking at the hardware …"))
        self.system = Muted()
        self.error = Banner()
        self.hardware = HardwareCard()
        self.memory = MemoryCard()
        self.cards = AcceleratorsCard()
        self.parts = PartsCard()
        self.parts.measure_asked.connect(self.measure)
        self.parts.stop_asked.connect(self.stop)
        self._lay_out()

    def measure(self) -> None:
        """Measure the parts; nothing while something is measured already."""
        self._start(self._base)

    def sign_with(self, signing: Signing) -> None:
        """For this session: the next presses of the button sign this way."""
        self._base = replace(self._base, signing=signing)

    def stop(self) -> None:
        """End the measurement of the parts."""
        if self.measuring:
            self.parts.show_stopping()
            self._services.stop()

    def handle(self, event: AppEvent) -> None:
        """Show one event of the services."""
        match event:
            case MachineKnown():
                self._show_machine(event)
            case PartsKnown() if not self.measuring:
                self.parts.show_devices(event.devices, event.skipped)
                self.parts.show_rates(event.rates, event.at, event.key_id, event.notes)
            case Progress() | Devices() | PartDone() | PartMissed():
                self._go_on(event)
            case PartsFinished():
                self._finish(event)
            case Notice():
                self._say(Kind.INFO, event.reason)
            case RunFailed():
                self._fail(event)
            case _:
                pass

    def _show_machine(self, event: MachineKnown) -> None:
        self.kind.setText(event.kind)
        engine = event.engine
        if event.engine_awaited:
            self.system.setText(self.tr("Asking the engine …"))
        elif engine is None:
            self.system.setText(self.tr("The engine could not be loaded"))
        else:
            devices = ", ".join(f"{d.name} ({d.description})" for d in engine.devices)
            words = self.tr("{engine} {version} lists {devices}")
            self.system.setText(
                words.format(engine=engine.engine, version=engine.version, devices=devices)
            )
        self.hardware.show_machine(event)
        self.memory.show_machine(event.machine)
        machine = event.machine
        self.cards.show_cards(
            machine.accelerators, listed=engine is not None, unknown=machine.cards_unknown
        )

    def _go_on(self, event: Progress | Devices | PartDone | PartMissed) -> None:
        """One step of the measurement."""
        match event:
            case Progress():
                self.parts.show_step(event)
            case Devices():
                self.parts.show_devices(event.devices)
            case PartDone():
                self.parts.show_part(event.rate, event.fraction)
            case PartMissed():
                self.parts.show_missed(event.skip, event.fraction)

    def _finish(self, event: PartsFinished) -> None:
        self._end()
        at = event.parts.started_at if event.statement_id else None
        self.parts.show_devices(event.parts.devices, event.parts.skipped)
        self.parts.show_rates(event.rates, at, event.key_id, notes_of_parts(event.parts))

    def _fail(self, event: RunFailed) -> None:
        self._end()
        kind = Kind.INFO if event.cancelled else Kind.ERROR
        self._say(kind, event.reason, self._ways_out(event.reason))
        # what is kept of earlier times is shown again
        self._services.refresh_parts()

    def _end(self) -> None:
        self._set_measuring(measuring=False)
        self.parts.show_idle()

    def _set_measuring(self, *, measuring: bool) -> None:
        self.measuring = measuring
        self.measuring_changed.emit(measuring)

    def _start(self, request: PartsRequest) -> None:
        if self._services.running:
            return
        self._set_measuring(measuring=True)
        self.error.hide()
        self.parts.show_started()
        self._services.start_parts(request)

    def _ways_out(self, reason: Reason) -> tuple[Action, ...]:
        return ways_out(
            reason,
            with_file=self._sign_with_file,
            unsigned=lambda: self._start(replace(self._base, signing=Signing.UNSIGNED)),
            after=lambda: self._start(replace(self._base, wait=True)),
        )

    def _sign_with_file(self) -> None:
        self.sign_with(Signing.KEY_FILE)
        self.signing_changed.emit(Signing.KEY_FILE)
        self._start(self._base)

    def _say(self, kind: Kind, reason: Reason, actions: tuple[Action, ...] = ()) -> None:
        self.error.say(kind, messages.sentence(reason), messages.advice(reason), actions)

    def _lay_out(self) -> None:
        main = QWidget()
        first = row(self.hardware, self.memory, gap=Space.L)
        first.setStretch(0, 2)
        first.setStretch(1, 1)
        layout = column(gap=Space.L)
        layout.addLayout(column(self.kind, self.system, gap=Space.XS))
        layout.addWidget(self.error)
        layout.addWidget(self.parts)
        layout.addLayout(first)
        layout.addWidget(self.cards)
        layout.addStretch(1)
        main.setLayout(layout)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(Space.XL, Space.XL, Space.L, Space.XL)
        self.area = scrolled(main, self.tr("Machine"))
        outer.addWidget(self.area)
