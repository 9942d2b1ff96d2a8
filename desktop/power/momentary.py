"""Meters that tell watts at a moment: the sum of one or several looks."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from desktop.clock import now_ns
from desktop.power.meter import MAX_GAP_NS, Reading
from desktop.records.energy import MeterFacts

MOST_W: Final = 100_000.0
"""More than any board or machine that a sensor of it measures draws."""


def believed_w(watts_w: float | None, most_w: float = MOST_W) -> float | None:
    """A sensor's watts while they can be true; None for 0 or less, too many, and no number."""
    if watts_w is None or not math.isfinite(watts_w):
        return None
    return watts_w if 0 < watts_w <= most_w else None


@dataclass(slots=True)
class PowerMeter:
    """The sum of several sensors' watts.

    Args:
        facts: what it is.
        looks: each gives one sensor's watts, or None when it refuses; `believed_w` sifts them.
        on_close: lets the source go.
        every_ns: no more often than this; between, `read` gives None and counts nothing as dropped.
        clock: monotonic nanoseconds.
        max_gap_ns: see `Meter`.
    """

    facts: MeterFacts
    looks: Sequence[Callable[[], float | None]]
    on_close: Callable[[], None] = lambda: None
    every_ns: int = 0
    clock: Callable[[], int] = now_ns
    max_gap_ns: int = MAX_GAP_NS
    dropped: int = field(default=0, init=False)
    _looked_ns: int | None = field(default=None, init=False)

    def read(self) -> Reading | None:
        """Watts of all sensors together; None when one of them refused, or too soon."""
        before_ns = self.clock()
        if self._looked_ns is not None and before_ns - self._looked_ns < self.every_ns:
            return None
        self._looked_ns = before_ns
        watts = [believed_w(look()) for look in self.looks]
        at_ns = (before_ns + self.clock()) // 2
        known = [w for w in watts if w is not None]
        if len(known) < len(watts):
            self.dropped += 1
            return None
        return Reading(at_ns, watts_w=sum(known))

    def close(self) -> None:
        """Let the source go."""
        self.on_close()
