"""Energy of a run's timed windows, and the idle power before it."""

from collections.abc import Sequence
from typing import Protocol

from desktop.power.integrate import Window, integrate_windows, segments_of
from desktop.power.meter import MAX_GAP_NS, Reading
from desktop.power.sampler import Waiter
from desktop.records.energy import Energy, MeterFacts

LONGER_S = 3


class HasReadings(Protocol):
    """A `Sampler`; tests pass their own."""

    def readings(self) -> tuple[Reading, ...]:
        """Every reading so far."""
        ...


def energy_of(
    windows: Sequence[Window],
    readings: Sequence[Reading],
    idle_w: float | None,
    facts: MeterFacts,
    max_gap_ns: int = MAX_GAP_NS,
) -> Energy | None:
    """Joules over all windows together, with the share of them that was covered.

    Args:
        windows: (start, end) of each timed repetition in nanoseconds, not overlapping.
        readings: the sampler's, in order of time.
        idle_w: the baseline, kept beside the energy and not taken off it.
        facts: the meter's.
        max_gap_ns: readings further apart than this cover nothing between them.

    Returns:
        None when nothing of the windows was covered.
    """
    part = integrate_windows(segments_of(readings), windows, max_gap_ns)
    return None if part is None else Energy(part.energy_j, part.covered, idle_w, facts)


def measure_idle(sampler: HasReadings, seconds: float, stopper: Waiter) -> float | None:
    """Mean watts of a sampler that runs, over the next `seconds`; not on the UI thread.

    Only the sampler's thread reads the meter, so a stuck meter holds up nobody here. Where the
    source has news so rarely that one reading came, the wait goes on for up to `LONGER_S`.

    Args:
        sampler: running; its readings so far count too.
        seconds: how long.
        stopper: set by whoever cancels the run; then the wait ends at once.

    Returns:
        None when it was stopped or the meter gave too little.
    """
    if stopper.wait(seconds):
        return None
    longer = 0
    while len(sampler.readings()) == 1 and mean_w(sampler.readings()) is None:
        if longer >= LONGER_S or stopper.wait(1.0):
            return None
        longer += 1
    return mean_w(sampler.readings())


def mean_w(readings: Sequence[Reading]) -> float | None:
    """Mean watts over all of `readings`; None when they tell nothing.

    A single momentary reading is its own mean; a counter needs two.
    """
    segments = tuple(segments_of(readings))
    if not segments:
        momentary = [r.watts_w for r in readings if r.watts_w is not None]
        return momentary[0] if momentary else None
    window = (segments[0].start_ns, segments[-1].end_ns)
    part = integrate_windows(segments, [window], window[1] - window[0])
    if part is None:
        return None
    return part.energy_j * 1e9 / (part.covered * (window[1] - window[0]))
