"""The live graph's data: written by the run and sampler threads, pulled by a timer of the door."""

import threading
from itertools import pairwise

from desktop.records.energy import PowerSample
from desktop.records.events import Steps
from desktop.records.request import Curves


class LiveCurves:
    """Points since the run began. Every method is safe from any thread and takes microseconds."""

    def __init__(self, start_ns: int) -> None:
        self._start_ns = start_ns
        self._lock = threading.Lock()
        self._generation: list[tuple[float, float]] = []
        self._prompt: list[tuple[float, float]] = []
        self._power: list[tuple[float, float]] = []

    def add_steps(self, steps: Steps) -> None:
        """Each step as (s, tok/s); a step that took no time is left out."""
        target = self._prompt if steps.tokens_per_step > 1 else self._generation
        points = [
            (self._seconds(b), steps.tokens_per_step * 1e9 / (b - a))
            for a, b in pairwise(steps.end_ns)
            if b > a
        ]
        with self._lock:
            target.extend(points)

    def add_power(self, sample: PowerSample) -> None:
        """A sample as (s, W)."""
        with self._lock:
            self._power.append((self._seconds(sample.at_ns), sample.watts_w))

    def snapshot(self) -> Curves:
        """A copy that does not change."""
        with self._lock:
            return Curves(tuple(self._generation), tuple(self._prompt), tuple(self._power))

    def _seconds(self, at_ns: int) -> float:
        return (at_ns - self._start_ns) / 1e9
