"""What fits on this machine: every model of the catalogue with the quantization to take."""

from collections.abc import Iterator

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from desktop.errors import Reason
from desktop.records.events import Progress as Step
from desktop.records.fits import Fits
from desktop.records.rehearsal import Rehearsal
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.components import (
    Banner,
    Heading,
    Kind,
    Muted,
    Progress,
    QuietButton,
    Scale,
    column,
    fill_page,
    row,
    scale_over,
)
from desktop.ui.context_slider import STOPS, ContextSlider
from desktop.ui.design import Space
from desktop.ui.fits_fields import Build, rehearsal_words, span_of
from desktop.ui.fits_list import FitsList
from desktop.ui.work_strip import WorkStrip

LOADING, FAILED, FILLED = range(3)
_PARTS = "estimate_parts_"
"""What reasons begin with that say why parts which were measured do not serve."""
_NEAR = 2
"""Stops to either side that are worked out before the others."""


class FitsPage(QWidget):
    """Keeps what is known of each context, so that the slider only changes which one is shown.

    Contexts are asked for one after the other, the chosen one first and its neighbours next; never
    while something is measured, which they would disturb.
    """

    fits_asked = Signal(object)
    """Contexts, a tuple of tokens; what was asked for before is not wanted any longer."""
    opened = Signal(object)
    """A `FitRow`."""
    rehearse_asked = Signal(object)
    """A `FitRow`."""
    parts_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._known: dict[int, Fits] = {}
        self._asked: frozenset[int] = frozenset()
        self._blocked = self._partial = False
        self.rehearsals: dict[Build, Rehearsal] = {}
        self.about = Muted(self.tr("Looking at this machine …"))
        self.slider = ContextSlider()
        self.banner = Banner()
        self.parts = WorkStrip(self.tr("Measure the parts"))
        self.list = FitsList()
        self.waiting = Progress(self.tr("Progress of working out what fits"))
        self.show_going_on(0.0)
        self.why = Muted()
        self.again = QuietButton(self.tr("Try again"))
        self._stack = QStackedWidget()
        self._connect()
        self._lay_out()

    @property
    def contexts(self) -> frozenset[int]:
        """Those that are worked out."""
        return frozenset(self._known)

    def show_fits(self, fits: Fits) -> None:
        """One context more is known."""
        context = fits.request.context
        self._known[context] = fits
        self._asked -= {context}
        self.list.use_scale(self._scale(*self._known.values()))
        if context == self.slider.tokens:
            self.show_context(context)
        self._ask_next()

    def show_context(self, tokens: int) -> None:
        """Show what is known of a context; ask for it where nothing is."""
        fits = self._known.get(tokens)
        if fits is None:
            self._wait()
            self._ask_next()
            return
        self._partial = False
        self.waiting.hide()
        self._show_rows(fits)

    def show_going_on(self, fraction: float, so_far: Fits | None = None) -> None:
        """How much of what was asked for is worked out, 0 to 1; and rows that are known already.

        Older rows that are complete stay until there are all of the new ones.
        """
        held_up = self.tr("Waiting until what is measured has ended")
        words = held_up if self._blocked else self.tr("Working out what fits")
        self.waiting.show_step(fraction, words)
        wanted = so_far is not None and so_far.request.context == self.slider.tokens
        if so_far is None or not wanted or not (self._partial or self._is_waiting):
            return
        self._partial = True
        self.list.use_scale(self._scale(so_far))
        self._show_rows(so_far)

    def show_failure(self, reason: Reason) -> None:
        """The estimates could not be worked out."""
        self._asked = frozenset()
        self._partial = False
        self.waiting.hide()
        self.why.setText(_whole(reason))
        self._stack.setCurrentIndex(FAILED)

    def forget(self) -> None:
        """Parts or runs were measured: all is asked for anew, at the latest when it is looked at.

        What is shown stays until there is better.
        """
        self._known.clear()
        self._asked = frozenset()
        if self.isVisible():
            self._ask_next()

    def drop_asked(self) -> None:
        """What was asked for and is not answered yet never will be: another page asked."""
        self._asked = frozenset()

    def set_blocked(self, blocked: bool) -> None:  # noqa: FBT001 - a signal's argument
        """Something is measured elsewhere."""
        self._blocked = blocked
        self.parts.set_blocked(blocked=blocked)
        self.list.set_blocked(blocked=blocked)
        # what was asked for ends with the measurement's start
        self._asked = frozenset()
        self.show_going_on(0.0)
        if not blocked and self.isVisible():
            self._ask_next()

    def show_step(self, step: Step, words: str) -> None:
        """How far a rehearsal, or the measurement of the parts, is."""
        left = "" if step.time_left_s is None else fmt.time_left(step.time_left_s)
        self.parts.show_step(step.fraction, words, left)

    def show_begin(self) -> None:
        """A rehearsal was asked for."""
        self.banner.hide()
        self.parts.show_step(0.0, self.tr("Starting"))

    def show_end(self) -> None:
        """What went on has ended."""
        self.parts.show_idle()

    def show_rehearsal(self, found: Rehearsal, name: str) -> None:
        """Keep it for its build's details, and say it."""
        self.rehearsals[found.model, found.quant] = found
        self.banner.say(Kind.INFO, f"{name}: {rehearsal_words(found)}")
        self.show_context(self.slider.tokens)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """The first look begins the work."""
        super().showEvent(event)
        self._ask_next()

    def _ask_next(self) -> None:
        """Ask for the chosen context, then for its neighbours, then for all that are missing."""
        if self._blocked or not self.isVisible():
            return
        tokens = self.slider.tokens
        if tokens not in self._known:
            wanted: tuple[int, ...] = (tokens,)
        elif self._asked:
            return
        else:
            chosen = STOPS.index(tokens)
            missing = [i for i, stop in enumerate(STOPS) if stop not in self._known]
            near = [i for i in missing if abs(i - chosen) <= _NEAR]
            wanted = tuple(STOPS[i] for i in near or missing)
        if wanted and self._asked != frozenset(wanted):
            self._asked = frozenset(wanted)
            self.fits_asked.emit(wanted)

    def _why_parts(self, fits: Fits) -> str:
        """Why the parts should be measured, or measured again; empty where they serve."""
        if fits.parts_at is None:
            return self.tr(
                "The parts of this machine are not measured yet: its own figures would make these "
                "estimates sharper."
            )
        useless = (reason for reason in fits.told if reason.code.startswith(_PARTS))
        return next(map(messages.sentence, useless), "")

    def _about(self, fits: Fits) -> Iterator[str]:
        yield fits.kind
        if fits.on_card_bytes is not None:
            yield self.tr("{size} on the card").format(size=fmt.memory(fits.on_card_bytes))
            if fits.with_offload_bytes is not None:
                size = fmt.memory(fits.with_offload_bytes)
                yield self.tr("{size} with offload").format(size=size)
        elif fits.with_offload_bytes is not None:
            yield self.tr("{size} of memory").format(size=fmt.memory(fits.with_offload_bytes))
        yield self.tr("estimates, not measurements")

    def _connect(self) -> None:
        self.slider.changed.connect(self.show_context)
        self.list.opened.connect(self.opened)
        self.list.rehearse_asked.connect(self.rehearse_asked)
        self.parts.begin_asked.connect(self.parts_asked)
        self.again.clicked.connect(self._try_again)

    def _try_again(self) -> None:
        self._wait()
        self._ask_next()

    @property
    def _is_waiting(self) -> bool:
        return self._stack.currentIndex() == LOADING

    def _wait(self) -> None:
        """Of what was asked for there is no row yet."""
        self._partial = False
        self.show_going_on(0.0)
        self.waiting.show()
        self._stack.setCurrentIndex(LOADING)

    def _show_rows(self, fits: Fits) -> None:
        self.about.setText(" \N{MIDDLE DOT} ".join(self._about(fits)))
        self.parts.offer(self._why_parts(fits))
        self.list.show_fits(fits, self.rehearsals)
        self._stack.setCurrentIndex(FILLED)

    @staticmethod
    def _scale(*many: Fits) -> Scale:
        """One that holds all of their ranges."""
        return scale_over(span for f in many for r in f.rows if (span := span_of(r)))

    def _lay_out(self) -> None:
        nothing, failed = QWidget(), QWidget()
        words = column(self.why, self.again)
        words.setAlignment(self.again, Qt.AlignmentFlag.AlignLeft)
        words.addStretch(1)
        failed.setLayout(words)
        for part in (nothing, failed, self.list):
            self._stack.addWidget(part)
        head = row(Heading(self.tr("What fits")), self.slider)
        head.setStretch(0, 1)
        layout = column(gap=Space.S)
        title = column(gap=Space.XS)
        title.addLayout(head)
        title.addWidget(self.about)
        layout.addLayout(title)
        layout.addWidget(self.banner)
        layout.addWidget(self.parts)
        layout.addWidget(self.waiting)
        layout.addWidget(self._stack, 1)
        fill_page(self, layout, self.tr("What fits"))


def _whole(reason: Reason) -> str:
    return f"{messages.sentence(reason)}\n{messages.advice(reason)}".strip()
