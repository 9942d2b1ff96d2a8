"""The place of *What fits* in the window."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.ui.contracts import Services
from desktop.ui.holder import Holder

if TYPE_CHECKING:
    from desktop.services.estimate_events import WindowEvent
    from desktop.ui.fits_section import FitsSection


class FitsHolder(Holder["FitsSection"]):
    """Hands the section what it is told."""

    measuring_changed = Signal(bool)
    """A rehearsal began or ended."""
    parts_asked = Signal()

    def __init__(self, services: Services, parent: QWidget | None = None) -> None:
        title, words = self.tr("What fits"), self.tr("Looking at this machine …")
        super().__init__(title, words, self._build, parent)
        self._services = services
        self._blocked = False

    @property
    def rehearsing(self) -> bool:
        """Whether a rehearsal goes on."""
        return self._section is not None and self._section.rehearsing

    def handle(self, event: "WindowEvent") -> None:
        """Show one event; before the first look there is nothing that it could change."""
        if self._section is not None:
            self._section.handle(event)

    def follow_parts(self, event: "WindowEvent") -> None:
        """Show how far the measurement of the parts is."""
        if self._section is not None:
            self._section.follow_parts(event)

    def set_blocked(self, blocked: bool) -> None:  # noqa: FBT001 - a signal's argument
        """Something else is measured."""
        self._blocked = blocked
        if self._section is not None:
            self._section.set_blocked(blocked)

    def drop_asked(self) -> None:
        """Another page asked what fits, so what this one asked for is not answered."""
        if self._section is not None:
            self._section.fits.drop_asked()

    def _build(self) -> "FitsSection":
        from desktop.ui.fits_section import FitsSection  # noqa: PLC0415 - as the holder says

        made = FitsSection(self._services)
        made.set_blocked(self._blocked)
        made.measuring_changed.connect(self.measuring_changed)
        made.parts_asked.connect(self.parts_asked)
        return made
