"""What every meter is: it says what it is, and reads."""

from dataclasses import dataclass
from typing import Protocol

from desktop.records.energy import MeterFacts


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

    def read(self) -> Reading | None:
        """One reading; None, and counted in `dropped`, when there is none. Never raises."""
        ...

    def close(self) -> None:
        """Let the source go; the meter is not used afterwards."""
        ...
