"""Energy of a run's timed windows, and the idle power before it."""

import threading
from collections.abc import Callable, Sequence

from desktop.clock import now_ns
from desktop.power.integrate import Window, integrate_windows, segments_of
from desktop.power.meter import Meter, Reading
from desktop.power.sampler import INTERVAL_S, Waiter
from desktop.records.energy import Energy, MeterFacts

MAX_GAP_NS = 1_000_000_000
"""Ten missed readings: of a longer silence nothing is claimed."""


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


def measure_idle(
    meter: Meter,
    seconds: float,
    *,
    stopper: Waiter | None = None,
    interval_s: float = INTERVAL_S,
    clock: Callable[[], int] = now_ns,
) -> float | None:
    """Mean watts over the next `seconds`, to be called before the run and not on the UI thread.

    Args:
        meter: nobody else reads it meanwhile.
        seconds: how long.
        stopper: set by whoever cancels the run; then the wait ends at once.
        interval_s: between readings.
        clock: monotonic nanoseconds.

    Returns:
        None when it was stopped or the meter gave nothing.
    """
    waiter: Waiter = stopper or threading.Event()
    start_ns = clock()
    readings = [meter.read()]
    while clock() < start_ns + seconds * 1e9:
        if waiter.wait(interval_s):
            return None
        readings.append(meter.read())
    return _mean_w([reading for reading in readings if reading is not None])


def _mean_w(readings: Sequence[Reading]) -> float | None:
    segments = tuple(segments_of(readings))
    if not segments:
        return None
    window = (segments[0].start_ns, segments[-1].end_ns)
    part = integrate_windows(segments, [window], window[1] - window[0])
    if part is None:
        return None
    return part.energy_j * 1e9 / (part.covered * (window[1] - window[0]))
