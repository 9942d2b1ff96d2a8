"""Downloads in their order, one at a time: several at once would only share the connection."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from desktop.builds.control import StoppedError
from desktop.builds.preferences import read_preferences
from desktop.errors import GramError
from desktop.paths import Paths
from desktop.records.build_events import FetchEnded
from desktop.records.offers import FetchRequest, FetchState, FetchStep
from desktop.services.fetching import Fetch, Means, limit_of
from desktop.services.unexpected import reason_of

log = logging.getLogger(__name__)
Post = Callable[[FetchStep | FetchEnded], None]
_JOIN_S = 2.0
_MEASURING = "measuring"


@dataclass(eq=False, slots=True)
class _Job:
    """One download; all but `fetch` is guarded by the queue's lock."""

    fetch: Fetch
    over: bool = False
    """Its end was told: nothing more of it is."""
    thread: threading.Thread | None = field(default=None)


class Fetches:
    """Every call returns at once, from any thread; what follows is posted."""

    def __init__(self, means: Means, post: Post) -> None:
        self._means, self._tell = means, post
        self._lock = threading.RLock()
        self._jobs: dict[str, _Job] = {}
        """By the name that was asked for, in their order; the first runs."""
        self._held = False

    def fetch(self, request: FetchRequest) -> None:
        """Fetch a build when those before it are done; `FetchStep`s, then `FetchEnded` follow.

        What is asked for already is not asked for twice.
        """
        with self._lock:
            if request.name in self._jobs:
                return
            job = _Job(self._new(request))
            if self._held:
                job.fetch.control.pause(_MEASURING)
            self._jobs[request.name] = job
            self._post_state(job, FetchState.WAITING)
            self._next()

    def pause(self, name: str) -> None:
        """Hold one until `resume`."""
        self._set_paused(name, paused=True)

    def resume(self, name: str) -> None:
        """Let it go on."""
        self._set_paused(name, paused=False)

    def stop(self, name: str) -> None:
        """End one; what has come stays. `FetchEnded(stopped=True)` follows."""
        with self._lock:
            job = self._jobs.get(name)
            if job is None:
                return
            job.fetch.control.stop()
            if not job.fetch.hears_stops:
                self._end(job, FetchEnded(name, None, stopped=True))

    def limit(self, bytes_s: float | None) -> None:
        """Set the limit of those that were asked for; None: what the settings say."""
        if bytes_s is None:
            bytes_s = limit_of(read_preferences(self._means.paths.settings)[0])
        with self._lock:
            for job in self._jobs.values():
                job.fetch.control.limit(bytes_s)

    def hold(self, *, held: bool) -> None:
        """While something is measured nothing is fetched: it would disturb."""
        with self._lock:
            self._held = held
            for job in self._jobs.values():
                if held:
                    job.fetch.control.pause(_MEASURING)
                else:
                    job.fetch.control.resume(_MEASURING)

    def shutdown(self) -> None:
        """End all and wait a moment; what has come stays."""
        with self._lock:
            jobs = list(self._jobs.values())
            for job in reversed(jobs):
                self.stop(job.fetch.request.name)
        for job in jobs:
            if job.thread is not None:
                job.thread.join(_JOIN_S)

    def _new(self, request: FetchRequest) -> Fetch:
        def step(told: FetchStep) -> None:
            with self._lock:
                job = self._jobs.get(request.name)
                # one that was left behind says no more
                if job is not None and job.fetch is fetch:
                    self._tell(told)

        fetch = Fetch(request, self._means, step)
        return fetch

    def _next(self) -> None:
        """Start the first, if it does not run yet."""
        job = next(iter(self._jobs.values()), None)
        if job is None or job.thread is not None:
            return
        job.thread = threading.Thread(target=self._run, args=(job,), name="gram-fetch", daemon=True)
        job.thread.start()

    def _run(self, job: _Job) -> None:
        end = _outcome(job.fetch, self._means.paths)
        with self._lock:
            self._end(job, end)

    def _end(self, job: _Job, end: FetchEnded) -> None:
        if job.over:
            return
        job.over = True
        self._jobs.pop(job.fetch.request.name, None)
        self._tell(end)
        self._next()

    def _set_paused(self, name: str, *, paused: bool) -> None:
        with self._lock:
            job = self._jobs.get(name)
            if job is None:
                return
            if paused:
                job.fetch.control.pause()
            else:
                job.fetch.control.resume()
            if job.thread is None:
                self._post_state(job, FetchState.PAUSED if paused else FetchState.WAITING)

    def _post_state(self, job: _Job, state: FetchState) -> None:
        self._tell(FetchStep(job.fetch.request.name, state))


def _outcome(fetch: Fetch, paths: Paths) -> FetchEnded:
    """Run it to its end; every failure becomes an event."""
    name = fetch.request.name
    try:
        return fetch.run()
    except StoppedError:
        return FetchEnded(name, None, stopped=True)
    except GramError as e:
        log.info("a download ended: %s", e.code)
        return FetchEnded(name, None, e.reason)
    except Exception as e:  # noqa: BLE001 - told, and logged
        return FetchEnded(name, None, reason_of(e, paths, log, "a download"))
