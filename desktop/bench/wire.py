"""Typed fields out of a JSON line of the worker's. Every reader refuses another type or range."""

from collections.abc import Mapping
from typing import Final, TypeAlias, TypeVar

VERSION: Final = 1
Json: TypeAlias = Mapping[str, object]
MAX_COUNT: Final = 2**63 - 1
"""Times, sizes and numbers of things: no honest one is more than a signed statement takes."""
T = TypeVar("T")


def object_of(value: object) -> Json:
    """A JSON object; one that names a version must name this one.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(value, dict) or value.get("v", VERSION) != VERSION:
        raise ValueError("not an object of this version")
    return value


def take(body: Json, key: str, kind: type[T]) -> T:
    """A field of exactly that type: True is no int, and 1 is no float but is taken as one.

    Raises:
        KeyError: the field is missing.
        TypeError: it is of another type.
    """
    value = body[key]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(key)
    return value


def text_or_none(body: Json, key: str) -> str | None:
    """A text that may be null. Raises as `take`."""
    return None if body[key] is None else take(body, key, str)


def count(body: Json, key: str) -> int:
    """A whole number from 0 to 2^63-1. Raises as `take`, and ValueError out of that range."""
    value = take(body, key, int)
    if not 0 <= value <= MAX_COUNT:
        raise ValueError(key)
    return value


def count_or_none(body: Json, key: str) -> int | None:
    """A whole number from 0 that may be null. Raises as `count`."""
    return None if body[key] is None else count(body, key)


def counts(body: Json, key: str) -> tuple[int, ...]:
    """A list of whole numbers from 0 to 2^63-1. Raises as `take`."""
    values = take(body, key, list)
    if not all(
        isinstance(v, int) and not isinstance(v, bool) and 0 <= v <= MAX_COUNT for v in values
    ):
        raise TypeError(key)
    return tuple(values)


def texts(body: Json, key: str) -> tuple[str, ...]:
    """A list of texts. Raises as `take`."""
    values = take(body, key, list)
    if not all(isinstance(v, str) for v in values):
        raise TypeError(key)
    return tuple(values)
