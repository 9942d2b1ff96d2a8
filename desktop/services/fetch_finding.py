"""Whether a build that is asked for is on this machine already: never fetched twice."""

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from desktop.builds.hashes import Progress, hashes_in
from desktop.builds.library import Library
from desktop.builds.on_disk.here import is_file
from desktop.builds.reference import Wanted
from desktop.builds.store import Named
from desktop.errors import BuildError, Reason
from desktop.paths import Paths
from desktop.records.library import BuildPreferences
from desktop.records.offers import GRAM, HeldBuild
from desktop.records.remote import RemoteBuild
from desktop.services.fetch_asking import files_of, key_of
from desktop.services.named_builds import locate_build
from desktop.services.shelf import found_elsewhere, held_of, of_others

log = logging.getLogger(__name__)


class Found(NamedTuple):
    """A build that is here, and why nothing is fetched."""

    held: HeldBuild
    reason: Reason


class Finder:
    """Looks through Gram's own and other programs' builds; reads what may be the same."""

    def __init__(self, paths: Paths, environment: Mapping[str, str], looking: Progress) -> None:
        """Know where to look.

        Args:
            paths: the profile.
            environment: the hub's address, for names that are addresses of a mirror.
            looking: is told how far a file is hashed; what it raises ends the search.
        """
        self._paths, self._environment, self._looking = paths, environment, looking
        self._library = Library(paths)

    def own(self, build: RemoteBuild, wanted: tuple[Wanted, ...]) -> Found | None:
        """Gram's own, where every file of it lies here with the right bytes."""
        targets = self._library.places(files_of(build))
        if not all(self.is_file(t, w) for t, w in zip(targets, wanted, strict=True)):
            return None
        held = held_of(self._library, key_of(build))
        return Found(held, Reason("download_here", {"name": build.name}))

    def elsewhere(
        self, build: RemoteBuild, wanted: tuple[Wanted, ...], preferences: BuildPreferences
    ) -> Found | None:
        """Another program's, where its bytes are the same: by hash, never by what it says."""
        for found in found_elsewhere(self._paths, preferences).builds:
            if len(found.files) != len(wanted) or found.size_bytes != build.size_bytes:
                continue
            if all(self.is_file(f, w) for f, w in zip(found.files, wanted, strict=True)):
                held = replace(of_others(found), sha256=key_of(build))
                told = {"name": build.name, "programs": ", ".join(held.keepers)}
                return Found(held, Reason("download_elsewhere", told))
        return None

    def is_file(self, path: Path, wanted: Wanted) -> bool:
        """Whether its bytes are those; a hash that is remembered is not worked out again."""
        try:
            return (
                path.stat().st_size == wanted.size_bytes
                and hashes_in(self._paths).sha256(path, self._looking) == wanted.sha256
            )
        except FileNotFoundError:
            return False
        except OSError as e:
            log.info("%s cannot be compared: %s", wanted.name, e.strerror)
            return False

    def called(self, name: str, error: BuildError) -> Found:
        """What is here under the name that was asked for, where the hub does not give it.

        Raises:
            BuildError: `error` where there is none; `build_several`.
        """
        try:
            named = locate_build(self._paths, name, environment=self._environment)
        except BuildError as e:
            raise (e if e.code == "build_several" else error) from e
        if not is_file(named.path) or (named.as_it_is and not _is_gguf(named.path)):
            raise error
        held = self._as_held(named, name)
        if held.keepers and GRAM not in held.keepers:
            told = {"name": held.name, "programs": ", ".join(held.keepers)}
            return Found(held, Reason("download_elsewhere", told))
        return Found(held, Reason("download_here", {"name": held.name}))

    def _as_held(self, named: Named, name: str) -> HeldBuild:
        found = named.copies[0]
        if named.as_it_is:
            return replace(of_others(found), name=name, keepers=())
        if found.places[0].program == GRAM:
            with contextlib.suppress(BuildError):  # else a person put it there
                return held_of(self._library, named.path.parent.name)
        return of_others(found)


def _is_gguf(path: Path) -> bool:
    return path.suffix.lower() == ".gguf"
