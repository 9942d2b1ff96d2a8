"""What a meter told, in sums: for watching without an end, where a list would fill the memory."""

from dataclasses import dataclass, replace
from typing import Final

from desktop.power.integrate import Window, integrate_windows, segments_of
from desktop.power.meter import Reading

RECENT_NS: Final = 1_000_000_000
"""What is asked of the last moments never reaches further back from the newest reading."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The sums over all readings so far, and the last of them one by one.

    Args:
        max_gap_ns: readings further apart than this tell nothing of the time between them.
    """

    max_gap_ns: int
    energy_j: float = 0.0
    covered_ns: int = 0
    """The time of which `energy_j` is the energy."""
    first_ns: int | None = None
    recent: tuple[Reading, ...] = ()
    """Those of the last `RECENT_NS`, and the one before them."""

    @property
    def last_ns(self) -> int | None:
        """When the newest reading was; None before there is one."""
        return self.recent[-1].at_ns if self.recent else None

    def with_reading(self, reading: Reading) -> "Tally":
        """The tally after one more reading, which is newer than all before it."""
        if self.first_ns is None:
            return replace(self, first_ns=reading.at_ns, recent=(reading,))
        step = (self.recent[-1].at_ns, reading.at_ns)
        part = integrate_windows(segments_of((self.recent[-1], reading)), [step], self.max_gap_ns)
        return replace(
            self,
            energy_j=self.energy_j + (part.energy_j if part else 0.0),
            # a step between two readings is covered whole or not at all
            covered_ns=self.covered_ns + (step[1] - step[0] if part else 0),
            recent=_recent((*self.recent, reading)),
        )


class Tallying:
    """Keeps a tally for a `Sampler`, which adds in its thread; any thread may look at `tally`."""

    def __init__(self, max_gap_ns: int) -> None:
        self.tally = Tally(max_gap_ns)

    def add(self, reading: Reading) -> None:
        """One more reading."""
        # one assignment: whoever looks sees the sums before it or those after it
        self.tally = self.tally.with_reading(reading)

    def readings(self) -> tuple[Reading, ...]:
        """The last ones."""
        return self.tally.recent


def whole_span(tally: Tally, began_ns: int, now_ns: int) -> Window:
    """From the beginning until now, of which the readings tell a part.

    Up to its longest gap, a meter is only between two readings: then the span begins with its first
    one, or ends with its last. A longer silence counts as time of which nothing is known.
    """
    first_ns, last_ns, gap_ns = tally.first_ns, tally.last_ns, tally.max_gap_ns
    late = first_ns is None or first_ns - began_ns > gap_ns
    silent = last_ns is None or now_ns - last_ns > gap_ns
    start_ns = began_ns if late or first_ns is None else first_ns
    return start_ns, now_ns if silent or last_ns is None else last_ns


def _recent(readings: tuple[Reading, ...]) -> tuple[Reading, ...]:
    from_ns = readings[-1].at_ns - RECENT_NS
    older = sum(reading.at_ns <= from_ns for reading in readings)
    return readings[max(0, older - 1) :]
