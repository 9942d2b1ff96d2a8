"""CPU quotas of control groups to a number of processors."""

from collections.abc import Iterable


def cpu_limit(quotas: Iterable[str]) -> float | None:
    """The tightest of `quota period` lines (microseconds), in processors; None when unlimited.

    `max 100000` (version 2) and `-1 100000` (version 1) both mean no limit.
    """
    limits = [limit for limit in map(_limit, quotas) if limit is not None]
    return min(limits, default=None)


def _limit(line: str) -> float | None:
    words = line.split()
    try:
        quota, period = int(words[0]), int(words[1])
    except (IndexError, ValueError):
        return None
    return quota / period if quota > 0 and period > 0 else None
