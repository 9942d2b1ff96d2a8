"""Builds by name, for all doors: files, Gram's own, and what other programs keep here.

They are measured where they lie. Of a build of Gram's own it is noted that it was used, so that it
is not removed for one that was used longer ago.
"""

import logging
import os
from collections.abc import Iterable

from desktop.builds.hashes import Progress, hashes_in, is_sha256
from desktop.builds.library import Library
from desktop.builds.preferences import read_preferences
from desktop.builds.store import Named, build_of, locate
from desktop.errors import BuildError
from desktop.paths import Paths
from desktop.records.build import LocalBuild
from desktop.records.on_disk import FoundBuild
from desktop.services.shelf import found_elsewhere

log = logging.getLogger(__name__)


def locate_build(paths: Paths, text: str, called: str | None = None) -> Named:
    """What `text` means; nothing is hashed.

    Where it is no file and none of Gram's own, it is searched among what other programs keep, which
    takes up to half a minute for each of them.

    Args:
        paths: the profile.
        text: as the person wrote it.
        called: with a path, the name by which its keeper knows it: a blob's own name says nothing.

    Raises:
        BuildError: as `store.locate`.
    """
    named = locate(text, paths, lambda: _elsewhere(paths))
    if called is None or not named.as_it_is:
        return named
    try:
        kept = locate(called, paths, lambda: _elsewhere(paths)).copies
    except BuildError as e:
        log.info("%s is known by its file's name only: %s", called, e)
        return named
    same = [found for found in kept if found.files[0] == named.path]
    return Named((same[0],)) if same else named


def identify_build(paths: Paths, named: Named, progress: Progress | None = None) -> LocalBuild:
    """Read and hash what was located; a hash that is remembered is not worked out again.

    Raises:
        BuildError: as `store.build_of`. Whatever `progress` raises, to stop.
    """
    return build_of(named, hashes_in(paths), progress)


def named_build(paths: Paths, text: str, progress: Progress | None = None) -> LocalBuild:
    """The build that `text` means, whoever keeps it.

    Raises:
        BuildError: as both.
    """
    return identify_build(paths, locate_build(paths, text), progress)


def note_use(paths: Paths, local: LocalBuild) -> None:
    """Note that a build is used now, where it is Gram's own. Never raises: a run needs no note."""
    folder = local.path.parent
    own = os.path.realpath(folder.parent) == os.path.realpath(paths.builds)
    if not own or not is_sha256(folder.name):
        return
    try:
        Library(paths).use(folder.name)
    except BuildError as e:
        log.warning("that %s is used is not noted: %s", local.build.name, e)


def _elsewhere(paths: Paths) -> Iterable[FoundBuild]:
    preferences, told = read_preferences(paths.settings)
    found = found_elsewhere(paths, preferences)
    for reason in (*told, *found.told):
        log.info("looking for builds: %s", reason.text())
    return found.builds
