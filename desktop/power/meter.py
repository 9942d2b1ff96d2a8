"""What every meter is: it says what it is, and reads."""

from dataclasses import dataclass, replace
from typing import Protocol

from desktop.records.energy import MeterFacts

MAX_GAP_NS = 1_000_000_000
"""Ten missed readings: of a longer silence nothing is claimed."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at a meter: joules from an energy counter, else watts."""

    at_ns: int
    """Middle of the look, by the one clock."""
    energy_j: float | None = None
    """Joules since an arbitrary start; it never falls."""
    watts_w: float | None = None
    restart: bool = False
    """The counter began anew: nothing is known of the time since the reading before."""


class Meter(Protocol):
    """A source of watts. Used by one thread at a time."""

    @property
    def facts(self) -> MeterFacts:
        """Name, source, kind, scope."""
        ...

    @property
    def dropped(self) -> int:
        """Looks that gave nothing to use: refused, stalled, gone back."""
        ...

    @property
    def max_gap_ns(self) -> int:
        """Readings further apart than this tell nothing of the time between them.

        `MAX_GAP_NS`, and longer for sources that have news more rarely than ten times a second.
        """
        ...

    def read(self) -> Reading | None:
        """One reading; None when there is none, or none yet. Never raises."""
        ...

    def close(self) -> None:
        """Let the source go; the meter is not used afterwards."""
        ...


@dataclass(slots=True)
class Noted:
    """A meter with a word more in its detail."""

    meter: Meter
    note: str

    @property
    def facts(self) -> MeterFacts:
        """The meter's, with the note."""
        facts = self.meter.facts
        return replace(facts, detail=f"{facts.detail} {self.note}".strip())

    @property
    def dropped(self) -> int:
        """The meter's."""
        return self.meter.dropped

    @property
    def max_gap_ns(self) -> int:
        """The meter's."""
        return self.meter.max_gap_ns

    def read(self) -> Reading | None:
        """The meter's."""
        return self.meter.read()

    def close(self) -> None:
        """Let the meter go."""
        self.meter.close()
