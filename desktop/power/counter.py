"""Energy counters of the hardware, made continuous: they wrap, go back and stall."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from desktop.clock import now_ns
from desktop.power.meter import Reading
from desktop.records.energy import MeterFacts

MOST_W = 20_000.0
"""More than any one counter's board or package draws: a faster rise is not energy."""


class Change(Enum):
    """What a counter did since it last moved."""

    FIRST = auto()
    MOVED = auto()
    STALLED = auto()
    RESTARTED = auto()


@dataclass(slots=True)
class Counter:
    """One counter.

    Args:
        unit_j: joules of one count.
        max_range: the counter starts again at 0 after this count; None when it never wraps.
    """

    unit_j: float
    max_range: int | None = None
    total_j: float = 0.0
    _raw: int | None = None
    _at_ns: int = 0

    def advance(self, raw: int, at_ns: int) -> Change:
        """Take in the next raw count; `total_j` grows by what was surely used."""
        if self._raw is None:
            change = Change.FIRST
        elif raw == self._raw:
            # nothing is lost: the next count that differs accounts for this time too
            return Change.STALLED
        else:
            change = self._grow(self._rise(self._raw, raw) * self.unit_j, at_ns)
        self._raw, self._at_ns = raw, at_ns
        return change

    def _rise(self, before: int, raw: int) -> int:
        wrapped = raw < before and self.max_range is not None
        return raw + (self.max_range or 0) - before if wrapped else raw - before

    def _grow(self, joules: float, at_ns: int) -> Change:
        # a counter that went back looks like a wrap of impossible power
        seconds = (at_ns - self._at_ns) / 1e9
        if joules < 0 or joules > MOST_W * seconds:
            return Change.RESTARTED
        self.total_j += joules
        return Change.MOVED


@dataclass(frozen=True, slots=True)
class CountedSource:
    """A counter and how to look at it."""

    counter: Counter
    look: Callable[[], int | None]


@dataclass(slots=True)
class CounterMeter:
    """A meter that sums one or several counters (cards, sockets)."""

    facts: MeterFacts
    sources: Sequence[CountedSource]
    on_close: Callable[[], None] = lambda: None
    clock: Callable[[], int] = now_ns
    dropped: int = field(default=0, init=False)

    def read(self) -> Reading | None:
        """Joules of all counters together; None when one refused or none has moved."""
        before_ns = self.clock()
        counts = [source.look() for source in self.sources]
        at_ns = (before_ns + self.clock()) // 2
        changes = {
            source.counter.advance(count, at_ns)
            for source, count in zip(self.sources, counts, strict=True)
            if count is not None
        }
        if None in counts or changes <= {Change.STALLED}:
            self.dropped += 1
            return None
        restart = Change.RESTARTED in changes
        self.dropped += restart
        energy_j = sum(source.counter.total_j for source in self.sources)
        return Reading(at_ns, energy_j=energy_j, restart=restart)

    def close(self) -> None:
        """Let the source go."""
        self.on_close()
