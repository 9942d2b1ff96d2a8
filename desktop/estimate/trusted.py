"""Which measured parts estimates rest on, and how sure each of them is."""

from typing import Final

from desktop.records.parts import PartRate
from desktop.rules.parts_rates import caches_may_help

MOST_SPREAD: Final = 0.5
"""A median whose interval reaches further than this share of it says more about other programs."""
_HALF_WIDTHS: Final = 1.96
"""Standard deviations in the half-width of a 95 % interval."""


def is_trusted(rate: PartRate) -> bool:
    """Whether an estimate may rest on it: neither helped by caches nor too unsure."""
    return not caches_may_help(rate) and (rate.spread is None or rate.spread <= MOST_SPREAD)


def spread_sd(rate: PartRate) -> float:
    """The relative standard deviation of its median.

    Of too few repetitions to tell: that of the widest that is trusted.
    """
    return (MOST_SPREAD if rate.spread is None else rate.spread) / _HALF_WIDTHS
