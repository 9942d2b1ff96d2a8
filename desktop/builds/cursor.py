"""Reads a GGUF header's bytes in order: buffered, counted, and never more than the limits allow."""

import struct
from typing import Final, Protocol

from desktop.errors import BuildError

MAX_HEADER_BYTES: Final = 64 << 20
"""The largest known header (260 000 tokens with merges) has about 16 MB."""
MAX_TEXT_BYTES: Final = 4 << 20
"""All texts that are kept of one header together: keys, names, values."""
MAX_KEPT_VALUES: Final = 50_000
"""Elements of all arrays that are kept of one header together: an object takes more memory than the
byte that may stand for it in the file."""
_CHUNK_BYTES: Final = 1 << 18
_U32: Final = struct.Struct("<I")
_U64: Final = struct.Struct("<Q")


class Source(Protocol):
    """What a header is read from, forward only."""

    def read(self, size: int, /) -> bytes:
        """At least one byte and at most `size`; none at the end."""


class Cursor:
    """A position in the header of the file `name`.

    Every method raises BuildError: `gguf_cut_header` where the bytes end too early, `gguf_header`
    where a length is beyond the limits.
    """

    def __init__(self, stream: Source, name: str) -> None:
        self.name = name
        self._stream = stream
        self._buffer = b""
        self._at = 0
        self._base = 0
        self._text_left_bytes = MAX_TEXT_BYTES
        self._values_left = MAX_KEPT_VALUES

    @property
    def position(self) -> int:
        """Bytes read from the file's start."""
        return self._base + self._at

    def damaged(self, detail: str) -> BuildError:
        """The error for a header that breaks the format's rules."""
        return BuildError("gguf_header", name=self.name, detail=detail)

    def peek(self, count: int) -> bytes:
        """The next bytes, fewer at the end of the file; does not move."""
        self._fill(count)
        return self._buffer[self._at : self._at + count]

    def number(self, layout: struct.Struct) -> int | float:
        """The next number, in the given layout of one field."""
        self._need(layout.size)
        value: int | float = layout.unpack_from(self._buffer, self._at)[0]
        self._at += layout.size
        return value

    def u32(self) -> int:
        """A 32-bit count."""
        return int(self.number(_U32))

    def u64(self) -> int:
        """A 64-bit count."""
        return int(self.number(_U64))

    def text(self, limit_bytes: int, what: str) -> bytes:
        """A string of at most `limit_bytes`, kept; `what` names it in the error."""
        size = self.u64()
        if size > limit_bytes:
            raise self.damaged(f"{what} has {size} bytes, the limit is {limit_bytes}")
        self._text_left_bytes -= size
        if self._text_left_bytes < 0:
            raise self.damaged(f"its texts have more than {MAX_TEXT_BYTES} bytes")
        self._need(size)
        found = self._buffer[self._at : self._at + size]
        self._at += size
        return found

    def keep(self, count: int) -> None:
        """Count `count` elements of an array that is kept."""
        self._values_left -= count
        if self._values_left < 0:
            raise self.damaged(f"its short arrays have more than {MAX_KEPT_VALUES} elements")

    def label(self, limit_bytes: int, what: str) -> str:
        """A string that names something: UTF-8, not empty."""
        try:
            text = self.text(limit_bytes, what).decode("utf-8")
        except UnicodeDecodeError as e:
            raise self.damaged(f"{what} is not UTF-8") from e
        if not text:
            raise self.damaged(f"{what} is empty")
        return text

    def skip(self, count: int) -> None:
        """Pass over `count` bytes without keeping them."""
        self._check_limit(count)
        target = self.position + count
        while self.position < target:
            self._need(min(target - self.position, _CHUNK_BYTES))
            self._at = min(target - self._base, len(self._buffer))

    def skip_texts(self, count: int) -> None:
        """Pass over `count` strings; the header's limit bounds the loop."""
        left = count
        while left:
            self._need(_U64.size)
            left -= self._skip_buffered_texts(left)

    def _skip_buffered_texts(self, limit: int) -> int:
        """Pass over strings whose lengths are in the buffer; returns how many."""
        buffer, at, last = self._buffer, self._at, len(self._buffer) - _U64.size
        done = 0
        while done < limit and at <= last:
            at += _U64.size + _U64.unpack_from(buffer, at)[0]
            done += 1
        self._at = min(at, len(buffer))
        self.skip(at - self._at)
        return done

    def _need(self, count: int) -> None:
        if self._at + count <= len(self._buffer):
            return
        self._check_limit(count)
        self._fill(count)
        if self._at + count > len(self._buffer):
            found = self._base + len(self._buffer)
            raise BuildError("gguf_cut_header", name=self.name, found_bytes=found)

    def _check_limit(self, count: int) -> None:
        if self.position + count > MAX_HEADER_BYTES:
            raise self.damaged(f"it is longer than {MAX_HEADER_BYTES} bytes")

    def _fill(self, count: int) -> None:
        parts = [self._buffer[self._at :]]
        have = len(parts[0])
        while have < count:
            part = self._stream.read(max(count - have, _CHUNK_BYTES))
            if not part:
                break
            parts.append(part)
            have += len(part)
        self._base += self._at
        self._at = 0
        self._buffer = b"".join(parts)


def quoted(text: str) -> str:
    """A text of the file as it may be shown in an error: short, ASCII, in quotes."""
    return ascii(text[:60])
