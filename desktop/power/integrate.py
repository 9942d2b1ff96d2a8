"""Watts to joules over exact windows of time. What was not seen is never counted as 0."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from desktop.power.meter import Reading
from desktop.records.energy import PowerSample


class Part(NamedTuple):
    """Energy of the part of a window that was covered."""

    energy_j: float
    covered: float
    """Share of the window that lies between readings, 0 to 1."""


class Segment(NamedTuple):
    """A stretch of time over which the power is a straight line."""

    start_ns: int
    end_ns: int
    start_w: float
    end_w: float


Window = tuple[int, int]
"""Start and end in nanoseconds of the one clock."""


def integrate(
    samples: Sequence[PowerSample], start_ns: int, end_ns: int, max_gap_ns: int
) -> Part | None:
    """Energy between two moments, by trapezoids cut exactly at the edges.

    Args:
        samples: in order of time.
        start_ns: start of the window.
        end_ns: end of the window.
        max_gap_ns: samples further apart than this tell nothing of the time between them.

    Returns:
        None when no part of the window is covered.
    """
    return integrate_windows(lines(samples), [(start_ns, end_ns)], max_gap_ns)


def integrate_windows(
    segments: Iterable[Segment], windows: Sequence[Window], max_gap_ns: int
) -> Part | None:
    """Energy of several windows together; None when no part of any is covered."""
    kept = [s for s in segments if 0 < s.end_ns - s.start_ns <= max_gap_ns]
    pieces = [piece for s in kept for w in windows if (piece := _cut(s, w)) is not None]
    covered_ns = sum(piece.end_ns - piece.start_ns for piece in pieces)
    whole_ns = sum(end_ns - start_ns for start_ns, end_ns in windows)
    if covered_ns <= 0:
        return None
    return Part(sum(map(_joules, pieces)), min(1.0, covered_ns / whole_ns))


def lines(samples: Iterable[PowerSample]) -> Iterator[Segment]:
    """Straight lines between momentary readings."""
    for a, b in pairwise(samples):
        yield Segment(a.at_ns, b.at_ns, a.watts_w, b.watts_w)


def steps(readings: Iterable[Reading]) -> Iterator[Segment]:
    """Mean power between readings of a counter: only its differences are known.

    Cut at a window's edge, a step is the linear interpolation of the counter there.
    """
    for a, b in pairwise(readings):
        if a.energy_j is None or b.energy_j is None or b.restart or b.at_ns <= a.at_ns:
            continue
        watts_w = (b.energy_j - a.energy_j) * 1e9 / (b.at_ns - a.at_ns)
        yield Segment(a.at_ns, b.at_ns, watts_w, watts_w)


def segments_of(readings: Sequence[Reading]) -> Iterator[Segment]:
    """Steps for counters, lines for momentary readings."""
    if any(r.energy_j is not None for r in readings):
        return steps(readings)
    return lines(PowerSample(r.at_ns, r.watts_w) for r in readings if r.watts_w is not None)


def power_samples(readings: Sequence[Reading]) -> tuple[PowerSample, ...]:
    """What to draw: momentary watts as read, a counter's mean watts at the middle of its step."""
    momentary = [PowerSample(r.at_ns, r.watts_w) for r in readings if r.watts_w is not None]
    means = [PowerSample((s.start_ns + s.end_ns) // 2, s.start_w) for s in steps(readings)]
    return tuple(momentary or means)


def _cut(segment: Segment, window: Window) -> Segment | None:
    start_ns = max(segment.start_ns, window[0])
    end_ns = min(segment.end_ns, window[1])
    if start_ns >= end_ns:
        return None
    return Segment(start_ns, end_ns, _at(segment, start_ns), _at(segment, end_ns))


def _at(segment: Segment, at_ns: int) -> float:
    share = (at_ns - segment.start_ns) / (segment.end_ns - segment.start_ns)
    return segment.start_w + share * (segment.end_w - segment.start_w)


def _joules(s: Segment) -> float:
    return (s.start_w + s.end_w) / 2 * (s.end_ns - s.start_ns) / 1e9
