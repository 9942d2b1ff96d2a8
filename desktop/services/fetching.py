"""One download from its name to a build that is here: asked for, judged, found or fetched."""

import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from desktop.builds.connection import Manner
from desktop.builds.control import Control, StoppedError
from desktop.builds.eviction import evict, plan_here
from desktop.builds.hashes import hashes_in
from desktop.builds.library import Library
from desktop.builds.library_care import Care
from desktop.builds.library_files import DAMAGED
from desktop.builds.listings import Listings
from desktop.builds.names import BuildName, no_name
from desktop.builds.partial import taken_bytes
from desktop.builds.preferences import read_preferences
from desktop.builds.reference import Wanted
from desktop.builds.remote_header import remote_header
from desktop.builds.repository import Hub
from desktop.builds.transfer import download
from desktop.clock import now_ns
from desktop.errors import BuildError, GramError, Reason
from desktop.paths import Paths
from desktop.records.build import Header
from desktop.records.build_events import FetchEnded
from desktop.records.fits import FitRow
from desktop.records.library import BuildPreferences, Evicted, EvictionPlan, Kept
from desktop.records.offers import FetchRequest, FetchState, FetchStep, HeldBuild
from desktop.records.remote import RemoteBuild
from desktop.rules.shell_words import gram_command
from desktop.services.fetch_asking import NOT_TO_BE_HAD, files_of, find_build, key_of
from desktop.services.fetch_finding import Finder
from desktop.services.hub_access import hub_sessions, open_hub
from desktop.services.named_builds import hub_name
from desktop.services.pace import Pace, Silence
from desktop.services.shelf import held_of
from desktop.services.turn import is_measuring

log = logging.getLogger(__name__)
_MEASURING: Final = "measured elsewhere"
_LOOK_NS: Final = 2_000_000_000
"""So often it is looked whether somebody measures."""


@dataclass(frozen=True, slots=True)
class Judge:
    """What the doors know of this machine; asked only where something has to be fetched."""

    fit: Callable[[Header, RemoteBuild], FitRow] | None = None
    """Whether it would run here; None: not asked."""
    metered: Callable[[], bool] = lambda: False
    """Whether the connection is paid by what it carries."""


@dataclass(frozen=True, slots=True)
class Means:
    """What downloads work with."""

    paths: Paths
    judge: Judge = field(default_factory=Judge)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """The hub's address and its token; proxies."""
    manner: Manner = field(default_factory=Manner)


class Fetch:
    """One download. `run` blocks; `control` is safe from any thread."""

    def __init__(
        self, request: FetchRequest, means: Means, post: Callable[[FetchStep], None]
    ) -> None:
        self.request = request
        self.control = Control(request.limit_bytes_s)
        self._paths, self._environment = means.paths, means.environment
        self._judge, self._manner, self._post = means.judge, means.manner, post
        self._library = Library(means.paths)
        self._finder = Finder(means.paths, means.environment, self._looking)
        self._pace = Pace()
        self.hears_stops = False
        """Nothing that it waits for can be silent for long any more."""

    def run(self) -> FetchEnded:
        """Find it here, or fetch it.

        Returns:
            Where it is; or, where something was removed for it, why it could not be fetched.

        Raises:
            GramError: why it is not here.
            StoppedError: by `control`; what has come stays for another time.
        """
        self._paths.ensure()
        preferences, told = read_preferences(self._paths.settings)
        for reason in told:
            self._tell(reason)
        if self.request.limit_bytes_s is None:
            self.control.limit(limit_of(preferences))
        name = hub_name(self.request.name, self._environment)
        if not isinstance(name, BuildName):
            return self._called_so(no_name(self.request.name))
        self._say(FetchState.ASKING)
        try:
            asked = self._asked(name, preferences)
        except BuildError as e:
            if e.code not in NOT_TO_BE_HAD:
                raise
            return self._called_so(e)
        if isinstance(asked, FetchEnded):
            return asked
        build, wanted = asked
        self.control.check()
        self.hears_stops = True
        # noted before room is made for it: so its own unfinished files are not what goes
        targets = self._expect(build, wanted)
        evicted = self._make_room(build, targets, preferences)
        if evicted is None:
            return FetchEnded(self.request.name, self._fetch(build, wanted, targets))
        return self._fetch_after(evicted, build, wanted, targets, preferences)

    def _fetch_after(
        self,
        evicted: Evicted,
        build: RemoteBuild,
        wanted: tuple[Wanted, ...],
        targets: tuple[Path, ...],
        preferences: BuildPreferences,
    ) -> FetchEnded:
        """Whatever comes of it, what was removed is told."""
        ended = FetchEnded(self.request.name, None, evicted=evicted)
        try:
            self.control.check()
            if self._plan(build, targets, preferences).short_or_more:
                # something that was to go has stayed
                return replace(ended, reason=evicted.told[0])
            return replace(ended, held=self._fetch(build, wanted, targets))
        except StoppedError:
            return replace(ended, stopped=True)
        except GramError as e:
            return replace(ended, reason=e.reason)

    def _asked(
        self, name: BuildName, preferences: BuildPreferences
    ) -> FetchEnded | tuple[RemoteBuild, tuple[Wanted, ...]]:
        """Where it is already, as the hub tells its sums; else what has to be fetched.

        Raises:
            BuildError: the hub does not give it, or it should not be fetched.
        """
        with open_hub(self._environment) as hub:
            build = find_build(hub, name, Listings(self._paths.data))
            self.control.check()
            wanted = hub.wanted(build)
            self._say(FetchState.LOOKING)
            finder = self._finder
            here = finder.own(build, wanted) or finder.elsewhere(build, wanted, preferences)
            if here is not None:
                return FetchEnded(self.request.name, here.held, here.reason)
            if not self.request.metered:
                size_bytes = build.size_bytes
                refuse_metered(preferences, self._judge.metered, build.name, size_bytes)
            # also says whether its files are given to this person, before anything goes for them
            self._refuse_unfit(hub, build, wanted)
        return build, wanted

    def _called_so(self, error: BuildError) -> FetchEnded:
        """What is here under the name that was asked for, where the hub does not give it.

        Raises:
            BuildError: as `Finder.called`.
        """
        self.control.check()
        self._say(FetchState.LOOKING)
        here = self._finder.called(self.request.name, error)
        return FetchEnded(self.request.name, here.held, here.reason)

    def _looking(self, done: int, total: int) -> None:
        self.control.check()
        self._say(FetchState.LOOKING, done, total)

    def _refuse_unfit(self, hub: Hub, build: RemoteBuild, wanted: tuple[Wanted, ...]) -> None:
        """By its own header, read over ranges. What cannot be judged is fetched all the same."""
        try:
            header = remote_header(hub.session, wanted)
        except BuildError as e:
            if not self.request.anyway or e.code.startswith("download_"):
                raise
            log.info("the header of %s cannot be read: %s", build.name, e)
            return
        self.control.check()
        if self.request.anyway or self._judge.fit is None:
            return
        try:
            row = self._judge.fit(header, build)
        except GramError as e:
            log.info("%s cannot be judged: %s", build.name, e)
            return
        if not row.runs:
            why = row.estimate.reasons[0].text() if row.estimate.reasons else ""
            raise BuildError("download_not_run", name=build.name, detail=why)

    def _make_room(
        self, build: RemoteBuild, targets: tuple[Path, ...], preferences: BuildPreferences
    ) -> Evicted | None:
        """Within the budget; nothing goes that the person was not asked about."""
        plan = self._plan(build, targets, preferences)
        if not plan.short_or_more:
            return None
        if not self.request.make_room and not plan.short_bytes:
            raise BuildError(
                "library_needs_room",
                name=build.name,
                need_bytes=plan.needed_bytes,
                names=", ".join(entry.name for entry in plan.deletions),
                freed_bytes=plan.freed_bytes,
            )
        care = Care(self._library, self._paths)
        return evict(self._library, care, plan, build.name, stopped=lambda: self.control.stopped)

    def _plan(
        self, build: RemoteBuild, targets: tuple[Path, ...], preferences: BuildPreferences
    ) -> EvictionPlan:
        return plan_here(
            self._library,
            self._paths,
            max(build.size_bytes - sum(map(_lying_bytes, targets)), 0),
            budget_gb=preferences.budget_gb,
            without=frozenset({key_of(build)}),
        )

    def _fetch(
        self, build: RemoteBuild, wanted: tuple[Wanted, ...], targets: tuple[Path, ...]
    ) -> HeldBuild:
        session = hub_sessions(self._environment)
        manner, hashes = replace(self._manner, session=session), hashes_in(self._paths)
        before = 0
        for file, target in zip(wanted, targets, strict=True):
            # a part of a set may have come whole another time
            if not self._finder.is_file(target, file):
                self._wait_for_measurement(before, build.size_bytes)
                progress = self._progress(before, build.size_bytes)
                download(file, target, progress, self.control, manner)
                hashes.note(target, file.sha256)
                with contextlib.suppress(OSError):
                    # what was set aside is of no more use
                    target.with_name(f"{target.name}{DAMAGED}").unlink(missing_ok=True)
            before += file.size_bytes
        # whoever removed it before the first byte came took its note with it
        self._expect(build, wanted)
        held = held_of(self._library, key_of(build))
        if held.kept is not Kept.WHOLE:  # removed while other parts came
            command = gram_command("builds get", build.name)
            raise BuildError("build_unfinished", name=build.name, command=command)
        return held

    def _expect(self, build: RemoteBuild, wanted: tuple[Wanted, ...]) -> tuple[Path, ...]:
        sizes = {file.path: file.size_bytes for file in build.files}
        private = build.repository.private is not False
        url = wanted[0].url
        return self._library.expect(build.name, files_of(build), url, sizes, private=private)

    def _progress(self, before: int, total: int) -> Callable[[int, int], None]:
        looked_ns, silence = now_ns(), Silence()

        def tell(done: int, _size: int) -> None:
            nonlocal looked_ns
            if now_ns() - looked_ns > _LOOK_NS:
                self._hold_while_measured()
                looked_ns = now_ns()
            paused, left = self.control.paused, total - before - done
            waiting = paused or not left or self.control.limiting
            silent = silence.at(before + done, waiting=waiting)
            if paused:
                self._pace.begin()
                self._say(FetchState.PAUSED, before + done, total)
                return
            rate = self._pace.at(before + done)
            state = FetchState.SILENT if silent else FetchState.FETCHING
            state = state if left else FetchState.CHECKING
            left_s = left / rate if rate and left else None
            self._post(FetchStep(self.request.name, state, before + done, total, rate, left_s))

        return tell

    def _wait_for_measurement(self, done: int, total: int) -> None:
        """Begin nothing while somebody measures, in whatever process."""
        self._hold_while_measured()
        while self.control.paused:
            self._say(FetchState.PAUSED, done, total)
            self.control.pause_for(_LOOK_NS / 1e9)
            self._hold_while_measured()

    def _hold_while_measured(self) -> None:
        """What comes takes processor, memory and disk: it would disturb what is measured."""
        if is_measuring(self._paths):
            self.control.pause(_MEASURING)
        else:
            self.control.resume(_MEASURING)

    def _tell(self, reason: Reason) -> None:
        """Something that the person should know while it goes on."""
        log.warning("%s", reason.text())
        self._post(FetchStep(self.request.name, FetchState.ASKING, told=reason))

    def _say(self, state: FetchState, done: int = 0, total: int | None = None) -> None:
        self._post(FetchStep(self.request.name, state, done, total))


def limit_of(preferences: BuildPreferences) -> float | None:
    """Bytes a second that downloads may take; None: all that come."""
    return None if preferences.limit_mb_s is None else preferences.limit_mb_s * 1e6


def refuse_metered(
    preferences: BuildPreferences, is_metered: Callable[[], bool], name: str, size_bytes: int
) -> None:
    """Use no connection that is paid by what it carries, unless the settings allow it.

    Raises:
        BuildError: `download_metered`.
    """
    if preferences.metered == "ask" and is_metered():
        raise BuildError("download_metered", name=name, size_bytes=size_bytes)


def _lying_bytes(target: Path) -> int:
    """What is there of a file, whole or not."""
    with contextlib.suppress(OSError):
        return target.stat().st_size
    return taken_bytes(target)
