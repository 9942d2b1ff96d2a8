"""Downloads one file over several connections: goes on where it was, keeps nothing that is wrong.

Pieces are fetched in rows of neighbours, each row by one connection. Behind them one thread reads
what is kept, in order, and hashes it: so the checksum of the whole is there a moment after the last
byte, and what an earlier start left is verified before it counts. A fault is tried again where it
happened, with patience that ends; what has come stays either way.

The threads of a download are these: a few connections, the hashing one, and the caller's, which
tells progress.
"""

import hashlib
import shutil
import threading
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from desktop.builds.board import Board
from desktop.builds.connection import Connection, Manner
from desktop.builds.control import Control
from desktop.builds.hashes import Progress
from desktop.builds.partial import (
    SPARE_BYTES,
    DamagedPieceError,
    Partial,
    Piece,
    lock_of,
    taken_bytes,
)
from desktop.builds.ranges import FaultError, RefusedError
from desktop.builds.reference import Wanted
from desktop.errors import BuildError, Param

_TOLD_EACH_S: Final = 0.1
_LAST_WORD_S: Final = 1.0


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
        BuildError: `download_failed`, `download_broke` where something of it is kept,
            `download_gated`, `download_gone`, `download_corrupt`, `download_disk`,
            `download_room`, `download_busy`.
        StoppedError: it was stopped by `control`.
    """
    manner = manner or Manner()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock_of(target), timeout=0):
            _check_room(wanted, target)
            partial = Partial(target, wanted.size_bytes, wanted.sha256, manner.piece_bytes)
            try:
                _whole(wanted, partial, _Pass(wanted, control or Control(), manner, progress))
            finally:
                partial.close()
    except Timeout as e:
        raise BuildError("download_busy", name=wanted.name) from e
    except OSError as e:
        detail = e.strerror or "the disk does not take it"
        raise BuildError("download_disk", name=wanted.name, detail=detail) from e


def _check_room(wanted: Wanted, target: Path) -> None:
    free = shutil.disk_usage(target.parent).free
    needed = wanted.size_bytes - taken_bytes(target) + SPARE_BYTES
    if free < needed:
        raise BuildError("download_room", name=wanted.name, need_bytes=needed, free_bytes=free)


def _whole(wanted: Wanted, partial: Partial, one: "_Pass") -> None:
    """Fetch, hash, and put in place; a second time where the checksum differs."""
    if one.run(partial) != wanted.sha256:
        # no piece is known to be the wrong one: all are
        for piece in partial.pieces:
            partial.drop(piece)
        if one.run(partial) != wanted.sha256:
            partial.remove()
            raise BuildError("download_corrupt", name=wanted.name)
    partial.finish()


class _Pass:
    """One pass over the file, from what is missing to the digest of the whole."""

    def __init__(
        self, wanted: Wanted, control: Control, manner: Manner, progress: Progress
    ) -> None:
        self._wanted, self._control, self._manner = wanted, control, manner
        self._progress = progress
        self._threads: list[threading.Thread] = []

    def run(self, partial: Partial) -> str:
        """The sha256 of what came."""
        board = Board(partial)
        self._start(board, lambda: _hash(board, self._control))
        self._connect(board)
        size = self._wanted.size_bytes
        try:
            while not board.wait(_TOLD_EACH_S):
                self._progress(min(board.arrived_bytes, size), size)
                # connections may be waiting for a silent server
                self._control.check_stopped()
        except BaseException as e:
            board.fail(e)
            raise
        finally:
            self._end(board)
        if board.digest is None:
            raise _shown(board.failure, self._wanted, partial.kept_bytes)
        self._progress(size, size)
        return board.digest

    def _connect(self, board: Board) -> None:
        def more() -> None:
            for _ in range(self._manner.connections - 1):
                self._start(board, one.run)

        one = Connection(self._wanted, board, self._control, self._manner, more)
        self._start(board, one.run)

    def _start(self, board: Board, work: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                work()
            except BaseException as e:  # noqa: BLE001 - told in the caller's thread
                board.fail(e)

        thread = threading.Thread(target=guarded, name="gram-download", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _end(self, board: Board) -> None:
        """Wait for all threads; what reads from a server is cut off."""
        if board.failure is not None:
            board.cut()
        for thread in self._threads:
            # one that waits for a server's first word is left behind: it does no more
            thread.join(None if board.failure is None else _LAST_WORD_S)
        self._threads = []


def _hash(board: Board, control: Control) -> None:
    """The hashing thread's work: every piece in order, as soon as it is there.

    It rests while the download is held: who measures wants the processor and the disk for it.
    """
    digest = hashlib.sha256()
    with board.partial.path.open("rb", buffering=0) as file:
        for piece in board.partial.pieces:
            after = None
            while after is None:
                if not board.wait_for(piece):
                    return
                after = _hashed(board, control, file, piece, digest)
            digest = after
    board.finish(digest.hexdigest())


def _hashed(
    board: Board, control: Control, file: FileIO, piece: Piece, digest: "hashlib._Hash"
) -> "hashlib._Hash | None":
    """The digest with the piece; None where it is damaged, and is fetched again."""
    after = digest.copy()
    blocks = board.partial.read(file, piece)
    try:
        while True:
            while control.paused and board.failure is None:
                control.pause_for(_TOLD_EACH_S)
            block = next(blocks, None)
            if block is None:
                return after
            after.update(block)
    except DamagedPieceError:
        board.drop(piece)
        return None


def _shown(failure: BaseException | None, wanted: Wanted, kept_bytes: int) -> BaseException:
    """What the caller is told; of a connection that failed, also that what came is kept."""
    if isinstance(failure, RefusedError):
        return failure.error
    if isinstance(failure, FaultError):
        told: dict[str, Param] = {"name": wanted.name, "detail": str(failure)}
        if not kept_bytes:
            return BuildError("download_failed", **told)
        size_bytes = wanted.size_bytes
        return BuildError("download_broke", kept_bytes=kept_bytes, size_bytes=size_bytes, **told)
    return failure or AssertionError("it ended without a reason")
