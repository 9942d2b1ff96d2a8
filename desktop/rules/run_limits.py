"""What no honest run comes near: above it a signed value is refused, and none is written."""

from typing import Final

from desktop.records.energy import Energy
from desktop.records.run import Repetition

MAX_ENERGY_J: Final = 1e12
MIN_COVERED: Final = 1e-6
MAX_POWER_W: Final = 1e5
"""A rack full of machines."""
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
    most_j = MAX_POWER_W * energy.covered * window_ns / 1e9
    return 0 <= energy.energy_j <= min(most_j, MAX_ENERGY_J)


def window_ns(test: str, repetitions: tuple[Repetition, ...]) -> int:
    """The time of the timed repetitions of `test` together."""
    return sum(r.end_ns - r.start_ns for r in repetitions if r.test == test and not r.warmup)
