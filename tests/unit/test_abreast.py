"""One call for many arguments, some at a time."""

import threading

import pytest

from desktop.services.abreast import abreast

WAIT_S = 20


def test_all_are_called_and_each_tells_what_came_of_it():
    found = dict(abreast(lambda n: 6 // n, range(4), 2))
    assert {n: came.result() for n, came in found.items() if n} == {1: 6, 2: 3, 3: 2}
    with pytest.raises(ZeroDivisionError):
        found[0].result()


def test_of_nothing_comes_nothing():
    assert list(abreast(str, (), 4)) == []


def test_no_more_than_so_many_at_a_time():
    together = threading.Barrier(2)
    threads = set()

    def call(n):
        threads.add(threading.current_thread())
        together.wait(WAIT_S)
        return n

    assert sorted(n for n, _ in abreast(call, range(6), 2)) == list(range(6))
    assert len(threads) == 2


def test_who_stops_reading_waits_for_nobody():
    release, begun, ended = threading.Event(), [], []

    def call(n):
        begun.append(n)
        if n:
            release.wait(WAIT_S)
            ended.append(n)

    reading = abreast(call, range(9), 2)
    assert next(reading)[0] == 0
    reading.close()
    threads = [t for t in threading.enumerate() if t.name == "abreast"]
    assert ended == []
    # and the end of the program does not either
    assert all(thread.daemon for thread in threads)
    release.set()
    for thread in threads:
        thread.join(WAIT_S)
    assert set(begun) < set(range(9))
