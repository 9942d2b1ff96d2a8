"""Files to builds: parts of a set together, and one file once, however often it was reached."""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from desktop.builds.hashes import Hashes
from desktop.builds.on_disk.look import Look
from desktop.builds.split_names import part_of
from desktop.builds.split_sets import sum_of
from desktop.records.on_disk import FoundBuild, FoundFile, FoundPlace


@dataclass(frozen=True, slots=True)
class _Whole:
    """A file, or all parts of a split set, where one program keeps it."""

    files: tuple[FoundFile, ...]

    @property
    def place(self) -> FoundPlace:
        first = self.files[0]
        claims = [file.claimed_sha256 for file in self.files]
        return FoundPlace(first.program, first.name, first.path, _sum(claims))


def joined(found: Iterable[FoundFile], hashes: Hashes | None = None) -> tuple[FoundBuild, ...]:
    """Each build once: the same file by any link, and files that were hashed to the same sha256."""
    by_file: dict[tuple[str, ...], FoundBuild] = {}
    for whole in _wholes(found):
        key = tuple(_real(file.path) for file in whole.files)
        new = _build(whole, hashes)
        by_file[key] = _merged(by_file[key], new) if key in by_file else new
    by_hash: dict[object, FoundBuild] = {}
    for key, build in by_file.items():
        same = build.sha256 or key
        by_hash[same] = _merged(by_hash[same], build) if same in by_hash else build
    return tuple(sorted(by_hash.values(), key=lambda b: (b.name.casefold(), b.files)))


def whole_sets(found: Iterable[FoundFile], look: Look) -> list[FoundFile]:
    """Without the sets of which a part is not there."""
    kept: list[FoundFile] = []
    for whole in _wholes(found):
        part = part_of(whole.files[0].path.name)
        if part is not None and len(whole.files) != part[2]:
            counts = {"found": len(whole.files), "count": part[2]}
            look.tell("on_disk_parts", whole.files[0].path, **counts)
        else:
            kept.extend(whole.files)
    return kept


def _wholes(found: Iterable[FoundFile]) -> list[_Whole]:
    """Files with the other parts of their set, in the order in which they were found."""
    sets: dict[tuple[object, ...], dict[int, FoundFile]] = {}
    for n, file in enumerate(found):
        part = part_of(file.path.name)
        if part is None:
            sets[n,] = {0: file}
        else:
            base, index, count = part
            sets.setdefault((file.program, file.path.parent, base, count), {})[index] = file
    return [_Whole(tuple(parts[i] for i in sorted(parts))) for parts in sets.values()]


def _build(whole: _Whole, hashes: Hashes | None) -> FoundBuild:
    known = [hashes.known(file.path) if hashes else None for file in whole.files]
    return FoundBuild(
        (whole.place,),
        tuple(file.path for file in whole.files),
        sum(file.size_bytes for file in whole.files),
        _sum(known),
        known[0],
        whole.files[0].quantization,
    )


def _sum(digests: list[str | None]) -> str | None:
    """What identifies the files together; None unless the sum of each is known."""
    known = [digest for digest in digests if digest]
    return sum_of(known) if len(known) == len(digests) else None


def _merged(first: FoundBuild, other: FoundBuild) -> FoundBuild:
    places = tuple(dict.fromkeys((*first.places, *other.places)))
    return replace(
        first,
        places=places,
        sha256=first.sha256 or other.sha256,
        first_sha256=first.first_sha256 or other.first_sha256,
        quantization=first.quantization or other.quantization,
    )


def _real(path: Path) -> str:
    """What is the same for one file by whatever name: its place on the disk, else its real path."""
    with contextlib.suppress(OSError, ValueError):
        found = path.stat()
        if found.st_ino:
            return f"{found.st_dev}-{found.st_ino}"
    return os.path.realpath(path)
