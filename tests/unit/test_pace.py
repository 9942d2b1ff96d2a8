"""Rates of downloads."""

from desktop.services.pace import Pace, Silence


class Clock:
    def __init__(self):
        self.s = 0.0

    def __call__(self):
        return round(self.s * 1e9)


def pace():
    clock = Clock()
    return clock, Pace(clock)


def test_too_early_there_is_none():
    clock, of = pace()
    assert of.at(0) is None
    clock.s = 0.4
    assert of.at(4_000_000) is None


def test_of_the_last_seconds():
    clock, of = pace()
    for second in range(20):
        clock.s = second
        rate = of.at(second * 1000 if second < 10 else 10_000 + (second - 10) * 50)
    assert rate == 50


def test_where_nothing_comes_there_is_none():
    clock, of = pace()
    of.at(100)
    clock.s = 9
    of.at(100)
    clock.s = 10
    assert of.at(100) is None


def test_what_is_fetched_again_begins_anew():
    clock, of = pace()
    of.at(0)
    clock.s = 1
    of.at(1000)
    clock.s = 2
    assert of.at(500) is None
    clock.s = 3
    assert of.at(600) == 100


def test_a_pause_is_not_counted():
    clock, of = pace()
    of.at(0)
    clock.s = 100
    of.begin()
    of.at(1000)
    clock.s = 101
    assert of.at(1500) == 500


def test_a_server_is_silent_after_some_seconds_without_a_byte():
    clock = Clock()
    silence = Silence(clock)
    told = []
    for second, done in enumerate([0, 10, 10, 10, 10, 10, 10, 10, 20, 20]):
        clock.s = second
        told.append(silence.at(done, waiting=False))
    assert told == [False] * 6 + [True, True, False, False]


def test_nobody_is_silent_while_nobody_listens():
    clock = Clock()
    silence = Silence(clock)
    for second in range(20):
        clock.s = second
        assert not silence.at(10, waiting=True)
    clock.s = 23
    assert not silence.at(10, waiting=False)
    clock.s = 24
    assert silence.at(10, waiting=False)
