"""Records as plain JSON values: field names as in the code, so that units are in the names."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TypeAlias

from desktop.errors import Reason

Plain: TypeAlias = "str | int | float | bool | list[Plain] | dict[str, Plain] | None"


def to_plain(value: object) -> Plain:
    """`value` with every record turned into an object, every tuple into a list."""
    if isinstance(value, Reason):
        return {"code": value.code, "text": value.text(), "advice": value.advice()}
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return str(value) if isinstance(value, (str, Path)) else repr(value)
