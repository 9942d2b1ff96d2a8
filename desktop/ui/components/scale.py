"""A range on a common logarithmic scale: where its ends lie, and where the scale has marks."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_LEAST: Final = 0.1
_MOST: Final = 1e7
"""Beyond them nothing is drawn apart: who waits ten seconds for a token reads the number."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range and its ceiling, in the unit of its column."""

    low: float
    high: float
    ceiling: float | None = None
    """None: none is known."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Whole decades, from 10 to the power of `first` to 10 to the power of `last`."""

    first: int = 0
    last: int = 3

    def at(self, value: float) -> float:
        """Where `value` lies: 0 at the first decade, 1 at the last, and never beyond them."""
        exponent = math.log10(min(_MOST, max(_LEAST, value)))
        return min(1.0, max(0.0, (exponent - self.first) / (self.last - self.first)))

    @property
    def marks(self) -> tuple[float, ...]:
        """The decades: 1, 10, 100."""
        return tuple(10.0**exponent for exponent in range(self.first, self.last + 1))


def scale_over(spans: Iterable[Span]) -> Scale:
    """The fewest whole decades that hold every span and its ceiling; 1 to 1,000 without any."""
    found = tuple(spans)
    if not found:
        return Scale()
    least = min(max(_LEAST, span.low) for span in found)
    most = max(min(_MOST, max(span.high, span.ceiling or 0.0)) for span in found)
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return Scale(first, max(last, first + 1))
