"""Builds and how to run one: joins the pages and the services."""

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from desktop.errors import Reason
from desktop.records.build_events import (
    BuildCallFailed,
    BuildChecked,
    BuildRemoved,
    FetchEnded,
    HubKnown,
    OffersKnown,
    ShelfKnown,
    TokenFailed,
    TokenKept,
    TokenKnown,
    UseKnown,
)
from desktop.records.events import FitsKnown, PartsFinished, RunFinished
from desktop.records.fits import FitRow, Fits
from desktop.records.hub_token import TokenState
from desktop.records.offers import BuildOffer, FetchRequest, FetchStep, HeldBuild
from desktop.services.estimate_events import FitsFailed, FitsGoOn, WindowEvent
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.builds_page import BuildsPage
from desktop.ui.builds_token import TOKEN_HELPS, TokenDesk, Wanted
from desktop.ui.components import Action, Kind
from desktop.ui.context_slider import is_usual
from desktop.ui.contracts import Services
from desktop.ui.fetch_strip import done_words, evicted_words
from desktop.ui.hub_words import HubName
from desktop.ui.use_panel import UsePanel

LIST, USE, TOKEN = range(3)


class BuildsSection(QWidget):
    """Asks the services what its pages want to know, and hands them the answers."""

    measure_asked = Signal(str, str)
    """A build's file and its name."""
    fits_asked = Signal()

    def __init__(self, services: Services, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._fits: Fits | None = None
        self._is_old = self._blocked = False
        self._adding = ""
        self._searching = False
        self._awaited = 0
        self._then_measured: set[str] = set()
        self._to_measure: list[HeldBuild] = []
        self._checking: dict[str, str] = {}
        self.page = BuildsPage()
        self.use = UsePanel()
        self.tokens = TokenDesk(services, self)
        self._stack = QStackedWidget()
        for part in (self.page, self.use, self.tokens.panel):
            self._stack.addWidget(part)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self._connect()
        self._use_hub(HubName())
        services.refresh_hub()
        services.refresh_shelf()

    @property
    def place(self) -> int:
        """`LIST`, `USE` or `TOKEN`."""
        return self._stack.currentIndex()

    def handle(self, event: WindowEvent) -> None:
        """Show one event of the services."""
        match event:
            case FitsKnown():
                self._take(event.fits)
            case FitsGoOn():
                self.page.get.show_going_on(event.fraction)
            case FitsFailed():
                self.page.get.show_failure(event.reason)
            case PartsFinished() | RunFinished():
                self._forget()
            case ShelfKnown():
                self.page.show_shelf(event.shelf)
            case OffersKnown():
                self._show_offers(event)
            case UseKnown():
                self.use.show_use(event.use)
                self._stack.setCurrentIndex(USE)
                self.use.back.setFocus()
            case FetchStep():
                self._show_step(event)
            case _:
                self._show_end(event)

    def set_blocked(self, blocked: bool) -> None:  # noqa: FBT001 - a signal's argument
        """Something is measured; when it has ended, what waits for it is measured."""
        self._blocked = blocked
        self.page.set_blocked(blocked=blocked)
        if not blocked:
            # the end of what was measured is shown first
            QTimer.singleShot(0, self, self._measure_next)
            self._look()

    def _show_end(self, event: WindowEvent) -> None:
        """Something that was asked for is done, or cannot be."""
        match event:
            case FetchEnded():
                self._end(event)
            case BuildChecked():
                self._show_checked(event)
            case BuildRemoved():
                words = self.tr("{name} was deleted: {size} became free.")
                size = fmt.size(event.freed_bytes)
                self._say(Kind.INFO, words.format(name=event.name, size=size))
                self._ask_offers()
            case BuildCallFailed():
                self._show_failure(event)
            case HubKnown():
                self._use_hub(HubName(event.address, event.host))
            case TokenKnown() | TokenKept() | TokenFailed():
                self.tokens.handle(event)
            case _:
                pass

    def _use_hub(self, hub: HubName) -> None:
        self.page.get.use_hub(hub)
        self.tokens.panel.use_hub(hub)

    def _take(self, fits: Fits) -> None:
        if is_usual(fits.request):
            self._fits, self._is_old = fits, False
            self._ask_offers()

    def _forget(self) -> None:
        """Parts or runs were measured: what fits is asked anew; what is shown stays meanwhile."""
        self._is_old = True
        self._services.refresh_shelf()
        self._look()

    def _look(self) -> None:
        """Ask for what is missing, if somebody looks; never while something is measured."""
        if self.page.isVisible() and not self._blocked and (self._fits is None or self._is_old):
            self.fits_asked.emit()

    def _ask_offers(self, *, ask: bool = False) -> None:
        if self._fits is not None:
            self._services.refresh_offers(self._fits, ask=ask)

    def _ask_hub(self) -> None:
        if self._fits is not None:
            # what is known from before is told first
            self._await(2)
            self._ask_offers(ask=True)

    def _search(self, words: str) -> None:
        self._searching = True
        self._await(1)
        self._services.search_hub(words)

    def _add(self, name: str) -> None:
        self._adding = name
        self._await(1)
        self._services.add_repository(name)

    def _await(self, answers: int) -> None:
        """The hub is asked, and so many answers follow."""
        self._awaited = answers
        self.page.get.show_busy(busy=answers > 0)

    def _show_offers(self, event: OffersKnown) -> None:
        get, offers = self.page.get, event.offers
        get.show_offers(offers)
        if self._awaited:
            # one that was asked for by something else may come between
            left = self._awaited if self._searching else self._awaited - 1
            self._await(0 if offers.online else left)
        if self._awaited:
            return
        if self._searching:
            get.show_found(offers.found)
        name, self._adding, self._searching = self._adding, "", False
        if name and not get.show_added(name):
            self._say(Kind.INFO, self.tr("{name} was added.").format(name=name))

    def _get(self, offer: BuildOffer, then_measured: bool) -> None:  # noqa: FBT001 - a signal's
        name = offer.build.name
        if then_measured:
            self._then_measured.add(name)
        else:
            self._then_measured.discard(name)
        request = FetchRequest(name, limit_bytes_s=self.page.strips.limit_bytes_s)
        if offer.build.gated:
            self.tokens.fetch_gated(Wanted(offer.build.repository, gated=True, request=request))
        else:
            self._fetch(request)

    def _ask_token(self, offer: BuildOffer) -> None:
        self.tokens.ask(Wanted(offer.build.repository, gated=True))

    def _ask_token_again(self, request: FetchRequest, gated: bool) -> None:  # noqa: FBT001 - a signal's
        """A download was refused for want of one."""
        repository = self.page.get.repository_of(request.name)
        self.tokens.ask(Wanted(repository, gated, request))

    def _show_kept(self, state: TokenState) -> None:
        words = self.tr("The token is kept in the keychain, for {host}.")
        self._say(Kind.INFO, words.format(host=state.host))

    def _fetch(self, request: FetchRequest) -> None:
        self.page.strips.begin(request.name, request)
        self._show_going_on()
        self._services.fetch(request)

    def _show_step(self, step: FetchStep) -> None:
        self.page.strips.show_step(step)
        self._show_going_on()

    def _end(self, event: FetchEnded) -> None:
        if event.held is not None:
            self._arrive(event, event.held)
        elif event.stopped:
            self._show_stopped(event.name)
        elif event.reason is not None:
            strip = self.page.strips.strip(event.name)
            strip = strip or self.page.strips.begin(event.name, FetchRequest(event.name))
            strip.show_failure(event.reason)
        self._show_going_on()

    def _show_stopped(self, name: str) -> None:
        self._then_measured.discard(name)
        strip = self.page.strips.strip(name)
        is_check = strip is not None and strip.request is None
        self.page.strips.close_strip(name)
        if not is_check:
            words = self.tr("The download of {name} was stopped; what has come stays.")
            self._say(Kind.INFO, words.format(name=name))

    def _arrive(self, event: FetchEnded, held: HeldBuild) -> None:
        then_measured = event.name in self._then_measured
        self._then_measured.discard(event.name)
        evicted = evicted_words(event)
        if then_measured and not evicted:
            self.page.strips.close_strip(event.name)
        else:
            strip = self.page.strips.strip(event.name)
            strip = strip or self.page.strips.begin(event.name, FetchRequest(event.name))
            actions = () if then_measured else self._next_actions(event.name, held)
            strip.show_done(done_words(event, held), evicted, actions)
        if then_measured:
            self._measure(held)

    def _next_actions(self, name: str, held: HeldBuild) -> tuple[Action, ...]:
        def measure() -> None:
            self.page.strips.close_strip(name)
            self._measure(held)

        return (
            Action(self.tr("Measure"), measure),
            Action(self.tr("How to run it"), lambda: self._use(held, None)),
        )

    def _measure(self, held: HeldBuild) -> None:
        self._to_measure.append(held)
        self._measure_next()

    def _measure_next(self) -> None:
        """One after the other; what is measured elsewhere comes first."""
        if self._to_measure and not self._blocked:
            held = self._to_measure.pop(0)
            # by its file: several programs may call builds by one name
            build = str(held.files[0]) if held.files else held.name
            self.measure_asked.emit(build, held.name)

    def _use(self, held: HeldBuild, fit: FitRow | None) -> None:
        self._services.use_build(held.name, fit)

    def _use_offer(self, offer: BuildOffer) -> None:
        if offer.held is not None:
            self._use(offer.held, offer.fit)

    def _pin(self, held: HeldBuild) -> None:
        if held.sha256 is not None:
            self._services.pin_build(held.sha256, not held.pinned)

    def _check(self, held: HeldBuild) -> None:
        if held.sha256 is not None:
            self._checking[held.sha256] = held.name
            self.page.strips.begin(held.name, None)
            self._show_going_on()
            self._services.verify_build(held.sha256)

    def _delete(self, held: HeldBuild) -> None:
        if held.sha256 is not None:
            self._services.delete_build(held.sha256)

    def _show_checked(self, event: BuildChecked) -> None:
        self.page.strips.close_strip(event.name)
        self._show_going_on()
        told = event.checked.told
        if told is None:
            self._say(Kind.INFO, self.tr("{name}: every byte is right.").format(name=event.name))
        else:
            self._say_reason(told)
        self._services.refresh_shelf()
        self._ask_offers()

    def _show_failure(self, event: BuildCallFailed) -> None:
        self._adding, self._searching = "", False
        self._await(0)
        name = event.name or ""
        strip = self.page.strips.strip(self._checking.pop(name, name))
        if strip is not None and not strip.ended:
            strip.show_failure(event.reason)
            self._show_going_on()
        else:
            self._say_reason(event.reason)

    def _show_going_on(self) -> None:
        """Buttons of what goes on already wait."""
        self.page.strips.show_ended()
        names = self.page.strips.going_on
        self.page.get.set_fetched(names)
        self.page.here.set_checked(names)

    def _say(self, kind: Kind, words: str, advice: str = "") -> None:
        self.page.banner.say(kind, words, advice)

    def _say_reason(self, reason: Reason) -> None:
        words, advice = messages.sentence(reason), messages.advice(reason)
        give = Action(self.tr("Give a token"), lambda: self.tokens.ask(Wanted()))
        actions = (give,) if reason.code in TOKEN_HELPS else ()
        self.page.banner.say(Kind.ERROR, words, advice, actions)

    def _open_token(self) -> None:
        self._stack.setCurrentIndex(TOKEN)

    def _go_back(self) -> None:
        if self.place != LIST:
            self._stack.setCurrentIndex(LIST)
            self.page.tabs.bar.setFocus()

    def _connect(self) -> None:
        get, here, strips, asked = self.page.get, self.page.here, self.page.strips, self._services
        self.page.looked_at.connect(self._look)
        get.get_asked.connect(self._get)
        get.use_asked.connect(self._use_offer)
        get.ask_asked.connect(self._ask_hub)
        get.search_asked.connect(self._search)
        get.add_asked.connect(self._add)
        get.again_asked.connect(self.fits_asked)
        get.token_asked.connect(self._ask_token)
        strips.token_asked.connect(self._ask_token_again)
        self._connect_tokens()
        for part in (get, here):
            part.measure_asked.connect(self._measure)
        here.use_asked.connect(lambda held: self._use(held, None))
        here.pin_asked.connect(self._pin)
        here.check_asked.connect(self._check)
        here.delete_asked.connect(self._delete)
        strips.again_asked.connect(self._fetch)
        strips.pause_asked.connect(asked.pause_fetch)
        strips.resume_asked.connect(asked.resume_fetch)
        strips.stop_asked.connect(asked.stop_fetch)
        strips.limit_asked.connect(asked.limit_fetches)
        self.use.back_asked.connect(self._go_back)

    def _connect_tokens(self) -> None:
        tokens = self.tokens
        tokens.opened.connect(self._open_token)
        tokens.closed.connect(self._go_back)
        tokens.fetch_asked.connect(self._fetch)
        tokens.given_up.connect(lambda request: self._then_measured.discard(request.name))
        tokens.kept.connect(self._show_kept)
        tokens.failed.connect(self._say_reason)
