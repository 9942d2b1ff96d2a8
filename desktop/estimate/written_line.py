"""One line of written-out arithmetic: an expression of plain numbers, and what it comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from desktop.estimate import printed
from desktop.estimate.page_words import Said

BYTES: Final = "bytes"
MICROSECONDS: Final = "\N{MICRO SIGN}s"
TOK_S: Final = "tok/s"
MEMORY_UNITS: Final = frozenset(map(printed.unit_name, (printed.GB, printed.GIB)))
TIMES: Final = " \N{MULTIPLICATION SIGN} "
OVER: Final = " \N{DIVISION SIGN} "
MINUS: Final = " \N{MINUS SIGN} "
PLUS: Final = " + "
_DIGITS: Final = 12
"""Significant, of what goes into a line."""
_TIME_DIGITS: Final = 8
"""Significant, of a time that comes out: fewer than went in, and enough for a rate's decimal."""


@dataclass(frozen=True, slots=True)
class Line:
    """What is counted, how, and what comes out."""

    what: tuple[Said, ...]
    expression: str
    """Numbers with thousands marks; signs for times, over, plus and minus; brackets."""
    value: float
    unit: str

    @property
    def result(self) -> str:
        """The value as it is printed, and as later lines use it."""
        if self.unit == TOK_S:
            return printed.rate(self.value)
        if self.unit in MEMORY_UNITS:
            return printed.amount(self.value, 1)
        return number(self.value, _TIME_DIGITS if self.unit == MICROSECONDS else _DIGITS)

    @property
    def printed_value(self) -> float:
        """What the printed result is worth: lines below that use it come out as they say."""
        return float(self.result.replace(",", ""))

    def text(self) -> str:
        """In English, on one line."""
        what = ", ".join(said.text() for said in self.what)
        return f"{what}: {self.expression} = {self.result} {self.unit}"


def line(code: str, expression: str, value: float, unit: str = BYTES) -> Line:
    """A line whose name has no parameters."""
    return Line((Said(code),), expression, value, unit)


def total(code: str, lines: Sequence[Line]) -> Line:
    """The sum of what `lines` come to, in their unit."""
    expression = PLUS.join(each.result for each in lines)
    return line(code, expression, sum(each.value for each in lines), lines[0].unit)


def times(*factors: float | str) -> str:
    """A product; texts are expressions in brackets already, or need none."""
    return TIMES.join(f if isinstance(f, str) else number(f) for f in factors)


def number(value: float, digits: int = _DIGITS) -> str:
    """Whole where it is whole; otherwise so many significant digits, never in powers of ten."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    exponent = int(f"{value:e}".split("e")[1])
    return f"{value:,.{max(0, digits - 1 - exponent)}f}".rstrip("0").rstrip(".")
