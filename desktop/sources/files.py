"""Small text files of `/proc`, `/sys` and `/etc`. Not there, not allowed, not text: None."""

import os
import stat
from pathlib import Path
from typing import Final

from desktop.sources.numbers import DIGITS, whole
from desktop.sources.texts import BETWEEN_LINES, line, printable

MOST_BYTES = 8 * 1024 * 1024
"""Enough for `/proc/cpuinfo` of the largest servers; a wrong path never fills the memory."""
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
"""A pipe that nobody writes to would hold its reader for ever."""


def read_text(path: Path, most_bytes: int = MOST_BYTES) -> str | None:
    """The text of one file, cut after `most_bytes`; what is not to be shown is replaced.

    Only of a regular file, as all of `/proc` and `/sys` are: pipes, devices and sockets give None.
    """
    try:
        with open(path, "rb", opener=_open) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            text = file.read(most_bytes).decode("utf-8", errors="replace")
            return printable(text, BETWEEN_LINES)
    except (OSError, ValueError):
        # ValueError: a NUL in the path
        return None


def _open(path: str, _: int) -> int:
    return os.open(path, _FLAGS)


def read_line(path: Path) -> str | None:
    """The content of a one-line file (`texts.line`); None when it is empty or not there."""
    text = read_text(path, 4096)
    return line(text) if text is not None else None


def read_integer(path: Path) -> int | None:
    """An integer, decimal or `0x…`, of at most 18 digits; None when it holds anything else."""
    told = read_line(path)
    if told is None or not told.lower().startswith("0x"):
        return whole(told)
    try:
        return whole(int(told[: DIGITS + 2], 16)) if len(told) <= DIGITS + 2 else None
    except ValueError:
        return None


def link_name(path: Path) -> str | None:
    """The last part of what a link points to: `driver -> …/drivers/amdgpu` gives `amdgpu`."""
    try:
        return line(path.resolve(strict=True).name) if path.is_symlink() else None
    except (OSError, RuntimeError):
        return None


def children(folder: Path, pattern: str = "*") -> tuple[Path, ...]:
    """The entries of a folder that match, sorted by name; none when it is not there."""
    try:
        return tuple(sorted(folder.glob(pattern)))
    except OSError:
        return ()


def read_lines_of(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Several one-line files of one folder; those that are not there are left out."""
    lines = {name: read_line(folder / name) for name in names}
    return {name: told for name, told in lines.items() if told is not None}
