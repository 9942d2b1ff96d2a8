"""Reads the keys and values of a GGUF header. Long arrays are passed over, not kept."""

import re
import struct
from dataclasses import dataclass
from typing import Final, TypeAlias

from desktop.builds.cursor import Cursor, quoted

MAX_KEYS: Final = 10_000
MAX_KEY_BYTES: Final = 65_535
MAX_TEXT_VALUE_BYTES: Final = 1 << 20
MAX_KEPT_ELEMENTS: Final = 1024
"""Longer arrays (token lists) are passed over; an `ArrayInfo` stands in their place."""

_ARCHITECTURE: Final = re.compile(r"[\w.-]{1,64}", re.ASCII)
_BOOL: Final = 7
_STRING: Final = 8
_ARRAY: Final = 9
_NUMBERS: Final = {
    0: ("u8", struct.Struct("<B")),
    1: ("i8", struct.Struct("<b")),
    2: ("u16", struct.Struct("<H")),
    3: ("i16", struct.Struct("<h")),
    4: ("u32", struct.Struct("<I")),
    5: ("i32", struct.Struct("<i")),
    6: ("f32", struct.Struct("<f")),
    _BOOL: ("bool", struct.Struct("<B")),
    10: ("u64", struct.Struct("<Q")),
    11: ("i64", struct.Struct("<q")),
    12: ("f64", struct.Struct("<d")),
}


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """Stands for an array that was too long to keep: its element type (`string`) and length."""

    type: str
    length: int


Value: TypeAlias = int | float | bool | str | tuple[object, ...] | ArrayInfo


def read_metadata(cursor: Cursor, count: int, *, later_part: bool = False) -> dict[str, object]:
    """Read `count` pairs of key and value.

    Of a split set only the first part must name the architecture (`llama-gguf-split` writes it
    there alone): `later_part` says that it is another.

    Raises:
        BuildError: `gguf_header` or `gguf_cut_header`.
    """
    metadata: dict[str, object] = {}
    for _ in range(count):
        key = cursor.label(MAX_KEY_BYTES, "a key")
        if key in metadata:
            raise cursor.damaged(f"the key {quoted(key)} is there twice")
        metadata[key] = _value(cursor, cursor.u32(), key)
    architecture = metadata.get("general.architecture")
    if later_part and architecture is None:
        return metadata
    if not isinstance(architecture, str) or not _ARCHITECTURE.fullmatch(architecture):
        raise cursor.damaged("it names no architecture")
    return metadata


def _value(cursor: Cursor, kind: int, key: str) -> Value:
    if kind == _STRING:
        return _text(cursor, key)
    if kind == _ARRAY:
        return _array(cursor, key)
    return _scalar(cursor, kind, key)


def _text(cursor: Cursor, key: str) -> str:
    raw = cursor.text(MAX_TEXT_VALUE_BYTES, f"the text of {quoted(key)}")
    return raw.decode("utf-8", "replace")


def _scalar(cursor: Cursor, kind: int, key: str) -> int | float | bool:
    if kind not in _NUMBERS:
        raise cursor.damaged(f"the value of {quoted(key)} has the unknown type {kind}")
    value = cursor.number(_NUMBERS[kind][1])
    if kind != _BOOL:
        return value
    if value not in {0, 1}:
        raise cursor.damaged(f"the truth value of {quoted(key)} is {value}")
    return value == 1


def _array(cursor: Cursor, key: str) -> tuple[object, ...] | ArrayInfo:
    kind = cursor.u32()
    length = cursor.u64()
    if kind != _STRING and kind not in _NUMBERS:  # as ggml, no arrays of arrays
        raise cursor.damaged(f"the array {quoted(key)} holds elements of the type {kind}")
    if length <= MAX_KEPT_ELEMENTS:
        cursor.keep(length)
        return tuple(_value(cursor, kind, key) for _ in range(length))
    if kind == _STRING:
        cursor.skip_texts(length)
        return ArrayInfo("string", length)
    name, layout = _NUMBERS[kind]
    cursor.skip(length * layout.size)
    return ArrayInfo(name, length)
