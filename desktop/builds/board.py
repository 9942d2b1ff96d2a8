"""What the threads of one download share: which pieces are missing, and how it has ended."""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from desktop.builds.partial import Partial, Piece
from desktop.builds.ranges import Answer, FaultError


@dataclass(slots=True)
class Row:
    """Neighbouring pieces of one request, and how far it has come."""

    pieces: deque[Piece]
    at: int
    """The next byte."""
    checksum: int = 0
    """Of the first piece's bytes before `at`."""

    def step(self) -> None:
        """Leave the first piece, which is whole, and go on at the next."""
        self.pieces.popleft()
        self.checksum = 0
        if self.pieces:
            self.at = self.pieces[0].start


class Board:
    """For one pass over a file. Safe from any thread."""

    def __init__(self, partial: Partial) -> None:
        """Begin with what is missing of `partial`."""
        self.partial = partial
        self._changed = threading.Condition()
        # all below is guarded by it
        self._missing = deque(piece for piece in partial.pieces if not partial.has(piece))
        self._arrived = partial.kept_bytes
        self._begun = False
        self._ranged = False
        self._cuts: dict[int, Callable[[], None]] = {}
        self._failure: BaseException | None = None
        self._digest: str | None = None

    @property
    def arrived_bytes(self) -> int:
        """Of the file, kept before and come now."""
        return self._arrived

    @property
    def begun(self) -> bool:
        """Whether a byte has come."""
        return self._begun

    @property
    def failure(self) -> BaseException | None:
        """Why it has ended without a digest."""
        return self._failure

    @property
    def digest(self) -> str | None:
        """The sha256 of the whole, once it is known."""
        return self._digest

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._failure is not None or self._digest is not None

    def fail(self, error: BaseException) -> None:
        """End it; the first reason counts."""
        with self._changed:
            self._failure = self._failure or error
            self._changed.notify_all()

    def finish(self, digest: str) -> None:
        """End it well."""
        with self._changed:
            self._digest = digest
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Whether it has ended, after so long at most."""
        with self._changed:
            return self._changed.wait_for(lambda: self.over, seconds)

    def take(self, most: int) -> Row | None:
        """The next missing neighbours, `most` at most; None when it has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._missing or self.over)
            if self.over:
                return None
            pieces = deque([self._missing.popleft()])
            while self._missing and len(pieces) < most:
                if self._missing[0].start != pieces[-1].end:
                    break
                pieces.append(self._missing.popleft())
            return Row(pieces, pieces[0].start)

    def begin(self, answer: Answer, row: Row) -> bool:
        """Note a server's answer; whether it is the first that shows that more at once can help.

        A server that knows no ranges sends the whole file, so its row gets all that is missing.

        Raises:
            FaultError: the whole came in place of a part, from a server that knows ranges.
        """
        with self._changed:
            if self._ranged and not answer.ranged:
                raise FaultError("the server sent the whole file instead of a part")
            first = answer.ranged and not self._ranged
            self._ranged = answer.ranged
            if not answer.ranged:
                behind = {p.index for p in self._missing if p.start >= row.pieces[-1].end}
                row.pieces.extend(self.partial.pieces[i] for i in sorted(behind))
                self._missing = deque(p for p in self._missing if p.index not in behind)
            self._cuts[threading.get_ident()] = answer.cut
            return first

    def end(self) -> None:
        """Note that this thread's answer is read."""
        with self._changed:
            self._cuts.pop(threading.get_ident(), None)

    def cut(self) -> None:
        """End the reading of all answers."""
        with self._changed:
            cuts = list(self._cuts.values())
        for cut in cuts:
            with suppress(Exception):  # it may have ended by itself
                cut()

    def came(self, size_bytes: int) -> None:
        """Note bytes of a piece."""
        with self._changed:
            self._arrived += size_bytes
            self._begun = True

    def keep(self, piece: Piece, checksum: int) -> None:
        """Note a piece that is on the disk.

        Raises:
            OSError: the journal cannot be written.
        """
        with self._changed:
            self.partial.keep(piece, checksum)
            self._changed.notify_all()

    def drop(self, piece: Piece) -> None:
        """Have a piece fetched again.

        Raises:
            OSError: the journal cannot be written.
        """
        with self._changed:
            self.partial.drop(piece)
            self._missing.appendleft(piece)
            self._arrived -= piece.size
            self._changed.notify_all()

    def wait_for(self, piece: Piece) -> bool:
        """Until it is kept; False when the download has failed."""
        with self._changed:
            self._changed.wait_for(lambda: self._failure or self.partial.has(piece))
            return self._failure is None
