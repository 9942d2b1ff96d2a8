"""The one button, and how far the run is."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.records.events import Progress as Step
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.components import (
    Card,
    Muted,
    PrimaryButton,
    Progress,
    as_primary,
    as_stop,
    column,
    row,
)
from desktop.ui.design import Space


class RunCard(Card):
    """Asks for a run or for its end; shows its progress."""

    measure_asked = Signal()
    stop_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setAccessibleName(self.tr("Measurement"))
        self._running = False
        self.words = Muted()
        self.button = PrimaryButton(self.tr("Measure this machine"))
        self.button.setToolTip(self.tr("F5"))
        self.button.clicked.connect(self._pressed)
        self.progress = Progress(self.tr("Progress of the measurement"))
        self._lay_out()
        self.show_idle(finished=False)

    def show_idle(self, *, finished: bool) -> None:
        """Nothing is running; `finished` says that a result is there."""
        self._running = False
        self.title.setText(self.tr("Measured") if finished else self.tr("Ready to measure"))
        self.words.setText(
            self.tr("The result is below and in Results.")
            if finished
            else self.tr("Takes a minute or two. Leave the machine alone meanwhile.")
        )
        self._show_button(self.tr("Measure this machine"), enabled=True)
        self.words.show()
        self.progress.hide()

    def show_blocked(self) -> None:
        """The parts are measured: two at once would slow each other."""
        self.title.setText(self.tr("The parts are being measured"))
        self.words.setText(self.tr("Their page, Machine, shows how far it is."))
        self._show_button(self.tr("Measure this machine"), enabled=False)

    def show_started(self) -> None:
        """A run begins."""
        self._running = True
        self.title.setText(self.tr("Measuring"))
        self._show_button(self.tr("Stop"), enabled=True)
        self.progress.show_step(0.0, self.tr("Starting"))
        self.progress.show()
        self.words.hide()

    def show_stopping(self) -> None:
        """The end was asked for and is awaited."""
        self._show_button(self.tr("Stopping …"), enabled=False)

    def show_step(self, step: Step) -> None:
        """Show one step of the run."""
        left = "" if step.time_left_s is None else fmt.time_left(step.time_left_s)
        self.progress.show_step(step.fraction, messages.phase(step.phase, step.test), left)

    def _pressed(self) -> None:
        if self._running:
            self.stop_asked.emit()
        else:
            self.measure_asked.emit()

    def _show_button(self, text: str, *, enabled: bool) -> None:
        self.button.setText(text)
        self.button.setAccessibleName(text)
        self.button.setEnabled(enabled)
        if self._running:
            as_stop(self.button)
        else:
            as_primary(self.button)

    def _lay_out(self) -> None:
        self.head.removeWidget(self.title)
        left = QVBoxLayout()
        left.addLayout(column(self.title, self.words, gap=Space.XS))
        line = row(gap=Space.XL)
        line.addLayout(left, 1)
        line.addWidget(self.button)
        self.body.addLayout(line)
        self.body.addWidget(self.progress)
