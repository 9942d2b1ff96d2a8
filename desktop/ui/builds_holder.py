"""The place of *Builds* in the window."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.records.events import FitsKnown, PartsFinished, RunFinished
from desktop.ui.context_slider import is_usual
from desktop.ui.contracts import Services
from desktop.ui.holder import Holder

if TYPE_CHECKING:
    from desktop.services.estimate_events import WindowEvent
    from desktop.ui.builds_section import BuildsSection


class BuildsHolder(Holder["BuildsSection"]):
    """Hands the section what it is told, and what fits here where that is known already."""

    measure_asked = Signal(str, str)
    """A build's file and its name."""
    fits_asked = Signal()

    def __init__(self, services: Services, parent: QWidget | None = None) -> None:
        super().__init__(
            self.tr("Builds"), self.tr("Looking what is on this machine …"), self._build, parent
        )
        self._services = services
        self._blocked = False
        self._fits: FitsKnown | None = None

    def handle(self, event: "WindowEvent") -> None:
        """Show one event; before the first look only what fits is kept of it."""
        if self._section is not None:
            self._section.handle(event)
        elif isinstance(event, FitsKnown) and is_usual(event.fits.request):
            self._fits = event
        elif isinstance(event, PartsFinished | RunFinished):
            self._fits = None

    def set_blocked(self, blocked: bool) -> None:  # noqa: FBT001 - a signal's argument
        """Something is measured."""
        self._blocked = blocked
        if self._section is not None:
            self._section.set_blocked(blocked)

    def _build(self) -> "BuildsSection":
        from desktop.ui.builds_section import BuildsSection  # noqa: PLC0415 - as the holder says

        made = BuildsSection(self._services)
        made.set_blocked(self._blocked)
        made.measure_asked.connect(self.measure_asked)
        made.fits_asked.connect(self.fits_asked)
        if self._fits is not None:
            made.handle(self._fits)
        return made
