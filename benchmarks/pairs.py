"""What the benchmarks share: interleaved pairs, the interval of their median ratio, the machine.

A ratio of two things measured a minute apart says more about the minute than about the things. So
each benchmark runs A and B in turn, swapping who goes first, takes the ratio of each pair, and
prints the median ratio with its 95 % interval (order statistics, `desktop.rules.rates`).
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, stdev
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from desktop.machine.load import LoadWindow
from desktop.rules.rates import median_interval

HALF_WIDTH: Final = 0.015
"""What the number of pairs is chosen for."""
_MEDIAN_WIDTH: Final = 1.2533 * 1.96
"""95 % half-width of a median of normal data in standard errors."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """The median of the pairs' ratios and the interval that holds it with 95 %."""

    name: str
    pairs: int
    median: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Of the interval."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return (
            f"{self.name:<28} {self.median:.4f}   95 % interval {self.low:.4f} … {self.high:.4f}"
            f"   (± {100 * self.half_width:.2f} %, {self.pairs} pairs)"
        )


def ratio_of(name: str, values: Sequence[float]) -> Ratio:
    """The median ratio of at least six pairs."""
    interval = median_interval(values)
    if interval is None:
        raise ValueError(f"{name}: {len(values)} pairs are too few")
    return Ratio(name, len(values), median(values), *interval)


def interleaved(
    pairs: int, first: Callable[[], dict[str, float]], second: Callable[[], dict[str, float]]
) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Run both `pairs` times, swapping the order each time; each call returns named values."""
    done = []
    for i in range(pairs):
        if i % 2:
            b = second()
            a = first()
        else:
            a = first()
            b = second()
        done.append((a, b))
        print(f"\rpair {i + 1} of {pairs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return done


def needed(values: Sequence[float], half_width: float = HALF_WIDTH) -> int:
    """How many pairs a pilot's ratios ask for; to be fixed before the real run."""
    return max(6, round((_MEDIAN_WIDTH * stdev(values) / half_width) ** 2))


class Quiet:
    """States how busy the machine was with anything but this benchmark and its children."""

    def __init__(self) -> None:
        self._window = LoadWindow([os.getpid()])
        self._load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0

    def words(self) -> str:
        """For the printout."""
        other = self._window.other_percent([os.getpid()])
        said = "not known" if other is None else f"{other:.1f} % of all cores"
        return f"other programs used {said}; load average at the start {self._load:.2f}"


def save(name: str, values: object) -> Path:
    """Keep every raw value in `out/`, which is not committed; no run overwrites another's."""
    folder = Path(__file__).resolve().parent.parent / "out"
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%S}.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    return path
