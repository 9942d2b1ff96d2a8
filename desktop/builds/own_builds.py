"""What lies in Gram's own folder of builds, by the names that the library has for it."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from desktop.builds.header import shown_name
from desktop.builds.library import LIST, Library
from desktop.builds.library_entry import made
from desktop.builds.library_index import LibraryIndex, Row
from desktop.builds.on_disk.here import is_file
from desktop.builds.split_names import part_of
from desktop.builds.split_sets import beside, sum_of
from desktop.paths import Paths
from desktop.records.library import Kept, LibraryEntry
from desktop.records.offers import GRAM
from desktop.records.on_disk import FoundBuild, FoundPlace


def own_builds(paths: Paths) -> Iterator[FoundBuild]:
    """GGUF files at `builds/<sha256>/<file>`, and those a person put into `builds/`.

    Nothing of them is read or hashed; a split set is one build, and may lack parts.
    """
    rows = _rows(paths)
    for pattern in ("*.gguf", "*/*.gguf"):
        for path in sorted(paths.builds.glob(pattern)):
            if is_file(path) and not path.name.startswith(".") and _is_first(path):
                yield _found(path, rows)


def unfinished(paths: Paths) -> Iterator[tuple[FoundBuild, Kept]]:
    """Builds that were begun and are not whole: unfinished downloads, and what was set aside."""
    for entry in Library(paths).entries().entries:
        if entry.kept is not Kept.WHOLE:
            yield as_found(entry), entry.kept


def as_found(entry: LibraryEntry) -> FoundBuild:
    """One of the library's as names are looked up; whole or not, it is known by its first file."""
    place = FoundPlace(GRAM, entry.name, entry.path)
    return FoundBuild((place,), (entry.path,), entry.size_bytes, first_sha256=entry.sha256)


def found_at(path: Path, paths: Paths) -> FoundBuild:
    """The build of the file at `path`, wherever it lies; nothing of it is read.

    Its place is `path` whichever part it may be: only its header tells whether it is one.
    """
    own = os.path.realpath(path.parent.parent) == os.path.realpath(paths.builds)
    return _found(path, _rows(paths) if own else {})


def _rows(paths: Paths) -> Mapping[str, Row]:
    return LibraryIndex(paths.data / LIST).read()[0]


def _is_first(path: Path) -> bool:
    """Whether it stands for its set; a part whose first one is lost stands for itself."""
    part = part_of(path.name)
    return part is None or beside(path)[0] == path


def _found(path: Path, rows: Mapping[str, Row]) -> FoundBuild:
    files = beside(path)
    row = rows.get(path.parent.name) or made(path.parent.name, "")
    place = FoundPlace(GRAM, shown_name(path), path)
    if row is not None and tuple(row.files) == tuple(file.name for file in files):
        # what was fetched under that name had these sums
        known = sum_of(tuple(row.files.values()))
        place = FoundPlace(GRAM, row.name, path, known, row.private)
    return FoundBuild((place,), files, sum(map(_size_bytes, files)))


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
