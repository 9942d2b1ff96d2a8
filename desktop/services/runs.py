"""The run thread: at most one measurement of this program, started and stopped from any thread."""

import logging
import threading
from collections.abc import Callable

from desktop.errors import GramError
from desktop.records.events import RunEvent, RunFailed
from desktop.records.parts import PartsRequest
from desktop.records.rehearsal import RehearsalRequest
from desktop.records.request import Curves, RunRequest
from desktop.services.attempt import Attempt, Outside
from desktop.services.parts_session import PartsSession
from desktop.services.session import Session
from desktop.services.unexpected import reason_of

log = logging.getLogger(__name__)
JOIN_S = 5.0


class RunService:
    """Starts a session on the run thread and tells how it ended. Posts, never blocks."""

    def __init__(self, outside: Outside, post: Callable[[RunEvent], None]) -> None:
        self._outside = outside
        self._post = post
        self._lock = threading.Lock()
        self._session: Attempt | None = None
        self._thread: threading.Thread | None = None
        self._running = False

    @property
    def running(self) -> bool:
        """Whether a run is going on; False before its last event is posted."""
        return self._running

    def start(self, request: RunRequest) -> None:
        """Begin; events follow, the last is `RunFinished` or `RunFailed`. Ignored in mid-run."""
        self._begin(Session(request, self._outside, self._post))

    def start_parts(self, request: PartsRequest) -> None:
        """Measure the parts; the last event is `PartsFinished` or `RunFailed`. As `start`."""
        self._begin(PartsSession(request, self._outside, self._post))

    def start_rehearsal(self, request: RehearsalRequest) -> None:
        """Rehearse a build; the last event is `RehearsalFinished` or `RunFailed`. As `start`."""
        # the tables of estimates, and numpy: nothing that starting up should wait for
        from desktop.services.rehearsals import RehearsalSession  # noqa: PLC0415

        self._begin(RehearsalSession(request, self._outside, self._post))

    def _begin(self, session: Attempt) -> None:
        with self._lock:
            if self._running:
                return
            self._running = True
            self._session = session
            self._thread = threading.Thread(
                target=self._run, args=(session,), name="run", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """End the run, if there is one, within 2 s. Nothing of it is kept."""
        session = self._session
        if session is not None:
            session.cancel()

    def curves(self) -> Curves:
        """The live curves of the current run, or of the last one."""
        session = self._session
        return session.curves.snapshot() if session is not None else Curves()

    def shutdown(self) -> None:
        """Stop and wait until worker and thread are gone."""
        self.stop()
        if self._thread is not None:
            self._thread.join(JOIN_S)

    def _run(self, session: Attempt) -> None:
        end = outcome_of(session)
        # first free, then told: who starts again on hearing it must not be refused
        self._running = False
        self._post(end)


def outcome_of(session: Attempt) -> RunEvent:
    """Run `session` to its end; every failure becomes an event."""
    try:
        return session.run()
    except GramError as e:
        log.info("run ended: %s", e.code)
        return RunFailed(e.reason, cancelled=e.code == "cancelled")
    except Exception as e:  # noqa: BLE001 - told, and logged
        return RunFailed(reason_of(e, session.outside.paths, log, "a run"))
