"""Fewer points for the same picture, and round ends for its axes. Pure."""

import math
from collections.abc import Sequence
from typing import TypeAlias

Points: TypeAlias = Sequence[tuple[float, float]]
"""(x, y) with x ascending."""


def decimate(points: Points, limit: int) -> Points:
    """At most `limit` points that keep every extreme: the lowest and highest of each stretch."""
    if len(points) <= limit:
        return points
    width = math.ceil(len(points) / (limit // 2))
    kept: list[tuple[float, float]] = []
    for start in range(0, len(points), width):
        stretch = points[start : start + width]
        low = min(stretch, key=_y)
        high = max(stretch, key=_y)
        kept += [low] if low is high else sorted((low, high))
    return kept


def ceiling(value: float, least: float) -> float:
    """The end of an axis that shows `value`: a round number a little above."""
    if value <= least:
        return least
    unit = 10.0 ** math.floor(math.log10(value))
    steps = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
    return next(step * unit for step in steps if step * unit >= value)


def _y(point: tuple[float, float]) -> float:
    return point[1]
