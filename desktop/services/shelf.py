"""Builds that are on this machine: Gram's own and other programs'; kept, checked and removed.

All of it reads the disk, so it is never called on the UI thread.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from desktop.builds.calling import alike, meant
from desktop.builds.eviction import plan_here
from desktop.builds.hashes import Progress, hashes_in
from desktop.builds.library import Library
from desktop.builds.library_care import Care
from desktop.builds.memory import Memory, identity
from desktop.builds.names import folded
from desktop.builds.on_disk.find import find_on_disk, headers_in, here_now
from desktop.builds.on_disk.kinds import Headers
from desktop.builds.own_builds import as_found
from desktop.builds.preferences import read_preferences
from desktop.builds.quant_labels import label_of
from desktop.builds.reference import reference
from desktop.builds.split_sets import sum_of
from desktop.clock import is_utc_text
from desktop.errors import BuildError, Reason
from desktop.paths import Paths
from desktop.records.build_events import BuildChecked, BuildRemoved
from desktop.records.library import BuildPreferences, Kept, LibraryEntry, Listed
from desktop.records.offers import GRAM, HeldBuild, Shelf
from desktop.records.on_disk import FoundBuild, FoundPlace, OnDisk
from desktop.records.request import REFERENCE


def shelf_of(paths: Paths) -> Shelf:
    """All builds on this machine. Never raises; what cannot be read is told."""
    library = Library(paths)
    preferences, told = read_preferences(paths.settings)
    listed = library.entries()
    others = found_elsewhere(paths, preferences)
    headers = Headers(headers_in(paths))
    own = [_by_header(_of_library(library, entry), headers) for entry in listed.entries]
    headers.keep()
    elsewhere = _only_elsewhere(own, others.builds, uses_in(paths))
    held = [*_with_keepers(own, others.builds), *elsewhere]
    shelf = Shelf(
        tuple(sorted(held, key=lambda h: h.name.casefold())),
        listed.size_bytes,
        told=(*told, *listed.told, *others.told),
    )
    try:
        plan = plan_here(library, paths, 0, budget_gb=preferences.budget_gb)
    except BuildError as e:
        return replace(shelf, told=(*shelf.told, e.reason))
    return replace(shelf, budget_bytes=plan.budget_bytes, free_bytes=plan.free_bytes)


def found_elsewhere(paths: Paths, preferences: BuildPreferences) -> OnDisk:
    """What other programs and the person's own folders hold. Never raises."""
    try:
        here = here_now(paths)
    except RuntimeError as e:
        told = Reason("on_disk_unreadable", {"program": GRAM, "name": "~", "detail": str(e)})
        return OnDisk(told=(told,))
    return find_on_disk(
        here,
        folders=preferences.folders,
        hashes=hashes_in(paths),
        headers=headers_in(paths),
    )


def own_build(paths: Paths, text: str) -> LibraryEntry:
    """The one of Gram's own that `text` names, in any of the ways of `meant_build`.

    Raises:
        BuildError: as `meant_build`; `library_others`, naming who keeps it.
    """
    found = meant_build(paths, text)
    if isinstance(found, LibraryEntry):
        return found
    raise BuildError("library_others", name=found.name, programs=", ".join(_keepers(found)))


def meant_build(paths: Paths, text: str) -> LibraryEntry | FoundBuild:
    """The build here that `text` names: by its path, by a name, or by how its sha256 begins.

    Gram's own come first, unfinished ones too; only where it is none of them, other programs are
    looked through.

    Raises:
        BuildError: `library_unknown`; `library_several`, naming them; as `calling.alike`.
    """
    told = reference().sha256 if text == REFERENCE else text
    entries = {entry.sha256: entry for entry in Library(paths).entries().entries}
    named = _called(told, map(as_found, entries.values()))
    own = [entries[build.first_sha256] for build in named if build.first_sha256]
    if len(own) > 1:
        names = ", ".join(f"{e.name} ({e.sha256[:12]})" for e in own)
        raise BuildError("library_several", name=text, names=names)
    if own:
        return own[0]
    others = found_elsewhere(paths, read_preferences(paths.settings)[0]).builds
    found = _called(told, others)
    if not found:
        raise BuildError("library_unknown", name=text)
    return alike(found, text)[0]


def _called(text: str, builds: Iterable[FoundBuild]) -> tuple[FoundBuild, ...]:
    """Those that a path means, else those of that name."""
    builds, path = tuple(builds), os.path.realpath(os.path.expanduser(text))  # noqa: PTH111
    at = (b for b in builds if path in {os.path.realpath(file) for file in b.files})
    return tuple(at) or meant(text, builds)


def to_check(paths: Paths) -> Listed:
    """Gram's own that are not unfinished downloads; what was set aside is told of each time."""
    listed = Library(paths).entries()
    return Listed(tuple(e for e in listed.entries if e.kept is not Kept.PART), listed.told)


def delete(paths: Paths, entry: LibraryEntry) -> BuildRemoved:
    """Remove one of Gram's own.

    Raises:
        BuildError: as `Care.delete`.
    """
    freed_bytes = Care(Library(paths), paths).delete(entry.sha256)
    return BuildRemoved(entry.name, freed_bytes)


def pin(paths: Paths, entry: LibraryEntry, *, pinned: bool) -> None:
    """Keep one whatever the budget says, or no more.

    Raises:
        BuildError: `library_not_ours`, `library_write`.
    """
    if not entry.ours:
        raise BuildError("library_not_ours", name=entry.name)
    Library(paths).pin(entry.sha256, pinned=pinned)


def verify(paths: Paths, entry: LibraryEntry, progress: Progress | None = None) -> BuildChecked:
    """Read one again from end to end.

    Raises:
        BuildError: as `Care.check`. Whatever `progress` raises, to stop.
    """
    return BuildChecked(entry.name, Care(Library(paths), paths).check(entry.sha256, progress))


def held_of(library: Library, sha256: str) -> HeldBuild:
    """One of Gram's own, as it lies there.

    Raises:
        BuildError: `library_unknown`.
    """
    return _of_library(library, library.entry(sha256))


def of_others(found: FoundBuild) -> HeldBuild:
    """What another program keeps."""
    return HeldBuild(
        found.name,
        found.first_sha256,
        found.files,
        found.size_bytes,
        _keepers(found),
        quantization=found.quantization or _label(found),
        also=_also(found.name, found.places),
        build_sha256=found.sha256,
    )


def uses_in(paths: Paths) -> Memory:
    """When builds of other programs were measured in this profile: RFC 3339, UTC, by file."""
    return Memory(paths.cache / "uses.json")


def _of_library(library: Library, entry: LibraryEntry) -> HeldBuild:
    files = library.row(entry.sha256).files if entry.ours else {entry.path.name: entry.sha256}
    return HeldBuild(
        entry.name,
        entry.sha256,
        tuple(entry.path.with_name(name) for name in files),
        entry.size_bytes,
        (GRAM,),
        entry.kept,
        entry.ours,
        entry.pinned,
        entry.freed_bytes if entry.ours else 0,
        entry.used_at,
        label_of(entry.path.name),
        entry.whole_bytes,
        build_sha256=sum_of(tuple(files.values())),
    )


def _by_header(held: HeldBuild, headers: Headers) -> HeldBuild:
    """With the quantization that its header tells, where it is whole and can be read."""
    label = None
    if held.kept is Kept.WHOLE:
        with contextlib.suppress(OSError, BuildError):
            label = headers.quantization(held.files[0], held.files[0].stat())
    return replace(held, quantization=label or held.quantization)


def _with_keepers(own: list[HeldBuild], others: tuple[FoundBuild, ...]) -> Iterator[HeldBuild]:
    """Gram's own, with the programs that keep the same bytes."""
    for held in own:
        same = [found for found in others if _is_same(found, held)]
        programs = [program for found in same for program in _keepers(found)]
        also = _also(held.name, (place for found in same for place in found.places))
        yield replace(held, keepers=(GRAM, *dict.fromkeys(programs)), also=also)


def _only_elsewhere(
    own: list[HeldBuild], others: tuple[FoundBuild, ...], uses: Memory
) -> Iterator[HeldBuild]:
    for found in others:
        if not any(_is_same(found, held) for held in own):
            yield replace(of_others(found), used_at=_used_at(found, uses))


def _is_same(found: FoundBuild, held: HeldBuild) -> bool:
    """By the first file where not all are hashed: sets may differ in a later one."""
    if found.sha256 and held.build_sha256:
        return found.sha256 == held.build_sha256
    return found.first_sha256 is not None and found.first_sha256 == held.sha256


def _used_at(found: FoundBuild, uses: Memory) -> str | None:
    with contextlib.suppress(OSError):
        moment = uses.known(identity(found.files[0].stat()))
        return moment if is_utc_text(moment) else None
    return None


def _label(found: FoundBuild) -> str | None:
    return label_of(found.files[0].name) or label_of(f"{found.name}.gguf")


def _also(name: str, places: Iterable[FoundPlace]) -> tuple[str, ...]:
    """The names of the places that are not `name`, each once."""
    names = {folded(place.name): place.name for place in places}
    names.pop(folded(name), None)
    return tuple(names.values())


def _keepers(found: FoundBuild) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place.program for place in found.places))
