"""The statistics of repeated measurements: median first, with an interval that assumes nothing.

Speeds are skewed (a busy moment only ever slows), so the median is the figure and its uncertainty
is the order-statistic interval: the two sorted samples between which the true median lies with at
least 95 % probability whatever the distribution (binomial argument; see e.g. Conover, *Practical
Nonparametric Statistics*, §3.2).
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import median
from typing import Final

from desktop.records.run import Rate, Repetition, Run

_MOST_IN_TAIL: Final = 40
"""2.5 %, one in so many, may lie on each side of the interval: together 5 %."""


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the median of `values`; None when there are too few (below six)."""
    rank = _lower_rank(len(values))
    if rank is None:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[len(ordered) - rank]


def spread(values: Sequence[float]) -> float | None:
    """The 95 % half-width of the median ÷ the median; None when there are too few values."""
    interval = median_interval(values)
    if interval is None:
        return None
    low, high = interval
    return (high - low) / 2 / median(values)


def rate_of(test: str, repetitions: Iterable[Repetition]) -> Rate | None:
    """Sum up the timed repetitions of `test`, warm-ups left out; None when there are none."""
    return next(iter(rates_of_tests([test], repetitions)), None)


def rates_of_tests(tests: Iterable[str], repetitions: Iterable[Repetition]) -> tuple[Rate, ...]:
    """As `rate_of`, of each of `tests` that was timed, in their order; looks at each one once."""
    values: dict[str, list[float]] = {}
    for repetition in repetitions:
        if not repetition.warmup:
            values.setdefault(repetition.test, []).append(repetition.rate_tok_s)
    return tuple(_rate(test, values[test]) for test in tests if test in values)


def _rate(test: str, values: Sequence[float]) -> Rate:
    return Rate(test, median(values), spread(values), max(values), len(values))


def energy_per_token_j(run: Run, test: str) -> float | None:
    """Joules per token of `test`; None when its energy is not known.

    The energy of the timed repetitions, scaled up where samples did not cover all of their time,
    ÷ their tokens.
    """
    energy = dict(run.energy).get(test)
    tokens = sum(r.n_tokens for r in run.repetitions if r.test == test and not r.warmup)
    if energy is None or not tokens or not energy.covered:
        return None
    return energy.energy_j / energy.covered / tokens


@lru_cache(maxsize=4096)
def _lower_rank(n: int) -> int | None:
    """The largest k with P(X(k) ≤ median ≤ X(n+1-k)) ≥ 95 %, counted from one.

    In whole numbers: of the 2^n ways in which n values lie about the median, `tail` have fewer than
    k below it.
    """
    ways, tail, best = 1, 0, None
    for k in range(1, n // 2 + 1):
        tail += ways
        if _MOST_IN_TAIL * tail > 1 << n:
            break
        best = k
        ways = ways * (n - k + 1) // k
    return best
