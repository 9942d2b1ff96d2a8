"""Builds by name, for all doors: files, Gram's own, and what other programs keep here.

They are measured where they lie. It is noted when each was used: of Gram's own so that it is not
removed for one that was used longer ago, of others' only to be shown.
"""

import contextlib
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path

from desktop.builds.calling import meant
from desktop.builds.choosing import choose
from desktop.builds.endpoints import endpoint_of
from desktop.builds.hashes import Progress, hashes_in, is_sha256
from desktop.builds.library import Library
from desktop.builds.listings import Listings
from desktop.builds.memory import identity
from desktop.builds.names import BuildName, parse_name
from desktop.builds.own_builds import own_builds
from desktop.builds.preferences import read_preferences
from desktop.builds.split_sets import known_sum
from desktop.builds.store import Named, build_of, locate
from desktop.clock import utc_now, utc_text
from desktop.errors import BuildError
from desktop.paths import Paths
from desktop.records.build import LocalBuild
from desktop.records.on_disk import FoundBuild
from desktop.services.shelf import found_elsewhere, uses_in

log = logging.getLogger(__name__)


def locate_build(
    paths: Paths,
    text: str,
    called: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Named:
    """What `text` means; nothing is hashed.

    Where it is no file and none of Gram's own, it is searched among what other programs keep, which
    takes up to half a minute for each of them. Where none is called so, what its repository listed
    last tells the sums of its files: a build with those is meant.

    Args:
        paths: the profile.
        text: as the person wrote it.
        called: with a path, the name by which its keeper knows it: a blob's own name says nothing.
        environment: the hub's address, `HF_ENDPOINT`.

    Raises:
        BuildError: as `store.locate`.
    """
    others = _Once(paths)
    text = _without_mirror(text, environment)
    try:
        named = locate(text, paths, others)
    except BuildError as e:
        same = _of_listing(paths, text, others) if e.code == "build_not_here" else ()
        if not same:
            raise
        return Named(same)
    if called is None or not named.as_it_is:
        return named
    try:
        kept = locate(called, paths, others).copies
    except BuildError as e:
        log.info("%s is known by its file's name only: %s", called, e)
        return named
    same = tuple(found for found in kept if found.files[0] == named.path)
    return Named(same[:1]) if same else named


def identify_build(paths: Paths, named: Named, progress: Progress | None = None) -> LocalBuild:
    """Read and hash what was located; a hash that is remembered is not worked out again.

    Raises:
        BuildError: as `store.build_of`. Whatever `progress` raises, to stop.
    """
    return build_of(named, paths, hashes_in(paths), progress)


def note_use(paths: Paths, local: LocalBuild) -> None:
    """Note that a build is used now, whoever keeps it. Never raises: a run needs no note."""
    folder = local.path.parent
    own = os.path.realpath(folder.parent) == os.path.realpath(paths.builds)
    if not own or not is_sha256(folder.name):
        with contextlib.suppress(OSError):
            moment = utc_text(utc_now())
            uses_in(paths).remember({identity(local.path.stat()): moment})
        return
    try:
        Library(paths).use(folder.name)
    except BuildError as e:
        log.warning("that %s is used is not noted: %s", local.build.name, e)


def others_here(paths: Paths) -> tuple[FoundBuild, ...]:
    """What other programs and the person's own folders hold; what could not be read is logged."""
    preferences, told = read_preferences(paths.settings)
    found = found_elsewhere(paths, preferences)
    for reason in (*told, *found.told):
        log.info("looking for builds: %s", reason.text())
    return found.builds


class _Once:
    """What others keep, looked for when it is first asked for."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def __call__(self) -> tuple[FoundBuild, ...]:
        return self._found

    @cached_property
    def _found(self) -> tuple[FoundBuild, ...]:
        return others_here(self._paths)


def hub_name(text: str, environment: Mapping[str, str]) -> BuildName | Path:
    """As `parse_name`, with the addresses of the mirror that `HF_ENDPOINT` names."""
    try:
        return parse_name(text, endpoint_of(environment))
    except BuildError:  # it is no address, so nothing can be one of it
        return parse_name(text)


def _without_mirror(text: str, environment: Mapping[str, str]) -> str:
    """An address of the mirror as the name that it is."""
    name = hub_name(text, environment) if "://" in text else None
    return str(name) if isinstance(name, BuildName) else text


def _of_listing(
    paths: Paths, text: str, others: Callable[[], Iterable[FoundBuild]]
) -> tuple[FoundBuild, ...]:
    """Builds here whose sums are those that a repository listed last under the name `text`."""
    name = parse_name(text)
    if not isinstance(name, BuildName) or name.revision is not None:
        return ()
    remembered = Listings(paths.data).of(name.repository)
    if remembered is None:
        return ()
    try:
        build = choose(remembered.listing, name)
    except BuildError as e:
        log.info("%s is not in what its repository listed: %s", text, e)
        return ()
    wanted = known_sum([file.sha256 for file in build.files])
    if wanted is None:
        return ()
    return meant(wanted, own_builds(paths)) or meant(wanted, others())
