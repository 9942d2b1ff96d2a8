"""The way to a gated build: whether a token is sent is looked up, and asked for where none is."""

from typing import Final, NamedTuple

from PySide6.QtCore import QObject, Signal

from desktop.records.build_events import TokenFailed, TokenKept, TokenKnown
from desktop.records.hub_token import TokenSource
from desktop.records.offers import FetchRequest
from desktop.ui.contracts import Services
from desktop.ui.token_panel import TokenPanel

_SENT: Final = frozenset({TokenSource.ENVIRONMENT, TokenSource.KEYCHAIN})
TOKEN_HELPS: Final = frozenset({"download_gated", "hub_token", "hub_unknown"})
"""Refusals that a token may change."""


class Wanted(NamedTuple):
    """What a token is for."""

    repository: str = ""
    """`owner/repo`; empty: none in particular."""
    gated: bool = False
    request: FetchRequest | None = None
    """The download that goes on when there is one."""


class TokenDesk(QObject):
    """Joins the panel and the services; a download waits here for its token."""

    opened = Signal()
    """The panel is to be shown."""
    closed = Signal()
    fetch_asked = Signal(object)
    """A `FetchRequest`."""
    given_up = Signal(object)
    """A `FetchRequest` that the person did not go on with."""
    kept = Signal(object)
    """A `TokenState`."""
    failed = Signal(object)
    """A `Reason`: nobody could look whether a token is sent."""

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._wanted = Wanted()
        self._looking = False
        self.panel = TokenPanel()
        self.panel.keep_asked.connect(services.keep_token)
        self.panel.without_asked.connect(self._go_on)
        self.panel.back_asked.connect(self._give_up)

    def fetch_gated(self, wanted: Wanted) -> None:
        """Fetch it if a token is sent; else ask for one first."""
        self._wanted, self._looking = wanted, True
        self._services.refresh_token()

    def ask(self, wanted: Wanted) -> None:
        """Ask for a token; what is known of the one that is sent follows."""
        self._looking = False
        self._open(wanted)
        self._services.refresh_token()

    def handle(self, event: TokenKnown | TokenKept | TokenFailed) -> None:
        """An answer of the services."""
        match event:
            case TokenKnown():
                self._show_known(event)
            case TokenKept():
                self.kept.emit(event.state)
                self._go_on()
            case TokenFailed() if self._looking:
                self._looking = False
                self._give_up()
                self.failed.emit(event.reason)
            case TokenFailed():
                self.panel.show_failure(event.reason)

    def _show_known(self, event: TokenKnown) -> None:
        looking, self._looking = self._looking, False
        if looking and event.state.source in _SENT:
            self._go_on()
            return
        if looking:
            self._open(self._wanted)
        self.panel.show_state(event.state)

    def _open(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self.panel.begin(
            wanted.repository, gated=wanted.gated, then_fetched=wanted.request is not None
        )
        self.opened.emit()
        self.panel.token.setFocus()

    def _go_on(self) -> None:
        wanted = self._close()
        if wanted.request is not None:
            self.fetch_asked.emit(wanted.request)

    def _give_up(self) -> None:
        wanted = self._close()
        if wanted.request is not None:
            self.given_up.emit(wanted.request)

    def _close(self) -> Wanted:
        wanted, self._wanted = self._wanted, Wanted()
        self.panel.forget()
        self.closed.emit()
        return wanted
