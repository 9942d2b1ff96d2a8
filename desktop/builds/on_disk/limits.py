"""How much of a program's folders is looked at."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a program's folders is looked at."""

    depth: int = 12
    entries: int = 100_000
    seconds: float = 30.0
    complaints: int = 20
    small_bytes: int = 1 << 20
    """The largest manifest or settings file that is read."""
    now: Callable[[], float] = time.monotonic
    """The clock, in seconds."""


def said(error: Exception) -> str:
    """What the system says of it, without the path."""
    return getattr(error, "strerror", None) or type(error).__name__
