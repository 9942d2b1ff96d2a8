"""All downloads that go on, above the lists of builds."""

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.records.offers import FetchRequest, FetchStep
from desktop.ui import format as fmt
from desktop.ui.components import MenuButton, Muted, row
from desktop.ui.design import Space
from desktop.ui.fetch_strip import FetchStrip

_LIMITS_MB_S: Final = (None, 1, 2, 5, 10, 25, 50)
_MB: Final = 10**6


class FetchStrips(QWidget):
    """One strip for each name, the oldest first; hidden while there are none."""

    pause_asked = Signal(str)
    resume_asked = Signal(str)
    stop_asked = Signal(str)
    again_asked = Signal(object)
    """A `FetchRequest`."""
    token_asked = Signal(object, bool)
    """A `FetchRequest` that needs a token, and whether its build is gated."""
    limit_asked = Signal(object)
    """Bytes a second, or None."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strips: dict[str, FetchStrip] = {}
        self._blocked = False
        self.count = Muted()
        self.limit = MenuButton(self.tr("Speed limit"), self._limits())
        self.limit.chosen.connect(lambda _: self.limit_asked.emit(self.limit_bytes_s))
        self._head = QWidget()
        head = row(self.count, self.limit, gap=Space.S)
        head.setStretch(0, 1)
        self._head.setLayout(head)
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(Space.S)
        self._lines.addWidget(self._head)
        self._show_count()

    @property
    def limit_bytes_s(self) -> float | None:
        """What is chosen for all of them, those that are still to come too; None: as set."""
        chosen = _LIMITS_MB_S[self.limit.choice]
        return None if chosen is None else float(chosen * _MB)

    @property
    def going_on(self) -> frozenset[str]:
        """Names of what has not ended."""
        return frozenset(name for name, strip in self._strips.items() if not strip.ended)

    def strip(self, name: str) -> FetchStrip | None:
        """The strip of that name, if there is one."""
        return self._strips.get(name)

    def begin(self, name: str, request: FetchRequest | None) -> FetchStrip:
        """A strip for what was asked; None: a build that is here is read again."""
        self.close_strip(name)
        made = FetchStrip(name, request)
        made.set_blocked(blocked=self._blocked)
        made.pause_asked.connect(lambda: self.pause_asked.emit(name))
        made.resume_asked.connect(lambda: self.resume_asked.emit(name))
        made.stop_asked.connect(lambda: self.stop_asked.emit(name))
        made.again_asked.connect(self.again_asked)
        made.token_asked.connect(self.token_asked)
        made.closed.connect(lambda: self.close_strip(name))
        self._strips[name] = made
        self._lines.addWidget(made)
        self._show_count()
        return made

    def show_step(self, step: FetchStep) -> None:
        """How far one is; a strip is made for what was not asked here."""
        strip = self._strips.get(step.name)
        if strip is None or strip.ended:
            strip = self.begin(step.name, FetchRequest(step.name))
        strip.show_step(step)

    def close_strip(self, name: str) -> None:
        """Take one away."""
        strip = self._strips.pop(name, None)
        if strip is not None:
            strip.hide()
            self._lines.removeWidget(strip)
            strip.deleteLater()
        self._show_count()

    def set_blocked(self, *, blocked: bool) -> None:
        """Something is measured: what waits for it says so."""
        self._blocked = blocked
        for strip in self._strips.values():
            strip.set_blocked(blocked=blocked)

    def show_ended(self) -> None:
        """One has ended and stays to tell how: it no longer counts."""
        self._show_count()

    def _show_count(self) -> None:
        downloads = [s for s in self._strips.values() if not s.ended and s.request is not None]
        count = len(downloads)
        if count == 1:
            self.count.setText(self.tr("One download"))
        else:
            self.count.setText(self.tr("{count} downloads").format(count=count))
        self._head.setVisible(bool(count))
        self.setVisible(bool(self._strips))

    def _limits(self) -> tuple[str, ...]:
        words = (fmt.size(limit * _MB) for limit in _LIMITS_MB_S if limit is not None)
        return (self.tr("as set"), *(f"{size}/s" for size in words))
