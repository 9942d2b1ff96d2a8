"""Small text files of `/proc`, `/sys` and `/etc`. Not there, not allowed, not text: None."""

from pathlib import Path

MOST_BYTES = 8 * 1024 * 1024
"""Enough for `/proc/cpuinfo` of the largest servers; a wrong path never fills the memory."""


def read_text(path: Path, most_bytes: int = MOST_BYTES) -> str | None:
    """The text of one file, undecodable bytes replaced, cut after `most_bytes`."""
    try:
        with path.open("rb") as file:
            return file.read(most_bytes).decode("utf-8", errors="replace")
    except OSError:
        return None


def read_line(path: Path) -> str | None:
    """The stripped content of a one-line file; None when it is empty or not there."""
    text = read_text(path, 4096)
    return (text.replace("\0", "").strip() or None) if text is not None else None


def read_integer(path: Path) -> int | None:
    """An integer, decimal or `0x…`; None when the file holds anything else."""
    line = read_line(path)
    try:
        return int(line, 0) if line is not None else None
    except ValueError:
        return None


def link_name(path: Path) -> str | None:
    """The last part of what a link points to: `driver -> …/drivers/amdgpu` gives `amdgpu`."""
    try:
        return path.resolve(strict=True).name if path.is_symlink() else None
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
    return {name: line for name, line in lines.items() if line is not None}
