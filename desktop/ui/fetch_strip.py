"""Downloads and checks that go on: one strip for each, with what can be done about it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.errors import Reason
from desktop.records.build_events import FetchEnded
from desktop.records.offers import FetchRequest, FetchState, FetchStep, HeldBuild
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.builds_token import TOKEN_HELPS
from desktop.ui.components import (
    Action,
    Banner,
    Body,
    Kind,
    Muted,
    Progress,
    QuietButton,
    column,
    row,
)
from desktop.ui.design import Space
from desktop.ui.messages import QT_TRANSLATE_NOOP

_CONTEXT: Final = "Fetches"
_STATES: Final = {
    FetchState.WAITING: QT_TRANSLATE_NOOP("Fetches", "Waiting: another download comes first"),
    FetchState.ASKING: QT_TRANSLATE_NOOP("Fetches", "Asking its repository what it is"),
    FetchState.LOOKING: QT_TRANSLATE_NOOP("Fetches", "Looking whether it is here already"),
    FetchState.FETCHING: QT_TRANSLATE_NOOP("Fetches", "Downloading"),
    FetchState.SILENT: QT_TRANSLATE_NOOP("Fetches", "No answer; asking again"),
    FetchState.PAUSED: QT_TRANSLATE_NOOP("Fetches", "Paused"),
    FetchState.CHECKING: QT_TRANSLATE_NOOP("Fetches", "Checking every byte"),
}
_HELD_UP: Final = QT_TRANSLATE_NOOP(
    "Fetches", "Paused while something is measured; it goes on by itself"
)
_ANYWAY: Final = QT_TRANSLATE_NOOP("Fetches", "Download anyway")
GIVE_TOKEN: Final = QT_TRANSLATE_NOOP("Fetches", "Give a token")
_AGAIN: Final = QT_TRANSLATE_NOOP("Fetches", "Try again")
_ANSWERS: Final[Mapping[str, tuple[str, Callable[[FetchRequest], FetchRequest]]]] = {
    "download_metered": (_ANYWAY, lambda r: replace(r, metered=True)),
    "download_not_run": (_ANYWAY, lambda r: replace(r, anyway=True)),
    "library_needs_room": (
        QT_TRANSLATE_NOOP("Fetches", "Remove and download"),
        lambda r: replace(r, make_room=True),
    ),
}
"""What a person may answer to a refusal, and what it changes of the request."""


class FetchStrip(QFrame):
    """One download, or one build that is read again."""

    pause_asked = Signal()
    resume_asked = Signal()
    stop_asked = Signal()
    again_asked = Signal(object)
    """A `FetchRequest`."""
    token_asked = Signal(object, bool)
    """A `FetchRequest` that needs a token, and whether its build is gated."""
    closed = Signal()

    def __init__(
        self, name: str, request: FetchRequest | None, parent: QWidget | None = None
    ) -> None:
        """Make it.

        Args:
            name: of the build.
            request: what was asked; None: the build is here and is read again.
            parent: owns it.
        """
        super().__init__(parent)
        self.setProperty("role", "card")
        self.name, self.request = name, request
        self._blocked = self._paused = False
        self._last = FetchStep(name, FetchState.CHECKING if request is None else FetchState.WAITING)
        self.title = Body(fmt.breakable(name), strong=True)
        self.progress = Progress(_tr("Progress of {name}").format(name=name))
        self.pause = QuietButton(_tr("Pause"))
        self.stop = QuietButton(_tr("Cancel"))
        self.told = Muted()
        self.told.hide()
        self.banner = Banner()
        self._head = QWidget()
        self._connect()
        self._lay_out()
        self.setAccessibleName(name)
        self._show_last()

    @property
    def ended(self) -> bool:
        """Whether nothing goes on any longer: it only tells how it ended."""
        return self.progress.isHidden()

    def show_step(self, step: FetchStep) -> None:
        """How far it is; what it tells besides stays until it has ended."""
        self._last = step
        if step.told is not None:
            words = (messages.sentence(step.told), messages.advice(step.told))
            self.told.setText(" ".join(filter(None, words)))
            self.told.show()
        self._show_last()

    def set_blocked(self, *, blocked: bool) -> None:
        """Something is measured: downloads wait by themselves."""
        self._blocked = blocked
        self._show_last()

    def show_failure(self, reason: Reason) -> None:
        """Why it ended without the build; with the answer that lets it go on, or to try again."""
        self._show_ended()
        kind = Kind.WARN if reason.code in _ANSWERS else Kind.ERROR
        words = messages.sentence(reason)
        named = str(reason.params.get("name") or self.name)
        if named not in self.name or named not in words:
            # several may have failed; a repository's name is enough
            words = f"{self.name}: {words}"
        self.banner.say(kind, words, messages.advice(reason), self._answers(reason))

    def show_done(self, words: str, advice: str, actions: tuple[Action, ...]) -> None:
        """It is here."""
        self._show_ended()
        self.banner.say(Kind.INFO, words, advice, actions)

    def _answers(self, reason: Reason) -> tuple[Action, ...]:
        request = self.request
        if request is None:
            return ()
        words, change = _ANSWERS.get(reason.code, (_AGAIN, _same))
        again = Action(_tr(words), lambda: self.again_asked.emit(change(request)))
        if reason.code not in TOKEN_HELPS:
            return (again,)
        gated = reason.code == "download_gated"
        give = Action(_tr(GIVE_TOKEN), lambda: self.token_asked.emit(request, gated))
        return (give, again)

    def _show_last(self) -> None:
        step = self._last
        total = step.total_bytes
        left = "" if step.time_left_s is None else fmt.time_left(step.time_left_s)
        self.progress.show_step(step.done_bytes / total if total else 0.0, self._words(step), left)
        is_paused = step.state is FetchState.PAUSED
        held_up = is_paused and self._blocked and not self._paused
        self.pause.setText(_tr("Resume") if is_paused and not held_up else _tr("Pause"))
        self.pause.setAccessibleName(f"{self.pause.text()}: {self.name}")
        self.pause.setVisible(self.request is not None and not held_up)

    def _words(self, step: FetchStep) -> str:
        held_up = step.state is FetchState.PAUSED and self._blocked and not self._paused
        parts = [_tr(_HELD_UP if held_up else _STATES[step.state])]
        if step.total_bytes:
            words = _tr("{done} of {total}")
            done, total = fmt.size(step.done_bytes), fmt.size(step.total_bytes)
            parts.append(words.format(done=done, total=total))
        if step.rate_bytes_s is not None and step.state is FetchState.FETCHING:
            parts.append(f"{fmt.size(round(step.rate_bytes_s))}/s")
        return " \N{MIDDLE DOT} ".join(parts)

    def _show_ended(self) -> None:
        """Only the banner is left, which has a frame of its own."""
        for part in (self._head, self.progress, self.told):
            part.hide()
        self.setProperty("role", "")
        self.style().unpolish(self)
        self.style().polish(self)
        self._lines.setContentsMargins(0, 0, 0, 0)

    def _pause_or_resume(self) -> None:
        self._paused = self._last.state is not FetchState.PAUSED
        (self.pause_asked if self._paused else self.resume_asked).emit()

    def _stop(self) -> None:
        self.stop.setEnabled(False)
        self.stop_asked.emit()

    def _connect(self) -> None:
        self.pause.clicked.connect(self._pause_or_resume)
        self.stop.clicked.connect(self._stop)
        self.stop.setAccessibleName(f"{self.stop.text()}: {self.name}")
        self.banner.dismissed.connect(self.closed)

    def _lay_out(self) -> None:
        head = row(self.title, self.pause, self.stop, gap=Space.S)
        head.setStretch(0, 1)
        self._head.setLayout(head)
        self._lines = column(self._head, self.progress, self.told, self.banner, gap=Space.XS)
        self._lines.setContentsMargins(Space.M, Space.S, Space.M, Space.S)
        self.setLayout(self._lines)


def evicted_words(ended: FetchEnded) -> str:
    """What was removed to make room; empty where nothing was."""
    if ended.evicted is None or not ended.evicted.gone:
        return ""
    names = ", ".join(entry.name for entry in ended.evicted.gone)
    words = _tr("Removed to make room: {names} ({size}).")
    return words.format(names=names, size=fmt.size(ended.evicted.freed_bytes))


def done_words(ended: FetchEnded, held: HeldBuild) -> str:
    """That a build is here: downloaded and checked, or that nothing had to be."""
    if ended.reason is not None:
        return messages.sentence(ended.reason)
    words = _tr("{name} is here: {size}, every byte checked.")
    return words.format(name=held.name, size=fmt.size(held.size_bytes))


def _same(request: FetchRequest) -> FetchRequest:
    return request


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)
