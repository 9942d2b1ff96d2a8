"""One connection of a download: takes rows of pieces and brings them to the disk, with patience."""

import os
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import requests

from desktop.builds.board import Board, Row
from desktop.builds.careful_session import CarefulSession
from desktop.builds.control import Control
from desktop.builds.header import MAGIC
from desktop.builds.partial import PIECE_BYTES
from desktop.builds.ranges import PAGE, Answer, FaultError, RefusedError, asked
from desktop.builds.reference import Wanted
from desktop.errors import BuildError


@dataclass(frozen=True, slots=True)
class Manner:
    """How a download is done."""

    connections: int = 4
    piece_bytes: int = PIECE_BYTES
    row_pieces: int = 8
    """Pieces that are asked for at once."""
    faults: int = 8
    """In a row on one connection, without a byte between them, before it is given up."""
    first_faults: int = 3
    """The same before a byte has come at all: then there may be no connection."""
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    session: Callable[[], requests.Session] = CarefulSession
    """Makes what each connection asks with: a `HubSession` where a token is needed."""

    def wait_s(self, faults: int, error: FaultError) -> float:
        """How long to leave the server alone after so many faults."""
        if error.after_s is not None:
            return error.after_s
        longest = min(self.longest_wait_s, self.first_wait_s * 2 ** (faults - 1))
        return random.uniform(longest / 2, longest)  # noqa: S311 - so that connections do not meet


@dataclass(frozen=True, slots=True)
class Connection:
    """Work for one thread."""

    wanted: Wanted
    board: Board
    control: Control
    manner: Manner
    more: Callable[[], None]
    """Called once, when the server has shown that more connections can help."""

    def run(self) -> None:
        """Until all is there.

        Raises:
            FaultError, RefusedError, StoppedError, OSError: why it is given up.
        """
        with self.manner.session() as session, self.board.partial.path.open("r+b", 0) as file:
            while (row := self.board.take(self.manner.row_pieces)) is not None:
                self._fetch(session, file, row)

    def _fetch(self, session: requests.Session, file: BinaryIO, row: Row) -> None:
        faults = 0
        while row.pieces and not self.board.over:
            before = row.at
            self.control.check()
            try:
                with asked(session, self.wanted, row.at, row.pieces[-1].end) as answer:
                    self._read(answer, file, row)
            except FaultError as e:
                faults = 1 if row.at > before else faults + 1
                if faults >= (self.manner.faults if self.board.begun else self.manner.first_faults):
                    raise
                self.control.wait(self.manner.wait_s(faults, e))

    def _read(self, answer: Answer, file: BinaryIO, row: Row) -> None:
        """What comes, into the row's pieces."""
        try:
            if self.board.begin(answer, row):
                self.more()
            at = answer.start
            for block in answer.blocks:
                self.control.spend(len(block))
                if not at:
                    self._check_magic(block)
                if self.board.over:
                    return
                self._store(block, at, file, row)
                at += len(block)
                if not row.pieces:
                    return
            raise FaultError("the connection broke off")
        finally:
            self.board.end()

    def _check_magic(self, block: bytes) -> None:
        if block.lstrip()[:1] == b"<":
            detail = PAGE
        elif not block.startswith(MAGIC[: len(block)]):
            detail = "what came is not a GGUF file"
        else:
            return
        raise RefusedError(BuildError("download_failed", name=self.wanted.name, detail=detail))

    def _store(self, block: bytes, at: int, file: BinaryIO, row: Row) -> None:
        """Write what of a block, which begins at `at`, belongs to the row."""
        end = at + len(block)
        while row.pieces and row.at < end:
            piece = row.pieces[0]
            part = block[row.at - at : piece.end - at]
            file.seek(row.at)
            _write(file, part)
            row.checksum = zlib.crc32(part, row.checksum)
            row.at += len(part)
            self.board.came(len(part))
            if row.at == piece.end:
                # first on the disk, then in the journal
                os.fsync(file.fileno())
                self.board.keep(piece, row.checksum)
                row.step()


def _write(file: BinaryIO, part: bytes) -> None:
    """All of it: a file without a buffer may take less at once."""
    view = memoryview(part)
    while view:
        view = view[file.write(view) :]
