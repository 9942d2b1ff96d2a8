"""Downloads one file over several connections: goes on where it was, keeps nothing that is wrong.

Pieces are fetched in rows of neighbours, each row by one connection. Behind them one thread reads
what is kept, in order, and hashes it: so the checksum of the whole is there a moment after the last
byte, and what an earlier start left is verified before it counts. A fault is tried again where it
happened, with patience that ends; what has come stays either way.

The threads of a download are these: a few connections, the hashing one, and the caller's, which
tells progress.
"""

import hashlib
import os
import random
import shutil
import threading
import zlib
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import requests
from filelock import FileLock, Timeout

from desktop.builds.control import Control
from desktop.builds.hashes import Progress
from desktop.builds.partial import PIECE_BYTES, DamagedPieceError, Partial, Piece, taken_bytes
from desktop.builds.ranges import Answer, FaultError, RefusedError, asked
from desktop.builds.reference import Wanted
from desktop.errors import BuildError

_MAGIC: Final = b"GGUF"
_SPARE_BYTES: Final = 64 << 20
"""Left free on the disk: other programs write too."""
_TOLD_EACH_S: Final = 0.1
_LAST_WORD_S: Final = 1.0


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


def download(
    wanted: Wanted,
    target: Path,
    progress: Progress,
    control: Control | None = None,
    manner: Manner | None = None,
) -> None:
    """Bring `wanted` to `target`, whole and checked, or leave what has come for another time.

    Args:
        wanted: where it is and what it must be.
        target: where it goes; beside it lies what is not whole yet.
        progress: called with (bytes done, bytes in all) ten times a second; an error that it raises
            ends the download.
        control: to pause, slow and stop it.
        manner: connections and patience.

    Raises:
        BuildError: `download_failed`, `download_gated`, `download_gone`, `download_corrupt`,
            `download_disk`, `download_busy`.
        StoppedError: it was stopped by `control`.
    """
    manner = manner or Manner()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(f".{target.name}.lock"), timeout=0):
            _check_room(wanted, target)
            partial = Partial(target, wanted.size_bytes, wanted.sha256, manner.piece_bytes)
            try:
                _Download(wanted, partial, control or Control(), manner).run(progress)
            finally:
                partial.close()
    except Timeout as e:
        raise BuildError("download_busy", name=wanted.name) from e
    except OSError as e:
        raise _disk(wanted, e) from e


def _check_room(wanted: Wanted, target: Path) -> None:
    free = shutil.disk_usage(target.parent).free
    needed = wanted.size_bytes - taken_bytes(target) + _SPARE_BYTES
    if free < needed:
        told = {"need_mb": needed >> 20, "free_mb": free >> 20}
        raise BuildError("download_room", name=wanted.name, **told)


def _disk(wanted: Wanted, error: OSError) -> BuildError:
    detail = error.strerror or "the disk does not take it"
    return BuildError("download_disk", name=wanted.name, detail=detail)


@dataclass(slots=True)
class _Row:
    """Neighbouring pieces of one request, and how far it has come."""

    pieces: deque[Piece]
    at: int
    """The next byte."""
    checksum: int = 0
    """Of the first piece's bytes before `at`."""


class _Download:
    """One download from its start to its end; `run` once."""

    def __init__(self, wanted: Wanted, partial: Partial, control: Control, manner: Manner) -> None:
        self._wanted, self._partial = wanted, partial
        self._control, self._manner = control, manner
        self._changed = threading.Condition()
        # all below is guarded by it
        self._missing = deque(piece for piece in partial.pieces if not partial.has(piece))
        self._arrived = partial.kept_bytes
        self._answers: dict[int, Answer] = {}
        self._begun = False
        """A byte has come."""
        self._ranged = False
        """The server has answered with a part of the file."""
        self._threads: list[threading.Thread] = []
        self._failure: BaseException | None = None
        self._digest: str | None = None

    def run(self, progress: Progress) -> None:
        """Fetch, hash, and put in place; a second time where the checksum differs."""
        for last in (False, True):
            self._once(progress)
            if self._digest == self._wanted.sha256:
                self._partial.finish()
                return
            if last:
                self._partial.remove()
                raise BuildError("download_corrupt", name=self._wanted.name)
            self._anew()

    def _once(self, progress: Progress) -> None:
        self._start(self._hash)
        self._start(self._connect)
        try:
            while not self._wait_for_end():
                progress(min(self._arrived, self._wanted.size_bytes), self._wanted.size_bytes)
                # connections may be waiting for a silent server
                self._control.check_stopped()
        except BaseException as e:
            self._fail(e)
            raise
        finally:
            self._end_threads()
        if self._failure is not None:
            raise _shown(self._failure, self._wanted)
        progress(self._wanted.size_bytes, self._wanted.size_bytes)

    def _anew(self) -> None:
        """No piece is known to be the wrong one: all are."""
        for piece in self._partial.pieces:
            self._partial.drop(piece)
        self._missing = deque(self._partial.pieces)
        self._arrived, self._digest, self._ranged = 0, None, False

    # the caller's thread

    def _wait_for_end(self) -> bool:
        with self._changed:
            if self._failure is None and self._digest is None:
                self._changed.wait(_TOLD_EACH_S)
            return self._failure is not None or self._digest is not None

    def _end_threads(self) -> None:
        """Wait for all; what reads from a server is cut off."""
        with self._changed:
            ended = self._failure is not None
            answers = list(self._answers.values()) if ended else []
            self._changed.notify_all()
        for answer in answers:
            with suppress(Exception):  # it may have ended by itself
                answer.cut()
        for thread in self._threads:
            # one that waits for a server's first word is left behind: it does no more
            thread.join(None if not ended else _LAST_WORD_S)
        self._threads = []

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(
            target=self._guarded, args=(work,), name="gram-download", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as e:  # noqa: BLE001 - told in the caller's thread
            self._fail(e)

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            self._failure = self._failure or error
            self._changed.notify_all()

    def _failed(self) -> bool:
        """Whether all is over; another thread may say so at any time."""
        return self._failure is not None

    # the hashing thread

    def _hash(self) -> None:
        digest = hashlib.sha256()
        with self._partial.path.open("rb", buffering=0) as file:
            for piece in self._partial.pieces:
                after = None
                while after is None and self._wait_for(piece):
                    after = self._hashed(file, piece, digest)
                if after is None:
                    return
                digest = after
        with self._changed:
            self._digest = digest.hexdigest()
            self._changed.notify_all()

    def _hashed(
        self, file: BinaryIO, piece: Piece, digest: "hashlib._Hash"
    ) -> "hashlib._Hash | None":
        """The digest with the piece; None where it is damaged, and is fetched again."""
        after = digest.copy()
        try:
            for block in self._partial.read(file, piece):
                after.update(block)
        except DamagedPieceError:
            with self._changed:
                self._partial.drop(piece)
                self._missing.appendleft(piece)
                self._arrived -= piece.size
                self._changed.notify_all()
            return None
        return after

    def _wait_for(self, piece: Piece) -> bool:
        """Until it is kept; False when the download has failed."""
        with self._changed:
            self._changed.wait_for(lambda: self._failure or self._partial.has(piece))
            return self._failure is None

    # the connections' threads

    def _connect(self) -> None:
        with requests.Session() as session, self._partial.path.open("r+b", buffering=0) as file:
            while (row := self._take()) is not None:
                self._fetch(session, file, row)

    def _take(self) -> _Row | None:
        """The next pieces; None when all are there, or the download has failed."""
        with self._changed:
            self._changed.wait_for(lambda: self._missing or self._failure or self._digest)
            if self._failure or self._digest:
                return None
            pieces = deque([self._missing.popleft()])
            while (
                self._missing
                and len(pieces) < self._manner.row_pieces
                and self._missing[0].start == pieces[-1].end
            ):
                pieces.append(self._missing.popleft())
            return _Row(pieces, pieces[0].start)

    def _fetch(self, session: requests.Session, file: BinaryIO, row: _Row) -> None:
        """All pieces of a row, with patience."""
        faults = 0
        while row.pieces and not self._failed():
            before = row.at
            self._control.check()
            try:
                with asked(session, self._wanted, row.at, row.pieces[-1].end) as answer:
                    self._read(answer, file, row)
            except FaultError as e:
                if self._failed():  # cut off by the caller
                    return
                faults = 1 if row.at > before else faults + 1
                if faults >= (self._manner.faults if self._begun else self._manner.first_faults):
                    raise
                self._control.wait(self._patience_s(faults, e))

    def _patience_s(self, faults: int, error: FaultError) -> float:
        if error.after_s is not None:
            return error.after_s
        longest = min(self._manner.longest_wait_s, self._manner.first_wait_s * 2 ** (faults - 1))
        return random.uniform(longest / 2, longest)  # noqa: S311 - so that connections do not meet

    def _read(self, answer: Answer, file: BinaryIO, row: _Row) -> None:
        """What comes, into the row's pieces."""
        me = threading.get_ident()
        with self._changed:
            self._answers[me] = answer
        try:
            self._greet(answer, row)
            at = answer.start
            for block in answer.blocks:
                self._control.spend(len(block))
                if not at:
                    self._check_magic(block)
                if self._failed():
                    return
                self._store(block, at, file, row)
                at += len(block)
                if not row.pieces:
                    return
            raise FaultError("the connection broke off")
        finally:
            with self._changed:
                del self._answers[me]

    def _greet(self, answer: Answer, row: _Row) -> None:
        """The first answer tells whether the server knows ranges: then more connections help.

        One that knows none sends the whole file, so the one connection takes all that is missing.
        """
        with self._changed:
            if self._ranged and not answer.ranged:
                raise FaultError("the server sent the whole file instead of a part")
            first = answer.ranged and not self._ranged
            self._ranged = answer.ranged
            if not answer.ranged:
                behind = sorted(p.index for p in self._missing if p.start >= row.pieces[-1].end)
                row.pieces.extend(self._partial.pieces[i] for i in behind)
                self._missing = deque(p for p in self._missing if p.index not in behind)
        for _ in range(self._manner.connections - 1 if first else 0):
            self._start(self._connect)

    def _check_magic(self, block: bytes) -> None:
        if block.lstrip()[:1] == b"<":
            detail = "a web page came instead of the file (does this network ask you to sign in?)"
        elif not block.startswith(_MAGIC[: len(block)]):
            detail = "what came is not a GGUF file"
        else:
            return
        name = self._wanted.name
        raise RefusedError(BuildError("download_failed", name=name, detail=detail))

    def _store(self, block: bytes, at: int, file: BinaryIO, row: _Row) -> None:
        """Write what of a block, which begins at `at`, belongs to the row."""
        end = at + len(block)
        while row.pieces and row.at < end:
            piece = row.pieces[0]
            part = block[row.at - at : piece.end - at]
            file.seek(row.at)
            _write(file, part)
            row.checksum = zlib.crc32(part, row.checksum)
            row.at += len(part)
            with self._changed:
                self._arrived += len(part)
                self._begun = True
            if row.at == piece.end:
                self._keep(file, row)

    def _keep(self, file: BinaryIO, row: _Row) -> None:
        """A piece that is whole, first on the disk and then in the journal."""
        os.fsync(file.fileno())
        piece = row.pieces.popleft()
        with self._changed:
            self._partial.keep(piece, row.checksum)
            self._changed.notify_all()
        row.checksum = 0
        if row.pieces:
            row.at = row.pieces[0].start


def _write(file: BinaryIO, part: bytes) -> None:
    """All of it: a file without a buffer may take less at once."""
    view = memoryview(part)
    while view:
        view = view[file.write(view) :]


def _shown(failure: BaseException, wanted: Wanted) -> BaseException:
    """What the caller is told."""
    if isinstance(failure, RefusedError):
        return failure.error
    if isinstance(failure, FaultError):
        return BuildError("download_failed", name=wanted.name, detail=str(failure))
    if isinstance(failure, OSError):
        return _disk(wanted, failure)
    return failure
