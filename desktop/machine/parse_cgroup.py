"""Limits of control groups: processors, and memory."""

from collections.abc import Iterable

from desktop.sources.numbers import above_zero, whole


def cpu_limit(quotas: Iterable[str]) -> float | None:
    """The tightest of `quota period` lines (microseconds), in processors; None when unlimited.

    `max 100000` (version 2) and `-1 100000` (version 1) both mean no limit.
    """
    limits = [limit for limit in map(_limit, quotas) if limit is not None]
    return min(limits, default=None)


def _limit(line: str) -> float | None:
    words = line.split()
    quota, period = (above_zero(word) for word in (*words, "", "")[:2])
    return quota / period if quota is not None and period is not None else None


def memory_limit(lines: Iterable[str]) -> tuple[int | None, int | None]:
    """The tightest limit and the least that is left, bytes, of `limit used cache` lines.

    `max` (version 2) is no limit; version 1 writes a number close to 2^63 for none, which no
    comparison with the machine's memory lets through.
    """
    told = [t for t in map(_memory, lines) if t is not None]
    return min((t[0] for t in told), default=None), min((t[1] for t in told), default=None)


def _memory(line: str) -> tuple[int, int] | None:
    limit, used, cache = (whole(word) for word in (*line.split(), "", "", "")[:3])
    # a limit of 0 or less stops nobody who is running
    if limit is None or limit <= 0 or used is None or cache is None:
        return None
    # a cache that is larger than what is used is two readings at different moments
    return limit, max(0, limit - max(0, used - cache))
