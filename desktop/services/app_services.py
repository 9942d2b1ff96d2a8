"""The services of one program, as its doors see them. Built once by each door."""

import logging
from collections.abc import Callable
from concurrent.futures import Future

from desktop.errors import GramError, Reason
from desktop.paths import Paths
from desktop.records.events import AppEvent, CallFailed, MachineKnown, ResultsKnown
from desktop.records.request import Curves, RunRequest
from desktop.services.facts import MachineFacts, machine_facts
from desktop.services.results import result_rows
from desktop.services.runs import RunService
from desktop.services.session import Outside

log = logging.getLogger(__name__)


class AppServices:
    """Every call returns at once; what follows from it is posted, from threads of its own."""

    def __init__(self, outside: Outside, post: Callable[[AppEvent], None]) -> None:
        self._outside = outside
        self._post = post
        self.runs = RunService(outside, post)

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
        self.runs.start(request)

    def stop(self) -> None:
        """End the run, if there is one; `RunFailed(cancelled=True)` follows."""
        self.runs.stop()

    def curves(self) -> Curves:
        """The live graph's data."""
        return self.runs.curves()

    def refresh_machine(self) -> None:
        """Detect the machine; `MachineKnown` or `CallFailed` follows."""
        self._later(lambda: _known(machine_facts(self.paths)))

    def refresh_results(self) -> None:
        """Read the ledger; `ResultsKnown` or `CallFailed` follows."""
        self._later(lambda: ResultsKnown(result_rows(self.paths)))

    def shutdown(self) -> None:
        """Stop everything and wait for it."""
        self.runs.shutdown()
        self._outside.slow.shutdown()

    def _later(self, call: Callable[[], AppEvent]) -> None:
        self._outside.slow.submit(call).add_done_callback(self._tell)

    def _tell(self, future: "Future[AppEvent]") -> None:
        error = future.exception()
        if error is None:
            self._post(future.result())
        elif isinstance(error, GramError):
            self._post(CallFailed(error.reason))
        else:
            log.error("a slow call failed", exc_info=error)
            detail = f"{type(error).__name__}: {error}"
            self._post(
                CallFailed(Reason("unexpected", {"detail": detail, "log": self.paths.log.name}))
            )


def _known(facts: MachineFacts) -> MachineKnown:
    return MachineKnown(facts.machine, facts.kind, facts.meter, facts.engine)
