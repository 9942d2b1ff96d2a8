"""The services of one program, as its doors see them. Built once by each door."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Final

from desktop.paths import Paths
from desktop.records.events import (
    AppEvent,
    CallFailed,
    CostsKnown,
    MachineKnown,
    Notice,
    PartsFinished,
    RehearsalFinished,
    ResultsKnown,
    RunEvent,
    RunFailed,
    RunFinished,
)
from desktop.records.fits import FitRow, Fits, FitsRequest
from desktop.records.offers import FetchRequest
from desktop.records.parts import PartsRequest
from desktop.records.rehearsal import RehearsalRequest
from desktop.records.request import Curves, RunRequest
from desktop.records.run import Run
from desktop.services.attempt import Outside
from desktop.services.build_calls import BuildCalls
from desktop.services.costs import costs_of
from desktop.services.estimate_events import WindowEvent
from desktop.services.facts import MachineFacts, machine_facts
from desktop.services.page_calls import PageCalls
from desktop.services.results import newest_parts, result_rows
from desktop.services.runs import RunService
from desktop.services.unexpected import reason_of
from desktop.settings import read_settings

log = logging.getLogger(__name__)
_ENDS: Final = (RunFinished, PartsFinished, RehearsalFinished, RunFailed)
"""After these nothing is measured any more."""


class AppServices:
    """Every call returns at once; what follows from it is posted, from threads of its own."""

    def __init__(
        self,
        outside: Outside,
        post: Callable[[AppEvent], None],
        post_page: Callable[[WindowEvent], None] = lambda _: None,
    ) -> None:
        """Build them.

        Args:
            outside: the world.
            post: is told what is measured and found.
            post_page: is told what the window's pages of estimates and builds asked for.
        """
        self._outside = outside
        self._post = post
        self.runs = RunService(outside, self._told)
        self._pages = PageCalls(outside.paths, outside.slow, post_page)
        self._builds = BuildCalls(outside.paths, outside.environment, self._pages.ground, post_page)

    @property
    def paths(self) -> Paths:
        """The profile's folders."""
        return self._outside.paths

    @property
    def running(self) -> bool:
        """Whether a run is going on."""
        return self.runs.running

    def start(self, request: RunRequest) -> None:
        """Begin a run; `RunEvent`s follow."""
        self._rest()
        self.runs.start(request)

    def start_parts(self, request: PartsRequest) -> None:
        """Measure the machine's parts; `PartDone`s follow, then `PartsFinished` or `RunFailed`."""
        self._rest()
        self.runs.start_parts(request)

    def start_rehearsal(self, request: RehearsalRequest) -> None:
        """Rehearse a build that is not here; `RehearsalFinished` or `RunFailed` follows."""
        self._rest()
        self.runs.start_rehearsal(request)

    def stop(self) -> None:
        """End the run, if there is one; `RunFailed(cancelled=True)` follows."""
        self.runs.stop()

    def curves(self) -> Curves:
        """The live graph's data."""
        return self.runs.curves()

    def refresh_machine(self) -> None:
        """Detect; `MachineKnown` follows twice, the second with the engine, or `CallFailed`."""
        self._later(lambda: _known(machine_facts(self.paths, self._so_far)))

    def _so_far(self, facts: MachineFacts) -> None:
        self._post(replace(_known(facts), engine_awaited=True))

    def refresh_parts(self) -> None:
        """Read the newest parts that were kept; `PartsKnown` or `CallFailed` follows."""
        self._later(lambda: newest_parts(self.paths))

    def refresh_costs(self, run: Run) -> None:
        """Derive the run's price and carbon; `CostsKnown` or `CallFailed` follows."""
        self._later(lambda: self._costs(run))

    def _costs(self, run: Run) -> CostsKnown:
        settings, told = read_settings(self.paths.settings)
        for reason in told:
            self._post(Notice(reason))
        return CostsKnown(costs_of(run, settings))

    def refresh_results(self) -> None:
        """Read the ledger; `ResultsKnown` or `CallFailed` follows."""
        self._later(lambda: ResultsKnown(result_rows(self.paths)))

    def refresh_fits(self, requests: Sequence[FitsRequest]) -> None:
        """Work out what fits here; a `FitsKnown` of each, or `FitsFailed`, follows."""
        self._pages.fits(requests)

    def open_model(self, model_id: str, position: int) -> None:
        """Make a model's page; `ModelPageKnown` or `PageFailed` follows, for the newest asked."""
        self._pages.model(model_id, position)

    def open_device(
        self, model_id: str, device_id: str, position: int, quant_id: str | None
    ) -> None:
        """Make the page of one device; `DevicePageKnown` or `PageFailed` follows, as above."""
        self._pages.device(model_id, device_id, position, quant_id)

    def open_here(self, model_id: str, position: int) -> None:
        """Every quantization of a model here; `HerePageKnown` or `PageFailed` follows, as above."""
        self._pages.here(model_id, position)

    def refresh_shelf(self) -> None:
        """Look what is on this machine; `ShelfKnown` or `BuildCallFailed` follows."""
        self._builds.shelf()

    def refresh_offers(self, fits: Fits, *, ask: bool) -> None:
        """Work out what can be had, by the rows of `fits`; `OffersKnown` follows."""
        self._builds.offers(fits, ask=ask)

    def add_repository(self, name: str) -> None:
        """Add a repository, file or folder; `OffersKnown` or `BuildCallFailed` follows."""
        self._builds.add(name)

    def search_hub(self, words: str) -> None:
        """Look for repositories; `OffersKnown` or `BuildCallFailed` follows."""
        self._builds.search(words)

    def fetch(self, request: FetchRequest) -> None:
        """Download a build; `FetchStep`s follow, then `FetchEnded`."""
        self._builds.fetch(request)

    def pause_fetch(self, name: str) -> None:
        """Hold a download up."""
        self._builds.pause(name)

    def resume_fetch(self, name: str) -> None:
        """Let it go on."""
        self._builds.resume(name)

    def stop_fetch(self, name: str) -> None:
        """End a download or a check; `FetchEnded(stopped=True)` follows."""
        self._builds.stop(name)

    def limit_fetches(self, bytes_s: float | None) -> None:
        """All downloads together take no more than this; None: what the settings say."""
        self._builds.limit(bytes_s)

    def delete_build(self, sha256: str) -> None:
        """Remove one of Gram's own; `BuildRemoved` or `BuildCallFailed` follows."""
        self._builds.delete(sha256)

    def pin_build(self, sha256: str, pinned: bool) -> None:  # noqa: FBT001 - as the record has it
        """Keep one whatever the budget says, or no longer; `ShelfKnown` or `BuildCallFailed`."""
        self._builds.pin(sha256, pinned=pinned)

    def verify_build(self, sha256: str) -> None:
        """Read one again; `FetchStep`s, then `BuildChecked` or `BuildCallFailed` follows."""
        self._builds.verify(sha256)

    def use_build(self, name: str, fit: FitRow | None) -> None:
        """Tell how to run one best here; `UseKnown` or `BuildCallFailed` follows."""
        self._builds.use(name, fit)

    def refresh_hub(self) -> None:
        """Tell which hub is asked; `HubKnown` follows, nothing where its address cannot be used."""
        self._builds.hub()

    def refresh_token(self) -> None:
        """Look whether a token is sent to the hub; `TokenKnown` or `TokenFailed` follows."""
        self._builds.token()

    def keep_token(self, token: str) -> None:
        """Keep the hub's token in the keychain; `TokenKept` or `TokenFailed` follows."""
        self._builds.keep_token(token)

    def _rest(self) -> None:
        """What is worked out or fetched would disturb what is measured."""
        self._pages.rest()
        self._builds.hold(held=True)

    def _told(self, event: RunEvent) -> None:
        """What was measured sharpens estimates: they are read anew when next asked for."""
        if isinstance(event, RunFinished | PartsFinished):
            self._pages.forget()
        if isinstance(event, _ENDS):
            self._builds.hold(held=False)
        self._post(event)

    def shutdown(self) -> None:
        """Stop everything and wait for it."""
        self._pages.end()
        self._builds.end()
        self.runs.shutdown()
        self._outside.slow.shutdown()

    def _later(self, call: Callable[[], AppEvent]) -> None:
        self._outside.slow.submit(call).add_done_callback(self._tell)

    def _tell(self, future: "Future[AppEvent]") -> None:
        error = future.exception()
        if error is None:
            self._post(future.result())
        else:
            self._post(CallFailed(reason_of(error, self.paths, log, "a slow call")))


def _known(facts: MachineFacts) -> MachineKnown:
    return MachineKnown(
        facts.machine,
        facts.kind,
        facts.meter,
        facts.engine,
        facts.conditions,
        facts.given_up,
    )
