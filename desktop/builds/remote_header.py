"""The header of a build that is not here, read over HTTP ranges: exact sizes before a download.

The strict reader goes through a header from its start to its end, so what it asks for next is
fetched next, in parts that double; no part is held longer than the reader needs it.
"""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from desktop.builds.cursor import MAX_HEADER_BYTES
from desktop.builds.header import read_header_from
from desktop.builds.hub_session import HubSession
from desktop.builds.ranges import FaultError, RefusedError, asked
from desktop.builds.reference import Wanted
from desktop.builds.split_sets import joined
from desktop.errors import BuildError
from desktop.records.build import Header

FIRST_BYTES: Final = 1 << 20
"""Holds the whole header of most builds, but for their list of tokens."""
LONGEST_S: Final = 120.0
"""For one header: a server may send a byte now and then for ever."""
_LARGEST_BYTES: Final = 16 << 20
_AHEAD_BYTES: Final = 1 << 20
"""What the reader may ask for beyond the largest header: it reads in blocks."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long a server is waited for."""

    faults: int = 3
    """In a row, without a byte between them."""
    wait_s: float = 1.0
    """After the first; doubles with each more. A server that tells its own is obeyed, up to
    `longest_wait_s`."""
    longest_wait_s: float = 30.0
    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


def remote_header(
    session: HubSession, files: tuple[Wanted, ...], patience: Patience | None = None
) -> Header:
    """The header of the build in `files`: one, or the parts of a split set in their order.

    Of a set as `joined`.

    Raises:
        BuildError: `download_failed`, `download_gated`, `download_gone`, as `read_header_from`, and
            `gguf_header` where parts do not belong together.
    """
    patience = patience or Patience()
    headers = [_header(session, file, n, patience) for n, file in enumerate(files)]
    return joined(headers, [file.name for file in files])


def _header(session: HubSession, file: Wanted, number: int, patience: Patience) -> Header:
    with closing(_blocks(session, file, patience)) as blocks:
        stream = _Stream(blocks)
        return read_header_from(stream, file.size_bytes, file.name, later_part=number > 0)


class _Stream:
    """Blocks as what the reader reads from, forward only."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._left = blocks, memoryview(b"")

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, a block at the most; none at the end."""
        while not self._left:
            block = next(self._blocks, None)
            if block is None:
                return b""
            self._left = memoryview(block)
        taken, self._left = self._left[:size], self._left[size:]
        return bytes(taken)


def _blocks(session: HubSession, file: Wanted, patience: Patience) -> Generator[bytes, None, None]:
    """The file's bytes from its start, no further than a header may go."""
    last = min(file.size_bytes, MAX_HEADER_BYTES + _AHEAD_BYTES)
    end_s = patience.clock() + LONGEST_S
    at, step, faults = 0, FIRST_BYTES, 0
    while at < last:
        try:
            with closing(_part(session, file, at, min(at + step, last))) as part:
                for block in part:
                    at += len(block)
                    if block:
                        faults = 0
                        yield block
                    _check_time(patience, end_s)
            step = min(2 * step, _LARGEST_BYTES)
        except RefusedError as e:
            raise e.error from e
        except FaultError as e:
            faults += 1
            wait_s = patience.wait_s * 2 ** (faults - 1) if e.after_s is None else e.after_s
            late = patience.clock() + wait_s > end_s or wait_s > patience.longest_wait_s
            if late or faults >= patience.faults:
                raise BuildError("download_failed", name=file.name, detail=str(e)) from e
            patience.wait(wait_s)


def _check_time(patience: Patience, end_s: float) -> None:
    if patience.clock() > end_s:
        raise FaultError(f"the header was not here after {LONGEST_S:.0f} s")


def _part(session: HubSession, file: Wanted, start: int, end: int) -> Generator[bytes, None, None]:
    """Bytes `start` to `end`; from a server that knows no ranges, all from `start` on.

    What lies before `start` comes as empty blocks.
    """
    with asked(session, file, start, end) as answer:
        at = answer.start
        for block in answer.blocks:
            yield block[max(start - at, 0) :]
            at += len(block)
        if at < end:
            raise FaultError("the connection broke off")
