import threading

import pytest

from desktop.power.energy import energy_of, mean_w, measure_idle
from desktop.power.meter import MAX_GAP_NS, Reading
from desktop.power.sampler import THREAD_NAME, KeepsAll, Sampler
from desktop.records.energy import MeterFacts, MeterKind, PowerSample, Scope, Source

S = 1_000_000_000
FACTS = MeterFacts("fake", Source.SENSOR, MeterKind.COUNTER, Scope.BOARD)


class FakeTime:
    """A clock that only moves when somebody waits; ends the waiting after `waits`."""

    def __init__(self, waits=10**9):
        self.now_ns = 5 * S
        self.waits = waits
        self.asked = []

    def clock(self):
        return self.now_ns

    def wait(self, timeout):
        self.asked.append(timeout)
        self.now_ns += round(timeout * 1e9)
        return len(self.asked) >= self.waits

    def set(self):
        self.waits = 0


class FakeMeter:
    """40 W by counter, or the readings it was given; each look takes `cost_ns`."""

    def __init__(self, time, readings=None, cost_ns=0):
        self.facts = FACTS
        self.dropped = 0
        self.max_gap_ns = MAX_GAP_NS
        self._time = time
        self._readings = iter(readings) if readings is not None else None
        self._cost_ns = cost_ns

    def read(self):
        self._time.now_ns += self._cost_ns
        if self._readings is not None:
            reading = next(self._readings)
            if isinstance(reading, Exception):
                raise reading
            return reading
        return Reading(self._time.now_ns, energy_j=40 * self._time.now_ns / 1e9)

    def close(self):
        pass


def run(time, meter, **options):
    sampler = Sampler(meter, clock=time.clock, stopper=time, **options)
    sampler._run()
    return sampler


def test_every_reading_is_kept_at_a_steady_interval():
    time = FakeTime(waits=10)
    sampler = run(time, FakeMeter(time))
    assert [r.at_ns for r in sampler.readings()] == [5 * S + i * S // 10 for i in range(11)]
    assert len(sampler.samples()) == 10
    assert all(s.watts_w == pytest.approx(40) for s in sampler.samples())


def test_a_slow_look_does_not_shift_the_next():
    time = FakeTime(waits=5)
    run(time, FakeMeter(time, cost_ns=S // 50))
    assert time.asked == pytest.approx([0.08] * 5)


def test_a_look_slower_than_the_interval_never_waits_negatively():
    time = FakeTime(waits=3)
    run(time, FakeMeter(time, cost_ns=S))
    assert time.asked == [0, 0, 0]


def test_each_sample_is_told_once():
    told = []
    time = FakeTime(waits=4)
    sampler = run(time, FakeMeter(time), kept=KeepsAll(told.append))
    assert tuple(told) == sampler.samples()


def test_dropped_and_restarted_readings_are_not_told():
    told = []
    time = FakeTime(waits=3)
    readings = [
        Reading(1, energy_j=1.0),
        None,
        Reading(2 * S, energy_j=1.0, restart=True),
        Reading(3 * S, energy_j=11.0),
    ]
    run(time, FakeMeter(time, readings), kept=KeepsAll(told.append))
    assert told == [PowerSample(5 * S // 2, 10.0)]


def test_momentary_watts_are_told_as_read():
    told = []
    time = FakeTime(waits=1)
    readings = [Reading(1, watts_w=9.0), Reading(2, watts_w=8.0)]
    run(time, FakeMeter(time, readings), kept=KeepsAll(told.append))
    assert told == [PowerSample(1, 9.0), PowerSample(2, 8.0)]


def test_a_meter_that_breaks_its_word_and_raises_is_told_once_and_sampled_on(caplog):
    time = FakeTime(waits=3)
    readings = [Reading(1, watts_w=9.0), OSError("gone"), OSError("gone"), Reading(4, watts_w=8.0)]
    sampler = run(time, FakeMeter(time, readings))
    assert [r.watts_w for r in sampler.readings()] == [9.0, 8.0]
    assert [r.message for r in caplog.records] == ["the meter fake failed"]


def test_the_thread_starts_and_is_joined():
    time, seen = FakeTime(), threading.Event()
    sampler = Sampler(FakeMeter(time), 0.001, kept=KeepsAll(lambda _: seen.set()))
    # the fake counter needs a moving clock: each look moves it
    sampler._meter._cost_ns = S // 10
    sampler.start()
    assert seen.wait(30)
    assert sampler.stop()
    assert THREAD_NAME not in {t.name for t in threading.enumerate()}
    readings = sampler.readings()
    assert sampler.stop()
    window = (readings[0].at_ns, readings[-1].at_ns)
    energy = energy_of([window], readings, None, FACTS)
    assert energy.energy_j == pytest.approx(40 * (window[1] - window[0]) / 1e9)


def test_a_stuck_meter_is_left_behind_and_not_to_be_closed(monkeypatch):
    monkeypatch.setattr("desktop.power.sampler._JOIN_S", 0.01)
    gate, inside = threading.Event(), threading.Event()

    class Stuck(FakeMeter):
        def read(self):
            inside.set()
            gate.wait()

    sampler = Sampler(Stuck(FakeTime()))
    sampler.start()
    assert inside.wait(30)
    assert not sampler.stop()
    assert sampler.readings() == ()
    gate.set()
    sampler._thread.join(30)
    assert sampler.stop()


def test_stop_without_start_is_harmless():
    sampler = Sampler(FakeMeter(FakeTime()))
    assert sampler.stop()
    assert sampler.samples() == ()


# --- the idle baseline


class Readings:
    """A sampler whose readings come in steps: one more list for each look."""

    def __init__(self, *steps):
        self.steps = list(steps)

    def readings(self):
        return self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]


def counted(*joules):
    return tuple(Reading(i * S, energy_j=j) for i, j in enumerate(joules))


def test_idle_is_the_mean_of_what_the_sampler_read():
    time = FakeTime()
    assert measure_idle(Readings(counted(0, 30, 80)), 2.0, time) == pytest.approx(40)
    assert time.asked == [2.0]


def test_idle_that_is_cancelled_is_none():
    time = FakeTime(waits=1)
    assert measure_idle(Readings(counted(0, 40)), 2.0, time) is None


def test_idle_of_a_silent_meter_is_none_at_once():
    time = FakeTime()
    assert measure_idle(Readings(()), 1.0, time) is None
    assert time.asked == [1.0]


def test_idle_of_a_slow_counter_waits_for_its_second_reading():
    time = FakeTime()
    one, two = counted(0), counted(0, 7)
    slow = Readings(one, one, one, one, one, two)
    assert measure_idle(slow, 1.0, time) == pytest.approx(7)
    assert time.asked == [1.0, 1.0, 1.0]


def test_idle_of_a_counter_that_never_has_news_is_given_up_on():
    time = FakeTime()
    assert measure_idle(Readings(counted(0)), 1.0, time) is None
    assert sum(time.asked) == 4.0


def test_idle_that_is_cancelled_while_it_waits_longer_is_none():
    time = FakeTime(waits=2)
    assert measure_idle(Readings(counted(0)), 1.0, time) is None
    assert len(time.asked) == 2


def test_the_mean_of_one_momentary_reading_is_itself_and_of_none_nothing():
    assert mean_w((Reading(5, watts_w=12.0),)) == 12.0
    assert mean_w(()) is None
    assert mean_w(counted(3)) is None
    assert mean_w((Reading(0, energy_j=1.0), Reading(S, energy_j=1.0, restart=True))) is None
