"""Read typed values out of a statement's body. Everything foreign is checked here."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NoReturn, TypeVar

from desktop.errors import StatementError
from desktop.rules.signed_text import is_clean

RFC3339_UTC = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
MAX_INTEGER = 2**63 - 1
MAX_ITEMS = 256
"""Of a list that has no limit of its own."""
MAX_TEXTS = 64
"""Of a list of texts: instruction sets, devices, notes."""
_E = TypeVar("_E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Fields:
    """One object of a body, and where it stands: `plan.tests`.

    Every reader raises StatementError `bad_envelope` naming the field when a value is missing or
    of another type or range; those whose name ends in `_or_none` take a missing one.
    """

    values: Mapping[str, object]
    where: str = ""

    def text(self, name: str) -> str:
        """Printable text of at most 256 characters."""
        value = self.text_or_none(name)
        return value if value is not None else self._missing(name)

    def text_or_none(self, name: str) -> str | None:
        """Text that may be missing."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or not is_clean(value):
            raise self.bad(name, "is not a short text")
        return value

    def matching(self, name: str, pattern: str, what: str) -> str:
        """Text that a pattern describes as a whole."""
        value = self.text(name)
        if not re.fullmatch(pattern, value, re.ASCII):
            raise self.bad(name, f"is not {what}")
        return value

    def time(self, name: str) -> str:
        """A time in UTC as RFC 3339 writes it, on a date that there is."""
        value = self.matching(name, RFC3339_UTC, "a time in UTC")
        try:
            datetime.fromisoformat(value)
        except ValueError as e:
            raise self.bad(name, "is not a time in UTC") from e
        return value

    def integer(self, name: str, low: int = 0, high: int = MAX_INTEGER) -> int:
        """A whole number from `low` to `high`."""
        value = self.integer_or_none(name, low, high)
        return value if value is not None else self._missing(name)

    def integer_or_none(self, name: str, low: int = 0, high: int = MAX_INTEGER) -> int | None:
        """A whole number that may be missing."""
        value = self.values.get(name)
        return self._integer(name, value, low, high) if value is not None else None

    def integers(self, name: str, high: int, most: int) -> tuple[int, ...]:
        """A list of at most `most` whole numbers from 0 to `high`."""
        return tuple(self._integer(name, v, 0, high) for v in self._list(name, most))

    def number(self, name: str, low: float | None = 0.0, high: float = MAX_INTEGER) -> float:
        """A finite number, by default not negative."""
        value = self.number_or_none(name, low, high)
        return value if value is not None else self._missing(name)

    def number_or_none(
        self, name: str, low: float | None = 0.0, high: float = MAX_INTEGER
    ) -> float | None:
        """A finite number that may be missing."""
        value = self.values.get(name)
        if value is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or abs(value) > MAX_INTEGER
        ):
            raise self.bad(name, "is not a number")
        if not math.isfinite(value) or value > high or (low is not None and value < low):
            raise self.bad(name, "is out of range")
        return value

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.values.get(name)
        if not isinstance(value, bool):
            raise self.bad(name, "is not true or false")
        return value

    def member(self, name: str, kind: type[_E]) -> _E:
        """One of an enumeration's values."""
        value = self.text(name)
        try:
            return kind(value)
        except ValueError as e:
            raise self.bad(name, f"is not one of {', '.join(kind)}") from e

    def inner(self, name: str) -> "Fields":
        """An object inside."""
        return self._fields(name, self.values.get(name))

    def items(self, name: str, most: int = MAX_ITEMS) -> tuple["Fields", ...]:
        """A list of at most `most` objects."""
        return tuple(self._fields(name, v) for v in self._list(name, most))

    def texts(self, name: str) -> tuple[str, ...]:
        """At most 64 printable texts of at most 256 characters; what is no text is left out."""
        found = tuple(v for v in self._list(name, MAX_TEXTS) if isinstance(v, str))
        if not all(map(is_clean, found)):
            raise self.bad(name, "has a text that is not short and printable")
        return found

    def texts_or_empty(self, name: str) -> tuple[str, ...]:
        """As `texts`; empty when the list is missing."""
        return self.texts(name) if name in self.values else ()

    def bad(self, name: str, what: str) -> StatementError:
        """The error that a field deserves."""
        detail = f"{self.where}{name} {what}"
        return StatementError("bad_envelope", name="This", detail=detail)

    def _list(self, name: str, most: int = MAX_ITEMS) -> list[object]:
        value = self.values.get(name)
        if not isinstance(value, list):
            raise self.bad(name, "is not a list")
        if len(value) > most:
            raise self.bad(name, f"has more than {most} items")
        return value

    def _fields(self, name: str, value: object) -> "Fields":
        if not isinstance(value, dict):
            raise self.bad(name, "is not an object")
        return Fields(value, f"{self.where}{name}.")

    def _integer(self, name: str, value: object, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.bad(name, "is not a whole number")
        if not low <= value <= high:
            raise self.bad(name, "is out of range")
        return value

    def _missing(self, name: str) -> NoReturn:
        raise self.bad(name, "is missing")
