"""Builds in several files: which files belong together, and what identifies them.

llama.cpp loads such a set by its first file and finds the others by its name, so their names count.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final

from desktop.builds.header import read_header, shown_name
from desktop.builds.split_names import part_of
from desktop.errors import BuildError
from desktop.records.build import Header
from desktop.rules.run_limits import MAX_FILES

COUNT_KEY: Final = "split.count"


@dataclass(frozen=True, slots=True)
class Whole:
    """All files of a build, and the one header that they have together."""

    files: tuple[Path, ...]
    """One, or the parts of a split set in their order."""
    header: Header
    """As of `joined`."""


def read_whole(path: Path) -> Whole:
    """The build of which `path` is the file, or one of its parts; data is not touched.

    Raises:
        BuildError: as `read_header`; `build_part_missing` where a part is not beside the others,
            `build_split` where the file's name does not say which part it is, `gguf_header` where
            the parts do not belong together.
    """
    part = part_of(path.name)
    later = part is not None and part[1] > 1
    header = read_header(path, later_part=later)
    count = header.metadata.get(COUNT_KEY)
    if not isinstance(count, int) or count <= 1:
        # a name alone makes no part; whoever is none has to name its architecture
        return Whole((path,), read_header(path) if later else header)
    files = _parts(path, count)
    headers = [
        header if file == path else read_header(file, later_part=n > 0)
        for n, file in enumerate(files)
    ]
    return Whole(files, joined(headers, [shown_name(file) for file in files]))


def beside(path: Path) -> tuple[Path, ...]:
    """The file, or all parts of the set that its name tells and that are there, in their order.

    By names alone: nothing is read, and a set may lack parts.
    """
    part = part_of(path.name)
    if part is None or part[2] > MAX_FILES:
        return (path,)
    there = tuple(file for file in _named(path, part[0], part[2]) if os.path.isfile(file))  # noqa: PTH113 - pathlib's raises for a folder that is closed
    return there or (path,)


def joined(headers: Sequence[Header], names: Sequence[str]) -> Header:
    """The header of a build from those of all its files: the first one's, with all tensors.

    Each tensor's offset counts from the data of its own file, and `data_offset_bytes` is the first
    file's.

    Args:
        headers: at least one, in the order of the parts.
        names: of the files, for errors.

    Raises:
        BuildError: `gguf_header` where they do not belong together.
    """
    if len(headers) > 1:
        _check(headers, names)
    return replace(headers[0], tensors=tuple(chain.from_iterable(h.tensors for h in headers)))


def sum_of(digests: Sequence[str]) -> str:
    """What identifies a build, from the SHA-256 of each of its files in their order.

    Of one file its own. Of a split set the SHA-256 over the 32 bytes of each, so that it follows
    from what repositories list.
    """
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256(b"".join(bytes.fromhex(digest) for digest in digests)).hexdigest()


def known_sum(digests: Sequence[str | None]) -> str | None:
    """As `sum_of`; None where not all files have one that is known."""
    known = [digest for digest in digests if digest]
    return sum_of(known) if known and len(known) == len(digests) else None


def _parts(path: Path, count: int) -> tuple[Path, ...]:
    part = part_of(path.name)
    if part is None or part[2] != count:
        raise BuildError("build_split", name=shown_name(path), count=count)
    if count > MAX_FILES:
        detail = f"it is one of {count} files, the limit is {MAX_FILES}"
        raise BuildError("gguf_header", name=shown_name(path), detail=detail)
    files, there = _named(path, part[0], count), beside(path)
    missing = [file for file in files if file not in there]
    if missing:
        raise BuildError(
            "build_part_missing", name=shown_name(missing[0]), found=len(there), count=count
        )
    return files


def _named(path: Path, base: str, count: int) -> tuple[Path, ...]:
    """The parts of a set; letters that are not their numbers are as in `path`."""
    end = path.name[len(f"{base}-00000") :]
    return tuple(path.with_name(f"{base}-{n:05}{end}") for n in range(1, count + 1))


def _check(headers: Sequence[Header], names: Sequence[str]) -> None:
    tensors: set[str] = set()
    for number, (header, name) in enumerate(zip(headers, names, strict=True)):
        if (header.metadata.get("split.no"), header.metadata.get(COUNT_KEY)) != (
            number,
            len(headers),
        ):
            raise _apart(name, f"it is not part {number + 1} of {len(headers)}")
        tensors.update(tensor.name for tensor in header.tensors)
    count = sum(len(header.tensors) for header in headers)
    if len(tensors) != count:
        raise _apart(names[0], "its parts hold one tensor twice")
    if headers[0].metadata.get("split.tensors.count") != count:
        raise _apart(names[0], f"its parts hold {count} tensors, which is not what it declares")


def _apart(name: str, detail: str) -> BuildError:
    return BuildError("gguf_header", name=name, detail=detail)
