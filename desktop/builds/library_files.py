"""What lies in Gram's own folder of builds: `builds/<sha256>/<file>`, and what is beside a file."""

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from desktop.builds.hashes import is_sha256
from desktop.builds.names import is_device
from desktop.builds.partial import blocks_bytes, is_journal, is_lock, is_pieces
from desktop.builds.split_names import part_of
from desktop.clock import utc_text

DAMAGED: Final = ".damaged"
"""Behind the name of a file that was set aside."""
_MOST_BYTES: Final = 120
"""Of a stored name: Windows allows 260 characters of a path, of which the folders take over 100."""
_REFUSED: Final = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
_GGUF: Final = ".gguf"


@dataclass(frozen=True, slots=True)
class Lying:
    """The files of one build's folder."""

    whole: Mapping[Path, int]
    """GGUF files and links to such, by name, with their bytes."""
    size_bytes: int
    """Of what lies in the folder itself."""
    freed_bytes: int
    """Of what Gram put there, where it has no other name elsewhere."""
    linked: bool
    """The folder or a file in it is a link: what it leads to is not Gram's to remove."""
    unfinished: bool
    """There are pieces of a download."""
    damaged: bool
    came_at: str | None
    """RFC 3339, UTC, of the newest file; None where the file system's time is none."""


def stored_name(name: str) -> str:
    """A file name that every system takes, as much like `name` as it can be; it ends in `.gguf`.

    The number of a part of a split set stays: the engine finds the others by it.
    """
    own = name.rpartition("/")[2]
    stem = own[: -len(_GGUF)] if own.lower().endswith(_GGUF) else own
    part = part_of(f"{stem}{_GGUF}")
    end = f"-{part[1]:05}-of-{part[2]:05}{_GGUF}" if part else _GGUF
    stem = part[0] if part else stem
    stem = _REFUSED.sub("_", stem.encode("utf-8", "replace").decode()).strip(" .")
    while len((stem + end).encode()) > _MOST_BYTES:
        stem = stem[:-1].rstrip(" .")
    if not stem or is_device(stem):
        stem = f"_{stem}"
    return stem + end


def folders(builds: Path) -> Iterator[Path]:
    """The folders that are named by a sha256.

    Raises:
        OSError: the folder of builds cannot be read.
    """
    try:
        entries = sorted(builds.iterdir())
    except FileNotFoundError:
        if builds.is_symlink():  # its drive is not there
            raise
        return
    yield from (folder for folder in entries if is_sha256(folder.name))


def lying(folder: Path, names: tuple[str, ...]) -> Lying:
    """What lies in a build's folder.

    Args:
        folder: the build's.
        names: the files that it should have; empty: not known.

    Raises:
        OSError: it cannot be read.
    """
    found = {entry.name: entry.lstat() for entry in sorted(folder.iterdir())}
    files = {n: s for n, s in found.items() if stat.S_ISREG(s.st_mode)}
    beside = sum(blocks_bytes(s) for n, s in files.items() if is_pieces(n))
    shown = {n: s for n, s in files.items() if not n.startswith(".")}
    grams = [s for n, s in shown.items() if not names or n in names or n.endswith(DAMAGED)]
    whole = [folder / n for n in found if n.lower().endswith(_GGUF) and not n.startswith(".")]
    return Lying(
        {path: path.stat().st_size for path in whole if path.is_file()},
        sum(s.st_size for s in shown.values()) + beside,
        sum(s.st_size for s in grams if s.st_nlink == 1) + beside,
        any(stat.S_ISLNK(s.st_mode) for s in found.values()) or folder.is_symlink(),
        any(map(is_pieces, files)),
        any(n.endswith(DAMAGED) for n in shown),
        _moment(max((s.st_mtime for s in shown.values()), default=None)),
    )


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    try:
        return utc_text(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, OSError, ValueError):
        return None


def remove_files(folder: Path, names: tuple[str, ...]) -> None:
    """Remove a build's files with what Gram keeps beside them, the first file last.

    A kill in between leaves a build that is known as unfinished. Files that Gram did not name stay,
    and the folder with them.

    Raises:
        OSError: something cannot be removed.
    """
    there = sorted(os.listdir(folder))  # noqa: PTH208 - names
    aside = [n for n in there if is_pieces(n) or is_journal(n) or n.endswith(DAMAGED)]
    for name in (*aside, *reversed(names)):
        (folder / name).unlink(missing_ok=True)
    for name in filter(is_lock, there):
        with contextlib.suppress(OSError):  # Windows keeps a lock that is held
            (folder / name).unlink(missing_ok=True)
    if not os.listdir(folder):  # noqa: PTH208 - only whether there is one
        folder.rmdir()
