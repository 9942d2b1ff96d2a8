"""A strict reader of GGUF headers, versions 2 and 3, little endian.

Whoever made the file is not trusted: every count, length, shape and offset is checked before it is
used, and only what the limits allow is held in memory. Format: docs/gguf.md of ggml. The hub
imports this module, so it needs the standard library, the records and the errors only.
"""

import math
from pathlib import Path
from typing import Final

from desktop.builds.cursor import Cursor, Source, quoted
from desktop.builds.metadata import MAX_KEYS, ArrayInfo, read_metadata
from desktop.errors import BuildError
from desktop.records.build import Header, TensorInfo
from desktop.rules.ggml_types import TYPES, GgmlType

__all__ = ["MAGIC", "ArrayInfo", "data_end", "read_header", "read_header_from", "shown_name"]

MAGIC: Final = b"GGUF"
"""What every file begins with."""
MAX_TENSORS: Final = 50_000
"""Files of today have up to two thousand; each takes half a kilobyte of memory."""
MAX_NAME_BYTES: Final = 64
MAX_DIMENSIONS: Final = 4
MAX_ELEMENTS: Final = (1 << 63) - 1
DEFAULT_ALIGNMENT: Final = 32


def read_header(path: Path, *, later_part: bool = False) -> Header:
    """Read the header of the GGUF file at `path`; its data section is not touched.

    With `later_part` as in `read_header_from`.

    Raises:
        BuildError: `build_not_found`, `build_unreadable`, or as `read_header_from`. The error names
            the file without its folders.
    """
    name = shown_name(path)
    try:
        if not path.is_file():
            raise _missing(path, name)
        with path.open("rb") as stream:
            return read_header_from(stream, path.stat().st_size, name, later_part=later_part)
    except OSError as e:
        raise BuildError("build_unreadable", name=name, detail=e.strerror or str(e)) from e


def read_header_from(
    stream: Source, size_bytes: int, name: str, *, later_part: bool = False
) -> Header:
    """Read a header from the start of `stream`; `size_bytes` is the size of the whole file.

    The stream may end after the header (the hub gets no weights). With `later_part` it is the
    second or a later part of a split set, which need not name the architecture.

    Raises:
        BuildError: `not_gguf`, `gguf_version`, `gguf_big_endian`, `gguf_header`; `gguf_cut`,
            and `gguf_cut_header` where it ends within the header.
        OSError: reading failed.
    """
    cursor = Cursor(stream, name)
    version = _read_version(cursor)
    n_tensors = _count(cursor, MAX_TENSORS, "tensors")
    n_keys = _count(cursor, MAX_KEYS, "keys")
    metadata = read_metadata(cursor, n_keys, later_part=later_part)
    alignment = _alignment(cursor, metadata)
    tensors = tuple(_read_tensor(cursor, alignment) for _ in range(n_tensors))
    start = -(-cursor.position // alignment) * alignment
    _check_layout(cursor, tensors)
    header = Header(version, metadata, tensors, start)
    end = data_end(header) if tensors else cursor.position
    if end > size_bytes:
        missing = end - size_bytes
        raise BuildError("gguf_cut", name=name, expected_bytes=end, missing_bytes=missing)
    return header


def data_end(header: Header) -> int:
    """Bytes from the file's start to the end of its last tensor."""
    ends = (t.offset_bytes + t.size_bytes for t in header.tensors)
    return header.data_offset_bytes + max(ends, default=0)


def shown_name(path: Path) -> str:
    """The file's own name, without folders and without characters that UTF-8 or a screen refuses.

    Safe in a signed payload, on a terminal and in a window.
    """
    name = path.name.encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c.isprintable() else "?" for c in name)


def _missing(path: Path, name: str) -> BuildError:
    if path.exists():
        return BuildError("build_unreadable", name=name, detail="it is not a file")
    return BuildError("build_not_found", name=name)


def _read_version(cursor: Cursor) -> int:
    magic = cursor.peek(4)
    if magic != MAGIC:
        raise BuildError("not_gguf", name=cursor.name, found=_shown(magic))
    cursor.skip(4)
    version = cursor.u32()
    if version and not version & 0xFFFF:
        raise BuildError("gguf_big_endian", name=cursor.name)
    if version not in {2, 3}:
        raise BuildError("gguf_version", name=cursor.name, version=version)
    return version


def _shown(start: bytes) -> str:
    if not start:
        return "nothing"
    text = start.decode("latin-1")
    return f"“{text}”" if text.isascii() and text.isprintable() else start.hex(" ")


def _count(cursor: Cursor, limit: int, what: str) -> int:
    count = cursor.u64()
    if count > limit:
        raise cursor.damaged(f"it declares {count} {what}, the limit is {limit}")
    return count


def _alignment(cursor: Cursor, metadata: dict[str, object]) -> int:
    value = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0 or value & (value - 1):
        raise cursor.damaged("its alignment is not a power of two")
    return value


def _read_tensor(cursor: Cursor, alignment: int) -> TensorInfo:
    name = cursor.label(MAX_NAME_BYTES, "a tensor's name")
    shape = _shape(cursor, name)
    kind = TYPES.get(number := cursor.u32())
    if kind is None:
        raise cursor.damaged(f"the tensor {quoted(name)} has the unknown type {number}")
    offset = cursor.u64()
    if offset % alignment:
        raise cursor.damaged(f"the tensor {quoted(name)} is not aligned to {alignment} bytes")
    return TensorInfo(name, shape, kind.name, offset, _tensor_bytes(cursor, name, shape, kind))


def _shape(cursor: Cursor, name: str) -> tuple[int, ...]:
    dimensions = cursor.u32()
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise cursor.damaged(f"the tensor {quoted(name)} has {dimensions} dimensions")
    shape = tuple(cursor.u64() for _ in range(dimensions))
    if not 1 <= math.prod(shape) <= MAX_ELEMENTS:
        raise cursor.damaged(f"the tensor {quoted(name)} has an impossible shape")
    return shape


def _tensor_bytes(cursor: Cursor, name: str, shape: tuple[int, ...], kind: GgmlType) -> int:
    if shape[0] % kind.block_elements:
        raise cursor.damaged(f"a row of the tensor {quoted(name)} is no whole number of blocks")
    return math.prod(shape) // kind.block_elements * kind.block_bytes


def _check_layout(cursor: Cursor, tensors: tuple[TensorInfo, ...]) -> None:
    seen: set[str] = set()
    end = 0
    for tensor in sorted(tensors, key=lambda t: t.offset_bytes):
        if tensor.name in seen:
            raise cursor.damaged(f"the tensor {quoted(tensor.name)} is there twice")
        if tensor.offset_bytes < end:
            raise cursor.damaged(f"the tensor {quoted(tensor.name)} overlaps another")
        seen.add(tensor.name)
        end = tensor.offset_bytes + tensor.size_bytes
