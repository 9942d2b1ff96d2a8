"""What no honest run comes near: beyond it a signed value is refused, and none is written."""

from collections.abc import Iterable
from typing import Final

from desktop.records.energy import Energy
from desktop.records.run import Repetition

MIN_ENERGY_J: Final = 1e-6
"""No counter has a smaller unit."""
MAX_ENERGY_J: Final = 1e12
MIN_COVERED: Final = 1e-6
MAX_FILES: Final = 1000
"""Of a build that is a split set."""
MAX_POWER_W: Final = 1e5
"""A rack full of machines."""
_MIN_POWER_W: Final = 0.01
"""Nothing that computes draws less: a counter that stood still is no measurement."""
_MOST_PROMPT_TOK_S: Final = 1e7
_MOST_GENERATED_TOK_S: Final = 1e6
"""One at a time."""


def too_fast(repetition: Repetition) -> bool:
    """Whether no hardware processes tokens as fast."""
    generated = repetition.test.startswith("tg")
    return repetition.rate_tok_s > (_MOST_GENERATED_TOK_S if generated else _MOST_PROMPT_TOK_S)


def energy_fits(energy: Energy, window_ns: int) -> bool:
    """Whether a meter can have seen that energy in the part of `window_ns` that it covered."""
    if not MIN_COVERED <= energy.covered <= 1:
        return False
    seconds = energy.covered * window_ns / 1e9
    least_j = max(_MIN_POWER_W * seconds, MIN_ENERGY_J)
    return least_j <= energy.energy_j <= min(MAX_POWER_W * seconds, MAX_ENERGY_J)


def windows_ns(repetitions: Iterable[Repetition]) -> dict[str, int]:
    """By test: the time of its timed repetitions together. No test without one is in it."""
    found: dict[str, int] = {}
    for r in repetitions:
        if not r.warmup:
            found[r.test] = found.get(r.test, 0) + r.end_ns - r.start_ns
    return found
