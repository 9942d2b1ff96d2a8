"""Energy counters of the hardware, made continuous: they wrap, go back and stall."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from desktop.clock import now_ns
from desktop.power.meter import MAX_GAP_NS, Reading
from desktop.records.energy import MeterFacts, Scope

MOST_W: Final = {Scope.PACKAGE: 3_000.0, Scope.BOARD: 3_000.0, Scope.SYSTEM: 20_000.0}
"""More than what any one counter counts draws: a faster rise is not energy."""
_RENEWAL_S: Final = 0.2
"""Counters are renewed at moments of their own, about ten times a second: two looks close together
may see all that one renewal and the next brought."""
_LAST_PART: Final = 0.9
"""A counter that falls wrapped only if it stood in the last tenth of its range."""
LIVE_NS = 3_000_000_000
"""A counter that may rest and has not moved for so long is not waited for."""

Look = Callable[[], Sequence[int | None]]
"""The raw counts of all counters of a meter at one moment; None for one that is refused."""


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
        may_rest: standing still means that its part is off (Apple's graphics, neural engine); any
            other counter that stands still has failed.
    """

    unit_j: float
    max_range: int | None = None
    may_rest: bool = False
    total_j: float = 0.0
    moved_ns: int | None = None
    """When it last moved; None until then."""
    _raw: int | None = None
    _at_ns: int = 0

    def advance(self, raw: int, at_ns: int, most_w: float = MOST_W[Scope.SYSTEM]) -> Change:
        """Take in the next raw count; `total_j` grows by what was surely used.

        Args:
            raw: the count.
            at_ns: when it was read.
            most_w: a rise of more watts is not believed.
        """
        if self._raw is None:
            change = Change.FIRST
        elif raw == self._raw:
            # nothing is lost: the next count that differs accounts for this time too
            return Change.STALLED
        else:
            seconds = (at_ns - self._at_ns) / 1e9
            # a fall is believed with no allowance: it may be no wrap but a restart
            allowed_s = seconds if raw < self._raw else max(_RENEWAL_S, seconds)
            change = self._grow(self._rise(self._raw, raw) * self.unit_j, most_w * allowed_s)
            self.moved_ns = at_ns
        self._raw, self._at_ns = raw, at_ns
        return change

    @property
    def counts(self) -> bool:
        """Whether it ever counted: many chips list counters that stay at 0."""
        return bool(self._raw) or self.moved_ns is not None

    def moved_after(self, at_ns: int) -> bool:
        """Whether it has moved since that moment."""
        return self.moved_ns is not None and self.moved_ns > at_ns

    def _rise(self, before: int, raw: int) -> int:
        most = self.max_range or 0
        wrapped = raw < before <= most and before >= _LAST_PART * most
        return raw + most - before if wrapped else raw - before

    def _grow(self, joules: float, most_j: float) -> Change:
        # a counter that went back looks like a wrap of impossible power
        if joules < 0 or joules > most_j:
            return Change.RESTARTED
        self.total_j += joules
        return Change.MOVED


@dataclass(slots=True)
class CounterMeter:
    """A meter that sums one or several counters (cards, sockets, parts of a chip).

    Args:
        facts: what it is.
        counters: in the order of `look`'s counts.
        look: reads all of them at one moment.
        on_close: lets the source go.
        clock: monotonic nanoseconds.
        max_gap_ns: see `Meter`.
        together: the counters are renewed at moments of their own, some only once a second, so the
            first look is no start: the first report waits until all of them have moved.

    A sum is only reported when every counter that counts has moved since the sum before: one card
    that froze beside another is not a card of 0 W. Of a freeze longer than `max_gap_ns` nothing is
    claimed; a shorter one loses nothing.
    """

    facts: MeterFacts
    counters: Sequence[Counter]
    look: Look
    on_close: Callable[[], None] = lambda: None
    clock: Callable[[], int] = now_ns
    max_gap_ns: int = MAX_GAP_NS
    together: bool = False
    dropped: int = field(default=0, init=False)
    _start_ns: int | None = field(default=None, init=False)
    _told_ns: int = field(default=-1, init=False)
    _restart: bool = field(default=False, init=False)

    def read(self) -> Reading | None:
        """Joules of all counters together; None when one refused or stands still."""
        before_ns = self.clock()
        counts = self.look()
        at_ns = (before_ns + self.clock()) // 2
        most_w = MOST_W[self.facts.scope]
        changes = {
            counter.advance(count, at_ns, most_w)
            for counter, count in zip(self.counters, counts, strict=True)
            if count is not None
        }
        # also of a look that gives no sum: what the counter lost is missing from the next one
        self._restart = self._restart or Change.RESTARTED in changes
        if None in counts or changes <= {Change.STALLED}:
            self.dropped += 1
            return None
        fresh = self._all_fresh(at_ns)
        # where counters have moments of their own, a look between them is no failure
        held = not fresh and not self.together
        self.dropped += Change.RESTARTED in changes or held
        return self._report(at_ns) if fresh else None

    def close(self) -> None:
        """Let the source go."""
        self.on_close()

    def _report(self, at_ns: int) -> Reading:
        restart, self._restart, self._told_ns = self._restart, False, at_ns
        return Reading(at_ns, sum(c.total_j for c in self.counters), restart=restart)

    def _all_fresh(self, at_ns: int) -> bool:
        """Whether every counter that is in use has moved since the last report."""
        if self._start_ns is None:
            self._start_ns = at_ns
            return not self.together
        since_ns = max(self._told_ns, self._start_ns)
        return all(
            counter.moved_after(since_ns) or self._rests(counter, at_ns)
            for counter in self.counters
            if counter.counts
        )

    def _rests(self, counter: Counter, at_ns: int) -> bool:
        still_since_ns = counter.moved_ns or self._start_ns or 0
        return counter.may_rest and still_since_ns <= at_ns - LIVE_NS
