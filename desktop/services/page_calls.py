"""The window's questions about estimates: asked at once, answered from the slow-calls thread.

Nothing heavy is imported here: the estimates' modules are at the first question, on that thread.
"""

import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from desktop import clock
from desktop.errors import Reason
from desktop.paths import Paths
from desktop.records.events import FitsKnown
from desktop.records.fits import FitsRequest
from desktop.services.estimate_events import FitsFailed, FitsGoOn, PageEvent, PageFailed
from desktop.services.newest import Ask, Newest
from desktop.services.slow import SlowCalls
from desktop.services.unexpected import reason_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    from desktop.services.estimate_pages import EstimatePages
    from desktop.services.estimates import FitsWork
    from desktop.services.ground import Ground

log = logging.getLogger(__name__)
Call = Callable[[], PageEvent | None]
Failed = Callable[[Reason], PageEvent]
_ROWS_EVERY_NS: Final = 1_000_000_000
"""Rows that are known already are told so often: a list that grows faster cannot be read."""


class PageCalls:
    """Of each kind of question only the newest is answered."""

    def __init__(self, paths: Paths, slow: SlowCalls, post: Callable[[PageEvent], None]) -> None:
        self._paths = paths
        self._slow = slow
        self._post = post
        self.rows_every_ns = _ROWS_EVERY_NS
        self._fits, self._model, self._device = Newest(), Newest(), Newest()

    def fits(self, requests: Sequence[FitsRequest]) -> None:
        """What fits, for contexts that are worked out together.

        `FitsGoOn`s and a `FitsKnown` of each follow, or `FitsFailed`.
        """
        ask = self._fits.ask()
        self._later(lambda: self._begin(ask, requests), FitsFailed)

    def model(self, model_id: str, position: int) -> None:
        """A model's page; `ModelPageKnown` or `PageFailed` follows."""
        self._later(self._model.only(lambda: self._pages.model(model_id, position)), PageFailed)

    def device(self, model_id: str, device_id: str, position: int, quant_id: str | None) -> None:
        """The page of one device; `DevicePageKnown` or `PageFailed` follows."""
        call = self._device.only(
            lambda: self._pages.device(model_id, device_id, position, quant_id)
        )
        self._later(call, PageFailed)

    def here(self, model_id: str, position: int) -> None:
        """A model on this machine; `HerePageKnown` or `PageFailed` follows."""
        self._later(self._device.only(lambda: self._pages.here(model_id, position)), PageFailed)

    def ground(self) -> "Ground":
        """What is known of the machine; blocks, so it is for threads that may wait.

        Raises:
            GramError: the ledger or the tables cannot be read.
        """
        # the pages are made on that thread
        return self._slow.submit(lambda: self._pages.ground()).result()  # noqa: PLW0108

    def forget(self) -> None:
        """Parts or runs were measured: the machine is read anew at the next question."""
        if "_pages" in vars(self):
            self._fits.ask()
            self._slow.submit(self._pages.forget)

    def rest(self) -> None:
        """Something is measured: what is worked out of what fits would disturb it, and ends."""
        self._fits.ask()

    def end(self) -> None:
        """Nobody waits for answers any more: what is worked out ends with its step."""
        for newest in (self._fits, self._model, self._device):
            newest.ask()

    @cached_property
    def _pages(self) -> "EstimatePages":
        from desktop.services.estimate_pages import EstimatePages  # noqa: PLC0415 - as above

        return EstimatePages(self._paths)

    def _begin(self, ask: Ask, requests: Sequence[FitsRequest]) -> None:
        if ask.holds:
            self._go_on(ask, self._pages.work(requests), clock.now_ns())

    def _go_on(self, ask: Ask, work: "FitsWork", told_ns: int) -> None:
        """One step; the next waits its turn, so that a key or a detection need not wait.

        Args:
            ask: the question.
            work: what is left of it.
            told_ns: when rows were told last.
        """
        if not ask.holds:
            return
        if work.go_on():
            now_ns = clock.now_ns()
            due = now_ns - told_ns >= self.rows_every_ns
            self._post(FitsGoOn(work.fraction, work.so_far() if due else None))
            last_ns = now_ns if due else told_ns
            self._later(lambda: self._go_on(ask, work, last_ns), FitsFailed)
            return
        for fits in work.answers():
            self._post(FitsKnown(fits))

    def _later(self, call: Call | Callable[[], None], failed: Failed) -> None:
        def tell(future: "Future[PageEvent | None]") -> None:
            error = future.exception()
            event = future.result() if error is None else failed(self._reason(error))
            if event is not None:
                self._post(event)

        self._slow.submit(call).add_done_callback(tell)

    def _reason(self, error: BaseException) -> Reason:
        return reason_of(error, self._paths, log, "a question about estimates")
