"""A download that is not whole yet: the pieces that are kept, and a journal that says which.

The journal holds a checksum of each kept piece, so that whatever was on its way to the disk when
the program was killed or the power failed is found out and fetched again, and only that.
"""

import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Final

from desktop.own_files import never_a_pipe

PIECE_BYTES: Final = 8 << 20
"""So much at most is lost of each connection."""
SPARE_BYTES: Final = 64 << 20
"""Left free on the disk: other programs write too."""
_PART: Final = ".partial"
_JOURNAL: Final = ".pieces"
_LOCK: Final = ".lock"
_VERSION: Final = 1
_GONE: Final = "-"
_BLOCK_BYTES: Final = 1 << 18
_FIELDS: Final = 2
_STAT_BLOCK_BYTES: Final = 512
"""Of `st_blocks`, whatever the file system's own block is."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the file; all are equally large but the last."""

    index: int
    start: int
    size: int

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.start + self.size


class Partial:
    """The pieces of one file, beside the place where it will be. Not for two processes at once."""

    def __init__(
        self, target: Path, size_bytes: int, sha256: str, piece_bytes: int = PIECE_BYTES
    ) -> None:
        """Go on with what is there of the same file; begin anew where it is of another.

        Raises:
            OSError: the folder cannot be written.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        self._target = target
        self._head = {"v": _VERSION, "size": size_bytes, "sha256": sha256, "piece": piece_bytes}
        self.pieces = tuple(
            Piece(i, start, min(piece_bytes, size_bytes - start))
            for i, start in enumerate(range(0, size_bytes, piece_bytes))
        )
        """All of them, in order."""
        self.path = _part_of(target)
        self._journal_path = left_of(target)[1]
        self._kept = self._read()
        self._journal = self._begin()

    @property
    def kept_bytes(self) -> int:
        """Of the pieces that the journal has."""
        return sum(piece.size for piece in self.pieces if piece.index in self._kept)

    def has(self, piece: Piece) -> bool:
        """Whether the journal has it. What lies on the disk is told by `read`."""
        return piece.index in self._kept

    def keep(self, piece: Piece, checksum: int) -> None:
        """Note a piece whose bytes are on the disk.

        Raises:
            OSError: the journal cannot be written.
        """
        self._kept[piece.index] = checksum
        self._note(f"{piece.index} {checksum:08x}")

    def drop(self, piece: Piece) -> None:
        """Note that a piece is to be fetched again.

        Raises:
            OSError: the journal cannot be written.
        """
        self._kept.pop(piece.index, None)
        self._note(f"{piece.index} {_GONE}")

    def read(self, file: FileIO, piece: Piece) -> Iterator[memoryview]:
        """A kept piece's bytes, in blocks; what was kept of it is right once all have come.

        A block is overwritten by the next: memory for each anew costs more than hashing it.

        Raises:
            DamagedPieceError: behind the last block, where the bytes are not those that were kept.
            OSError: the disk cannot be read.
        """
        file.seek(piece.start)
        buffer = memoryview(bytearray(min(_BLOCK_BYTES, piece.size)))
        checksum, left = 0, piece.size
        while left and (size := file.readinto(buffer[:left])):
            checksum = zlib.crc32(buffer[:size], checksum)
            left -= size
            yield buffer[:size]
        if left or checksum != self._kept.get(piece.index):
            raise DamagedPieceError

    def finish(self) -> None:
        """Put the whole file in its place and remove the journal.

        Raises:
            OSError: the disk does not take it.
        """
        self._journal.close()
        self.path.replace(self._target)
        self._journal_path.unlink(missing_ok=True)

    def close(self) -> None:
        """Leave what is there for another time."""
        self._journal.close()

    def remove(self) -> None:
        """Leave nothing."""
        self._journal.close()
        self.path.unlink(missing_ok=True)
        self._journal_path.unlink(missing_ok=True)

    def _read(self) -> dict[int, int]:
        """The journal's pieces; a torn last line is none."""
        try:
            with open(self._journal_path, encoding="ascii", opener=never_a_pipe) as file:
                lines = file.read().split("\n")
            if json.loads(lines[0]) != self._head or not self.path.is_file():
                return {}
        except (OSError, ValueError, RecursionError):
            return {}
        kept: dict[int, int] = {}
        for line in lines[1:-1]:
            index, checksum = _entry(line)
            if checksum is None:
                kept.pop(index, None)
            else:
                kept[index] = checksum
        return kept

    def _begin(self) -> BinaryIO:
        """The journal, open for more lines, and a file of the full size without its bytes."""
        if not self._kept:
            with open(self.path, "wb", opener=never_a_pipe) as part:
                part.truncate(sum(piece.size for piece in self.pieces))
            head = json.dumps(self._head).encode("ascii") + b"\n"
            with open(self._journal_path, "wb", opener=never_a_pipe) as file:
                file.write(head)
        journal = open(self._journal_path, "ab", opener=never_a_pipe)  # noqa: SIM115 - kept open
        journal.write(b"\n")  # behind a line that was torn
        return journal

    def _note(self, line: str) -> None:
        self._journal.write(f"{line}\n".encode("ascii"))
        self._journal.flush()
        os.fsync(self._journal.fileno())


def taken_bytes(target: Path) -> int:
    """What an unfinished download to `target` takes of the disk already; 0 where there is none.

    Where files have holes (Linux, macOS) only what has come takes any.
    """
    try:
        return blocks_bytes(_part_of(target).stat())
    except OSError:
        return 0


def blocks_bytes(found: os.stat_result) -> int:
    """What a file takes of the disk; its size where the system does not say."""
    blocks = getattr(found, "st_blocks", None)
    return found.st_size if blocks is None else int(blocks) * _STAT_BLOCK_BYTES


def left_of(target: Path) -> tuple[Path, Path]:
    """What an unfinished download to `target` leaves beside it: its bytes, and its journal."""
    return _part_of(target), _beside(target, _JOURNAL)


def lock_of(target: Path) -> Path:
    """The lock that is held while `target` is downloaded."""
    return _beside(target, _LOCK)


def is_pieces(name: str) -> bool:
    """Whether a file is called as the bytes of an unfinished download."""
    return name.startswith(".") and name.endswith(_PART)


def is_journal(name: str) -> bool:
    """Whether a file is called as the journal of one."""
    return name.startswith(".") and name.endswith(_JOURNAL)


def is_lock(name: str) -> bool:
    """Whether a file is called as the lock of a download."""
    return name.startswith(".") and name.endswith(_LOCK)


def _part_of(target: Path) -> Path:
    return _beside(target, _PART)


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(f".{target.name}{ending}")


class DamagedPieceError(Exception):
    """What lies on the disk is not what was kept."""


def _entry(line: str) -> tuple[int, int | None]:
    """A line's piece and checksum; -1 of a line that says nothing."""
    fields = line.split(" ")
    if len(fields) != _FIELDS or not fields[0].isdecimal():
        return -1, None
    try:
        return int(fields[0]), None if fields[1] == _GONE else int(fields[1], 16)
    except ValueError:
        return -1, None
