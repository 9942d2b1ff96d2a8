"""The one clock. Durations use the monotonic clock, dates use UTC; tests pass their own."""

import time
from datetime import UTC, datetime


def now_ns() -> int:
    """Monotonic nanoseconds, comparable between the processes of one machine."""
    return time.perf_counter_ns()


def utc_now() -> datetime:
    """The current time in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def utc_text(moment: datetime) -> str:
    """RFC 3339 text of a UTC `moment`, as signed statements carry it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
