"""Measured times against expected ones: the spans hold what they say they hold."""

import math
from statistics import fmean

import numpy as np
import pytest

from desktop.estimate.residuals import COVERAGE, Residuals, Seen, Span, Term, span_of

KINDS = ("Q4_0", "Q8_0", "F16", "Q4_K")
SD = 0.1


def _terms(rng, fixed=0.1):
    parts = rng.dirichlet(np.ones(len(KINDS)))
    terms = {kind: Term(float(p) * 0.02, SD) for kind, p in zip(KINDS, parts, strict=True)}
    return terms | {"layers": Term(fixed * 0.02, 0.5)}


class _World:
    """A machine as the method supposes machines to be: errors of terms, builds and runs."""

    def __init__(self, seed, misfit=0.03, noise=0.025):
        self.rng = np.random.default_rng(seed)
        self.errors = {k: self.rng.normal(0, SD) for k in KINDS}
        self.errors["layers"] = self.rng.normal(0, 0.5)
        self.common = self.rng.normal(0, 0.08)
        self.misfit, self.noise = misfit, noise

    def seen(self, name):
        terms = _terms(self.rng)
        true = sum(t.seconds * (1 + self.errors[k] + self.common) for k, t in terms.items())
        seconds = true * math.exp(self.rng.normal(0, self.misfit) + self.rng.normal(0, self.noise))
        return Seen(name, terms, seconds)


@pytest.mark.parametrize("runs", [0, 1, 2, 8, 20])
def test_spans_hold_what_they_say_after_few_runs_and_many(runs):
    held = []
    for seed in range(100):
        world = _World(seed)
        seen = [world.seen(f"b{i}") for i in range(runs)]
        new = world.seen("new")
        span = span_of(new.terms, seen, "new")
        held.append(span.low <= new.seconds <= span.high)
    # 100 draws: three standard deviations of a share of 95 % are 6.5 points
    assert COVERAGE - 0.065 <= fmean(held) <= 1.0


def _mean_width(seed, runs):
    world = _World(seed)
    seen = [world.seen(f"b{i}") for i in range(runs)]
    spans = Residuals(seen).spans([("new", world.seen("n").terms) for _ in range(5)])
    return fmean(s.high / s.low for s in spans)


def test_runs_narrow_and_no_number_of_them_makes_it_certain():
    widths = [fmean(_mean_width(seed, runs) for seed in range(8)) for runs in (0, 1, 2, 8, 30)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 1.5
    # 3 % between builds and 2.5 % between runs are left: 95 % of them are within 1.165
    assert widths[-1] == pytest.approx(1.165, rel=0.06)


def test_without_runs_the_middle_is_the_sum_of_the_terms():
    terms = {"a": Term(0.01, 0.1), "b": Term(0.02, 0.2)}
    span = span_of(terms)
    assert span.middle == pytest.approx(0.03, rel=0.02)
    assert span.low < 0.03 < span.high


def test_a_term_that_was_seen_slow_is_slow_and_another_is_only_as_slow_as_the_machine():
    a, b = {"a": Term(0.01, 0.2)}, {"b": Term(0.01, 0.2)}
    seen = [Seen(f"x{i}", a, 0.013) for i in range(6)]
    assert span_of(a, seen, "new").middle == pytest.approx(0.013, rel=0.03)
    assert 0.0100 < span_of(b, seen, "new").middle < 0.0115


def test_a_build_that_was_measured_itself_is_known_better_than_one_like_it():
    terms = {"a": Term(0.01, 0.1)}
    others = [Seen(f"x{i}", terms, 0.01 * f) for i, f in enumerate((0.9, 1.12, 1.0, 0.94, 1.1))]
    own = [*others, *(Seen("own", terms, 0.0121) for _ in range(3))]
    itself, another = span_of(terms, own, "own"), span_of(terms, own, "another")
    assert itself.high / itself.low < another.high / another.low
    assert another.middle < 0.0107
    assert itself.middle > 0.0112


def test_runs_of_one_build_do_not_count_as_many_builds():
    terms = {"a": Term(0.01, 0.1)}
    one = [Seen("same", terms, 0.0115) for _ in range(12)]
    many = [Seen(f"x{i}", terms, 0.0115) for i in range(12)]
    from_one, from_many = span_of(terms, one, "new"), span_of(terms, many, "new")
    assert from_many.high / from_many.low < from_one.high / from_one.low


def test_one_disturbed_run_among_many_does_not_move_the_others():
    world = _World(3)
    seen = [world.seen(f"b{i}") for i in range(8)]
    new = world.seen("new")
    disturbed = [*seen, Seen("slow", new.terms, 3 * new.seconds)]
    alone, beside = span_of(new.terms, seen), span_of(new.terms, disturbed)
    assert beside.middle == pytest.approx(alone.middle, rel=0.05)


def test_a_second_way_to_be_wrong_adds_no_time():
    terms = {"a": Term(0.01, 0.1), "a of this kind": Term(0.01, 0.5, counted=False)}
    plain = {"a": Term(0.01, 0.1)}
    assert span_of(terms).middle == pytest.approx(span_of(plain).middle, rel=0.1)
    assert span_of(terms).high > span_of(plain).high


def test_many_asked_at_once_are_as_each_alone():
    world = _World(5)
    seen = [world.seen(f"b{i}") for i in range(6)]
    wanted = [(f"b{i}", world.seen("x").terms) for i in range(9)]
    together = Residuals(seen).spans(wanted)
    for (key, terms), span in zip(wanted, together, strict=True):
        alone = span_of(terms, seen, key)
        assert (span.low, span.middle, span.high) == pytest.approx(
            (alone.low, alone.middle, alone.high), rel=1e-6
        )


def test_nothing_asked_is_no_span():
    assert Residuals().spans([]) == ()
    assert isinstance(span_of({"a": Term(1.0, 0.1)}), Span)


@pytest.mark.parametrize("others", [0, 1, 3, 6, 20])
@pytest.mark.parametrize("factor", [0.3, 0.6, 1.6, 3.0])
@pytest.mark.parametrize("runs", [2, 3, 8])
def test_a_range_holds_the_own_runs_however_far_they_are_from_what_is_expected(
    others, factor, runs
):
    world = _World(11)
    seen = [world.seen(f"b{i}") for i in range(others)]
    new = world.seen("own")
    own = [Seen("own", new.terms, new.seconds * factor * f) for f in (1.0, 1.02, 0.98)]
    span = span_of(new.terms, [*seen, *own, *own, *own][: others + runs], "own")
    assert span.low < 0.99 * factor * new.seconds < 1.01 * factor * new.seconds < span.high
    assert span.middle == pytest.approx(factor * new.seconds, rel=0.06)


@pytest.mark.parametrize("factor", [0.4, 2.5])
def test_after_one_run_far_from_all_others_both_are_possible(factor):
    world = _World(12)
    seen = [world.seen(f"b{i}") for i in range(8)]
    new = world.seen("own")
    far = Seen("own", new.terms, factor * new.seconds)
    span = span_of(new.terms, [*seen, far], "own")
    foretold = span_of(new.terms, seen, "own").middle
    assert span.low < min(far.seconds, foretold) < max(far.seconds, foretold) < span.high


@pytest.mark.parametrize("factor", [0.5, 0.7, 1.5, 2.0])
def test_parts_of_a_bad_moment_are_put_right_by_runs_that_agree(factor):
    world = _World(13)
    seen = [world.seen(f"b{i}") for i in range(7)]
    off = [Seen(one.build, one.terms, factor * one.seconds) for one in seen]
    new = world.seen("new")
    span = span_of(new.terms, off, "new")
    assert span.low < factor * new.seconds < span.high
    assert span.middle == pytest.approx(factor * new.seconds, rel=0.12)


def test_builds_as_foretold_are_hardly_wider_for_the_doubt():
    terms = {"a": Term(0.01, 0.1)}
    seen = [Seen(f"x{i}", terms, 0.01 * f) for i, f in enumerate((0.98, 1.02, 1.0, 0.99, 1.01))]
    itself, another = span_of(terms, seen, "x2"), span_of(terms, seen, "new")
    assert itself.high / itself.low <= another.high / another.low < 1.2


@pytest.mark.parametrize("scatter", [0.0, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("runs", [1, 6, 16, 48])
def test_many_runs_of_one_build_say_of_another_what_few_say(scatter, runs):
    rng = np.random.default_rng(3)
    small, large = (
        {"a": Term(1.0, 0.1), "layers": Term(0.1, 0.5)},
        {"b": Term(8.0, 0.1), "layers": Term(0.2, 0.5)},
    )
    seen = [Seen("x", small, 1.21 * rng.normal(1, scatter), 0.003) for _ in range(runs)]
    span = span_of(large, seen)
    one = span_of(large, [Seen("x", small, fmean(run.seconds for run in seen), 0.003)])
    assert span.high / span.low < 1.25 * one.high / one.low
    assert span.low < 8.2 * 1.1 < span.high


@pytest.mark.parametrize("scatter", [0.02, 0.05, 0.1])
def test_a_builds_own_range_is_as_wide_as_its_runs_differ(scatter):
    rng = np.random.default_rng(4)
    terms = {"a": Term(1.0, 0.1), "layers": Term(0.1, 0.5)}
    seen = [Seen("x", terms, 1.3 * rng.normal(1, scatter), 0.003) for _ in range(24)]
    span = span_of(terms, seen, "x")
    held = fmean(span.low <= one.seconds <= span.high for one in seen)
    assert held >= 0.85
    assert span.high / span.low < math.exp(5.5 * scatter + 0.02)


@pytest.mark.parametrize("ratios", [(1e-7, 1e-7), (1e-7, 1.0), (1e6, 1e6), (1e-7, 1e6), (1e12,)])
def test_absurd_times_make_no_equations_that_cannot_be_solved(ratios):
    world = _World(2)
    seen = [world.seen(f"b{i}") for i in range(3)]
    absurd = [Seen("own", seen[0].terms, r * seen[0].seconds) for r in ratios]
    for key in ("own", "another"):
        span = span_of(seen[0].terms, [*seen, *absurd], key)
        assert 0 < span.low < span.middle < span.high < math.inf
