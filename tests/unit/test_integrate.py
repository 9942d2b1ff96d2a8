import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.power.energy import MAX_GAP_NS, energy_of
from desktop.power.integrate import (
    Part,
    integrate,
    integrate_windows,
    power_samples,
    segments_of,
)
from desktop.power.meter import Reading
from desktop.records.energy import MeterFacts, MeterKind, PowerSample, Scope, Source

S = 1_000_000_000
GAP = S
FACTS = MeterFacts("RAPL", Source.SENSOR, MeterKind.COUNTER, Scope.PACKAGE)


def momentary(watts, start_s=0.0, end_s=10.0, step_s=0.1):
    n = round((end_s - start_s) / step_s)
    times = (start_s + i * step_s for i in range(n + 1))
    return [PowerSample(round(t * S), watts(t)) for t in times]


def counter(joules, start_s=0.0, end_s=10.0, step_s=0.1):
    n = round((end_s - start_s) / step_s)
    times = (start_s + i * step_s for i in range(n + 1))
    return [Reading(round(t * S), energy_j=joules(t)) for t in times]


def burst_w(t):
    return 110.0 if 3.03 <= t < 7.57 else 10.0


def burst_j(t):
    return 10.0 * t + 100.0 * min(max(t - 3.03, 0.0), 4.54)


def test_constant():
    assert integrate(momentary(lambda _: 50.0), 2 * S, 7 * S, GAP) == Part(
        pytest.approx(250.0), pytest.approx(1.0)
    )


def test_edges_between_samples_are_cut_exactly():
    # 10 W more every second: exact by trapezoid at any edge
    part = integrate(momentary(lambda t: 10 * t), round(2.037 * S), round(4.561 * S), GAP)
    assert part.energy_j == pytest.approx(5 * (4.561**2 - 2.037**2))
    assert part.covered == pytest.approx(1.0)


def test_a_step_within_one_percent():
    part = integrate(momentary(lambda t: 20.0 if t < 5.02 else 120.0), S, 9 * S, GAP)
    assert part.energy_j == pytest.approx(20 * 4.02 + 120 * 3.98, rel=0.01)


def test_a_burst_within_one_percent():
    part = integrate(momentary(burst_w), 0, 10 * S, GAP)
    assert part.energy_j == pytest.approx(burst_j(10.0), rel=0.01)


def test_a_burst_by_counter_is_exact():
    part = integrate_windows(segments_of(counter(burst_j)), [(0, 10 * S)], GAP)
    assert part.energy_j == pytest.approx(burst_j(10.0))


def test_a_counter_is_interpolated_at_the_edges():
    readings = [Reading(0, energy_j=5.0), Reading(S, energy_j=25.0)]
    part = integrate_windows(segments_of(readings), [(S // 4, S // 2)], GAP)
    assert part == Part(pytest.approx(5.0), pytest.approx(1.0))


def test_a_gap_lowers_the_coverage_and_adds_no_energy():
    samples = [s for s in momentary(lambda _: 50.0) if not 4 * S < s.at_ns < 6 * S]
    assert integrate(samples, 0, 10 * S, GAP) == Part(pytest.approx(400.0), pytest.approx(0.8))


def test_a_stalled_counter_lowers_the_coverage():
    # the meter drops readings that did not move: a silence of 3 s
    readings = [r for r in counter(lambda t: 50 * t) if not 4 * S < r.at_ns < 7 * S]
    part = integrate_windows(segments_of(readings), [(0, 10 * S)], GAP)
    assert part == Part(pytest.approx(350.0), pytest.approx(0.7))


def test_a_restarted_counter_says_nothing_of_its_interval():
    readings = [
        Reading(0, energy_j=0.0),
        Reading(S, energy_j=10.0),
        Reading(2 * S, energy_j=10.0, restart=True),
        Reading(3 * S, energy_j=20.0),
    ]
    part = integrate_windows(segments_of(readings), [(0, 3 * S)], GAP)
    assert part == Part(pytest.approx(20.0), pytest.approx(2 / 3))


def test_samples_that_begin_late_cover_a_part():
    part = integrate(momentary(lambda _: 50.0, start_s=5.0), 0, 10 * S, GAP)
    assert part == Part(pytest.approx(250.0), pytest.approx(0.5))


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [PowerSample(5 * S, 50.0)],
        momentary(lambda _: 50.0, start_s=20, end_s=30),
        [PowerSample(0, 50.0), PowerSample(10 * S, 50.0)],
        [PowerSample(5 * S, 50.0), PowerSample(5 * S, 50.0)],
    ],
)
def test_nothing_covered_is_none_and_never_zero(samples):
    assert integrate(samples, 0, 10 * S, GAP) is None


def test_an_empty_window_is_none():
    assert integrate(momentary(lambda _: 50.0), S, S, GAP) is None
    assert energy_of([], counter(lambda t: t), None, FACTS) is None


def test_several_windows_are_summed():
    energy = energy_of([(0, S), (2 * S, 4 * S)], counter(lambda t: 30 * t), 7.0, FACTS)
    assert energy.energy_j == pytest.approx(90.0)
    assert (energy.covered, energy.idle_w, energy.meter) == (pytest.approx(1.0), 7.0, FACTS)


def test_energy_of_momentary_readings():
    readings = [Reading(s.at_ns, watts_w=s.watts_w) for s in momentary(lambda t: 10 * t)]
    assert energy_of([(0, 2 * S)], readings, None, FACTS).energy_j == pytest.approx(20.0)


def test_a_counters_sample_is_its_mean_in_the_middle():
    readings = [Reading(0, energy_j=0.0), Reading(S, energy_j=30.0)]
    assert power_samples(readings) == (PowerSample(S // 2, 30.0),)
    assert power_samples(readings[:1]) == ()
    assert power_samples([Reading(4, watts_w=9.0)]) == (PowerSample(4, 9.0),)


@given(
    watts=st.lists(st.floats(0.1, 1000), min_size=3, max_size=30),
    cut=st.floats(0.01, 0.99),
)
def test_two_halves_are_the_whole(watts, cut):
    samples = [PowerSample(i * S // 10, w) for i, w in enumerate(watts)]
    end = samples[-1].at_ns
    middle = max(1, min(end - 1, int(end * cut)))
    whole = integrate(samples, 0, end, MAX_GAP_NS)
    parts = [integrate(samples, 0, middle, MAX_GAP_NS), integrate(samples, middle, end, MAX_GAP_NS)]
    assert sum(p.energy_j for p in parts) == pytest.approx(whole.energy_j, rel=1e-6)
