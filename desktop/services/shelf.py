"""Builds that are on this machine: Gram's own and other programs'; kept, checked and removed.

All of it reads the disk, so it is never called on the UI thread.
"""

from collections.abc import Iterator
from dataclasses import replace

from desktop.builds.eviction import plan_here
from desktop.builds.hashes import Progress, hashes_in
from desktop.builds.library import Library
from desktop.builds.library_care import Care
from desktop.builds.on_disk.find import find_on_disk, headers_in, here_now
from desktop.builds.preferences import read_preferences
from desktop.builds.quant_labels import label_of
from desktop.errors import BuildError, Reason
from desktop.paths import Paths
from desktop.records.build_events import BuildChecked, BuildRemoved
from desktop.records.library import BuildPreferences, Kept, LibraryEntry
from desktop.records.offers import GRAM, HeldBuild, Shelf
from desktop.records.on_disk import FoundBuild, OnDisk

_LEAST_PREFIX = 8
"""Hex digits of a sha256 that name a build."""


def shelf_of(paths: Paths) -> Shelf:
    """All builds on this machine. Never raises; what cannot be read is told."""
    library = Library(paths)
    preferences, told = read_preferences(paths.settings)
    listed = library.entries()
    others = found_elsewhere(paths, preferences)
    own = [_of_library(library, entry) for entry in listed.entries]
    held = [*_with_keepers(own, others.builds), *_only_elsewhere(own, others.builds)]
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
    """The one of Gram's own that `text` names: its name, its file's name, or how its sha256 begins.

    Raises:
        BuildError: `library_unknown`; `library_several`, naming them.
    """
    told = text.strip().casefold()
    entries = Library(paths).entries().entries
    exact = [e for e in entries if told in {e.sha256, *_names(e)}]
    by_sum = [e for e in entries if len(told) >= _LEAST_PREFIX and e.sha256.startswith(told)]
    found = exact or by_sum
    if not found:
        raise BuildError("library_unknown", name=text)
    if len(found) > 1:
        names = ", ".join(f"{e.name} ({e.sha256[:12]})" for e in found)
        raise BuildError("library_several", name=text, names=names)
    return found[0]


def whole_ones(paths: Paths) -> tuple[LibraryEntry, ...]:
    """Gram's own that are not unfinished downloads."""
    return tuple(e for e in Library(paths).entries().entries if e.kept is Kept.WHOLE)


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
        quantization=label_of(found.files[0].name) or label_of(f"{found.name}.gguf"),
    )


def _of_library(library: Library, entry: LibraryEntry) -> HeldBuild:
    names = tuple(library.row(entry.sha256).files) if entry.ours else (entry.path.name,)
    return HeldBuild(
        entry.name,
        entry.sha256,
        tuple(entry.path.with_name(name) for name in names),
        entry.size_bytes,
        (GRAM,),
        entry.kept,
        entry.ours,
        entry.pinned,
        entry.freed_bytes if entry.ours else 0,
        entry.used_at,
        label_of(entry.path.name),
    )


def _with_keepers(own: list[HeldBuild], others: tuple[FoundBuild, ...]) -> Iterator[HeldBuild]:
    """Gram's own, with the programs that keep the same bytes."""
    for held in own:
        same = (found for found in others if found.first_sha256 == held.sha256)
        programs = [program for found in same for program in _keepers(found)]
        yield replace(held, keepers=(GRAM, *dict.fromkeys(programs)))


def _only_elsewhere(own: list[HeldBuild], others: tuple[FoundBuild, ...]) -> Iterator[HeldBuild]:
    sums = {held.sha256 for held in own}
    return (of_others(found) for found in others if found.first_sha256 not in sums)


def _keepers(found: FoundBuild) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place.program for place in found.places))


def _names(entry: LibraryEntry) -> set[str]:
    """In small letters; with and without the host, and the file's name."""
    name = entry.name.casefold()
    file = entry.path.name.casefold()
    return {name, name.removeprefix("hf.co/"), file, file.removesuffix(".gguf")}
