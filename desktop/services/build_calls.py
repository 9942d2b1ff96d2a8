"""The window's questions and orders about builds: each returns at once, and what follows is posted.

Nothing heavy is imported here: what builds need is at the first call, on threads of its own. Those
are three, for three kinds of waiting: for the hub, for the disk, and for neither (a download is
paused at once while a hub is silent and a file is read).
"""

import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from desktop.errors import GramError, Reason
from desktop.paths import Paths
from desktop.records.build_events import (
    BuildCallFailed,
    BuildEvent,
    FetchEnded,
    HubKnown,
    OffersKnown,
    ShelfKnown,
    TokenFailed,
    TokenKept,
    TokenKnown,
    UseKnown,
)
from desktop.records.fits import FitRow, Fits
from desktop.records.offers import FetchRequest, FetchState, FetchStep, Offers, Shelf
from desktop.services.checks import Check, Checks
from desktop.services.slow import SlowCalls
from desktop.services.unexpected import reason_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    from desktop.services.fetches import Fetches
    from desktop.services.ground import Ground

log = logging.getLogger(__name__)


class _StoppedError(Exception):
    """A check was stopped."""


class BuildCalls:
    """Safe from any thread."""

    def __init__(
        self,
        paths: Paths,
        environment: Mapping[str, str],
        ground: "Callable[[], Ground]",
        post: Callable[[BuildEvent], None],
    ) -> None:
        """Build them.

        Args:
            paths: the profile.
            environment: the hub's address and its token; proxies.
            ground: what is known of the machine; blocks, for threads of these calls.
            post: is told what follows.
        """
        self._paths, self._environment = paths, environment
        self._ground, self._post = ground, post
        self._hub, self._disk, self._quick = SlowCalls(), SlowCalls(), SlowCalls()
        self._fits: Fits | None = None
        self._checks = Checks()
        self._names: dict[str, str] = {}
        """Of what is here, by sha256, as it was told last."""
        self._ended = False

    def shelf(self) -> None:
        """Look what is on this machine; `ShelfKnown` follows."""
        self._on(self._disk, None, self._shelf)

    def offers(self, fits: Fits, *, ask: bool) -> None:
        """Work out what can be had; `OffersKnown` follows, with `ask` twice."""
        self._fits = fits
        self._on(self._disk, None, lambda: self._offers(online=False))
        if ask:
            self._on(self._hub, None, self._asked)

    def add(self, name: str) -> None:
        """Add a repository, a file or a folder; `OffersKnown` and `ShelfKnown` follow."""

        def call() -> BuildEvent:
            from desktop.services import offers  # noqa: PLC0415 - as above

            offers.add(self._paths, self._environment, name)
            known = self._shelf()
            self._post(known)
            return self._offers(online=True, shelf=known.shelf)

        self._on(self._hub, name, call)

    def search(self, words: str) -> None:
        """Look for repositories on the hub; `OffersKnown` follows."""

        def call() -> BuildEvent:
            from desktop.services import offers  # noqa: PLC0415 - as above

            found = offers.search(self._environment, words)
            known = self._offers(online=True).offers
            return OffersKnown(Offers(known.offers, found, online=True, told=known.told))

        self._on(self._hub, words, call)

    def fetch(self, request: FetchRequest) -> None:
        """Download a build; `FetchStep`s, then `FetchEnded` follow."""
        self._on(self._quick, request.name, lambda: self._fetches.fetch(request))

    def pause(self, name: str) -> None:
        """Hold a download."""
        self._on(self._quick, name, lambda: self._fetches.pause(name))

    def resume(self, name: str) -> None:
        """Let it go on."""
        self._on(self._quick, name, lambda: self._fetches.resume(name))

    def stop(self, name: str) -> None:
        """End a download or a check; of one that waits, too, `FetchEnded` follows at once."""
        known, ended = self._checks.stop(name)
        if ended:
            self._on(self._quick, name, lambda: FetchEnded(name, None, stopped=True))
        if not known:
            self._on(self._quick, name, lambda: self._fetches.stop(name))

    def limit(self, bytes_s: float | None) -> None:
        """Slow downloads down."""
        self._on(self._quick, None, lambda: self._fetches.limit(bytes_s))

    def hold(self, *, held: bool) -> None:
        """While something is measured nothing is fetched."""
        if held or "_fetches" in vars(self):
            self._on(self._quick, None, lambda: self._fetches.hold(held=held))

    def delete(self, sha256: str) -> None:
        """Remove one of Gram's own; `BuildRemoved` and `ShelfKnown` follow."""

        def call() -> BuildEvent:
            from desktop.services import shelf  # noqa: PLC0415 - as above

            self._post(shelf.delete(self._paths, shelf.own_build(self._paths, sha256)))
            return self._shelf()

        self._on(self._disk, sha256, call)

    def pin(self, sha256: str, *, pinned: bool) -> None:
        """Keep one whatever the budget says, or no more; `ShelfKnown` follows."""

        def call() -> BuildEvent:
            from desktop.services import shelf  # noqa: PLC0415 - as above

            shelf.pin(self._paths, shelf.own_build(self._paths, sha256), pinned=pinned)
            return self._shelf()

        self._on(self._disk, sha256, call)

    def verify(self, sha256: str) -> None:
        """Read one again; `FetchStep`s, then `BuildChecked` or `FetchEnded(stopped=True)`."""
        check = self._checks.add(self._names.get(sha256))

        def call() -> BuildEvent | None:
            try:
                return None if check.told else self._verified(sha256, check)
            finally:
                self._checks.drop(check)

        self._on(self._disk, sha256, call)

    def use(self, name: str, fit: FitRow | None) -> None:
        """How to run one best here; `UseKnown` follows."""

        def call() -> BuildEvent:
            from desktop.services.build_use import use_of_build  # noqa: PLC0415 - as above

            context = fit.estimate.use.context if fit else None
            return UseKnown(use_of_build(self._paths, name, self._ground, context=context))

        self._on(self._disk, name, call)

    def hub(self) -> None:
        """Which hub is asked, by the environment alone; `HubKnown` follows."""

        def call() -> BuildEvent | None:
            from desktop.builds.endpoints import endpoint_of, host_of  # noqa: PLC0415 - as above

            try:
                address = endpoint_of(self._environment)
            except GramError as e:
                # told when something is asked of it
                log.info("no hub: %s", e)
                return None
            return HubKnown(address, host_of(address))

        self._on(self._quick, None, call)

    def token(self) -> None:
        """Look whether a token is sent; `TokenKnown` or `TokenFailed` follows."""

        def call() -> BuildEvent:
            from desktop.services.hub_access import token_state  # noqa: PLC0415 - as above

            return TokenKnown(token_state(self._environment))

        self._call(self._hub, call, TokenFailed)

    def keep_token(self, token: str) -> None:
        """Keep it in the keychain, which may wait for a prompt; `TokenKept` or `TokenFailed`."""

        def call() -> BuildEvent:
            from desktop.services import hub_access  # noqa: PLC0415 - as above

            return TokenKept(hub_access.keep_token(self._environment, token))

        self._call(self._hub, call, TokenFailed)

    def end(self) -> None:
        """End all downloads and checks and wait a moment."""
        self._ended = True
        if "_fetches" in vars(self):
            self._fetches.shutdown()
        for calls in (self._quick, self._disk, self._hub):
            calls.shutdown()

    @cached_property
    def _fetches(self) -> "Fetches":
        from desktop.services.fetches import Fetches  # noqa: PLC0415 - as above
        from desktop.services.fetching import Means  # noqa: PLC0415
        from desktop.services.judging import judge_here  # noqa: PLC0415

        means = Means(self._paths, judge_here(self._ground), self._environment)
        return Fetches(means, self._fetched)

    def _fetched(self, told: FetchStep | FetchEnded) -> None:
        self._post(told)
        if isinstance(told, FetchEnded):
            # what was there before a stop is an unfinished build
            self._on(self._disk, None, self._looked)

    def _verified(self, sha256: str, check: Check) -> BuildEvent | None:
        from desktop.services import shelf  # noqa: PLC0415 - as above

        entry = shelf.own_build(self._paths, sha256)
        if not self._checks.begin(check, entry.name):
            return None

        def tell(done: int, total: int) -> None:
            if check.stopped or self._ended:
                raise _StoppedError
            self._post(FetchStep(entry.name, FetchState.CHECKING, done, total))

        try:
            tell(0, entry.size_bytes)
            return shelf.verify(self._paths, entry, tell)
        except _StoppedError:
            return FetchEnded(entry.name, None, stopped=True)

    def _shelf(self) -> ShelfKnown:
        from desktop.services.shelf import shelf_of  # noqa: PLC0415 - as above

        known = shelf_of(self._paths)
        self._names = {held.sha256: held.name for held in known.held if held.sha256}
        return ShelfKnown(known)

    def _looked(self) -> BuildEvent:
        """What is here now, and what can be had then: looked for once."""
        known = self._shelf()
        if self._fits is None:
            return known
        self._post(known)
        return self._offers(online=False, shelf=known.shelf)

    def _offers(self, *, online: bool, shelf: Shelf | None = None) -> OffersKnown:
        from desktop.services import offers  # noqa: PLC0415 - as above
        from desktop.services.judging import row_of_offer  # noqa: PLC0415
        from desktop.services.shelf import shelf_of  # noqa: PLC0415

        if self._fits is None:
            return OffersKnown(Offers(online=online))
        request = self._fits.request
        found = offers.offers_of(
            offers.Catalogue(self._paths),
            self._fits,
            shelf or shelf_of(self._paths),
            estimate=lambda build: row_of_offer(self._ground(), build, request),
        )
        return OffersKnown(Offers(found.offers, online=online, told=found.told))

    def _asked(self) -> OffersKnown:
        from desktop.services import offers  # noqa: PLC0415 - as above

        if self._fits is None:
            return self._offers(online=False)
        wanted = offers.repositories_of(offers.Catalogue(self._paths), self._fits)
        asked = offers.ask(self._paths, self._environment, wanted)
        known = self._offers(online=asked.answered).offers
        # that one of them is not there any more is nothing to do about
        told = (*known.told, *asked.trouble)
        return OffersKnown(Offers(known.offers, online=known.online, told=told))

    def _on(
        self, calls: SlowCalls, name: str | None, call: "Callable[[], BuildEvent | None]"
    ) -> None:
        self._call(calls, call, lambda reason: BuildCallFailed(reason, name))

    def _call(
        self,
        calls: SlowCalls,
        call: "Callable[[], BuildEvent | None]",
        failed: Callable[[Reason], BuildEvent],
    ) -> None:
        def tell(future: "Future[BuildEvent | None]") -> None:
            error = future.exception()
            event = future.result() if error is None else failed(self._reason(error))
            if event is not None and not self._ended:
                self._post(event)

        calls.submit(call).add_done_callback(tell)

    def _reason(self, error: BaseException) -> Reason:
        return reason_of(error, self._paths, log, "a call about builds")
