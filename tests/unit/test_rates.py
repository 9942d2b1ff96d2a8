"""rules.rates: the interval of the median must hold the truth as often as it says."""

import random
import time
from statistics import median

import pytest

from desktop.records.run import Repetition
from desktop.rules.rates import median_interval, rate_of, rates_of_tests, spread


def test_fewer_than_six_have_no_interval():
    assert median_interval([1.0] * 5) is None
    assert spread([]) is None


@pytest.mark.parametrize(
    ("n", "rank"), [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (20, 6), (30, 10), (100, 40)]
)
def test_ranks_are_those_of_the_binomial_table(n, rank):
    # tables of the sign-test interval, e.g. Conover, Practical Nonparametric Statistics
    values = [float(i) for i in range(1, n + 1)]
    assert median_interval(values) == (rank, n + 1 - rank)


@pytest.mark.parametrize("draw", ["normal", "skewed"])
@pytest.mark.parametrize("n", [6, 13, 30])
def test_the_interval_contains_the_true_median_at_least_95_percent_of_the_time(draw, n):
    rng = random.Random(n)
    one = {"normal": lambda: rng.gauss(100, 5), "skewed": lambda: 100 - rng.expovariate(0.2)}[draw]
    truth = {"normal": 100.0, "skewed": 100 - 0.6931471805599453 / 0.2}[draw]
    rounds = 3000
    held = 0
    for _ in range(rounds):
        low, high = median_interval([one() for _ in range(n)])
        held += low <= truth <= high
    # three standard errors of a proportion of 0.95 below the nominal share
    assert held / rounds >= 0.95 - 3 * (0.95 * 0.05 / rounds) ** 0.5


def test_rate_leaves_warmups_and_other_tests_out():
    def rep(test, warmup, seconds):
        return Repetition(test, warmup, 0, int(seconds * 1e9), 100)

    reps = [
        rep("tg128", True, 50),
        rep("pp512", False, 9),
        *(rep("tg128", False, s) for s in (1, 2, 4)),
    ]
    rate = rate_of("tg128", reps)
    assert rate is not None
    assert (rate.median_tok_s, rate.peak_tok_s, rate.repetitions) == (50, 100, 3)
    assert rate.spread is None
    assert rate_of("pp1", reps) is None


def test_the_interval_of_many_is_quick():
    begun = time.process_time()
    for n in range(1_000, 2_001):
        low, high = median_interval(range(1, n + 1))
        assert low + high == n + 1
    assert time.process_time() - begun < 5


def test_rates_of_several_tests_come_in_their_order_and_of_none_untimed():
    reps = [Repetition(test, False, 0, 10**9, 7) for test in ("tg7", "pp7", "tg7")]
    found = rates_of_tests(["pp7", "pp1", "tg7"], reps)
    assert [(rate.test, rate.repetitions) for rate in found] == [("pp7", 1), ("tg7", 2)]
    assert found[1] == rate_of("tg7", reps)


def test_spread_is_half_the_interval_over_the_median():
    values = [90, 100, 100, 100, 100, 110]
    assert spread(values) == pytest.approx(10 / median(values))
