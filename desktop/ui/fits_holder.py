"""The place of *What fits* in the window: built at the first look.

What its pages import takes longer than the rest of the window together.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from desktop.ui.components import Heading, Muted, column
from desktop.ui.contracts import Services
from desktop.ui.design import Space

if TYPE_CHECKING:
    from desktop.services.estimate_events import WindowEvent
    from desktop.ui.fits_section import FitsSection


class FitsHolder(QWidget):
    """Words until the section is there; hands it what it is told."""

    measuring_changed = Signal(bool)
    """A rehearsal began or ended."""
    parts_asked = Signal()

    def __init__(self, services: Services, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._services = services
        self._blocked = False
        self._section: FitsSection | None = None
        words = QWidget()
        lines = column(
            Heading(self.tr("What fits")), Muted(self.tr("Looking at this machine …")), gap=Space.XS
        )
        lines.setContentsMargins(Space.XL, Space.XL, Space.XL, Space.XL)
        lines.addStretch(1)
        words.setLayout(lines)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(words)

    @property
    def section(self) -> "FitsSection":
        """The pages; built when they are first asked for."""
        if self._section is None:
            self._section = self._build()
        return self._section

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

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Build the section once these words are on the screen."""
        super().showEvent(event)
        if self._section is None:
            QTimer.singleShot(0, self, lambda: self.section)

    def _build(self) -> "FitsSection":
        from desktop.ui.fits_section import FitsSection  # noqa: PLC0415 - as the module says

        made = FitsSection(self._services)
        made.set_blocked(self._blocked)
        made.measuring_changed.connect(self.measuring_changed)
        made.parts_asked.connect(self.parts_asked)
        self._stack.addWidget(made)
        self._stack.setCurrentWidget(made)
        return made
