"""The one clock. Durations use the monotonic clock, dates use UTC; tests pass their own."""

import re
import time
from datetime import UTC, datetime
from typing import Final, TypeGuard

_UTC_TEXT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def now_ns() -> int:
    """Monotonic nanoseconds, comparable between the processes of one machine."""
    return time.perf_counter_ns()


def utc_now() -> datetime:
    """The current time in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def utc_text(moment: datetime) -> str:
    """RFC 3339 text of a UTC `moment`, as signed statements carry it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_utc_text(text: object) -> TypeGuard[str]:
    """Whether it is written as `utc_text` does, which sorts by time."""
    return isinstance(text, str) and _UTC_TEXT.fullmatch(text) is not None
