"""Downloads in their order: started, held, stopped; a silent hub holds nobody up."""

import queue
import threading
from typing import ClassVar

import pytest

from desktop.records.build_events import FetchEnded
from desktop.records.offers import FetchRequest, FetchState, FetchStep
from desktop.services import fetches as module
from desktop.services.fetches import Fetches
from desktop.services.fetching import Means

WAIT_S = 20


class Stand:
    """In place of a download: goes through the states that it is told to."""

    made: ClassVar[dict] = {}

    def __init__(self, request, means, post):
        from desktop.builds.control import Control

        self.request, self.control, self._post = request, Control(), post
        self.hears_stops = False
        self.go, self.asking = threading.Event(), threading.Event()
        self.error = None
        Stand.made[request.name] = self

    def run(self):
        name = self.request.name
        self._post(FetchStep(name, FetchState.ASKING))
        self.asking.set()
        assert self.go.wait(WAIT_S)
        self.control.check()
        self._post(FetchStep(name, FetchState.FETCHING, 1, 2))
        if self.error is not None:
            raise self.error
        return FetchEnded(name, None)


@pytest.fixture
def events():
    return queue.SimpleQueue()


@pytest.fixture
def fetches(home, events, monkeypatch):
    Stand.made = {}
    monkeypatch.setattr(module, "Fetch", Stand)
    made = Fetches(Means(home), events.put)
    yield made
    for stand in Stand.made.values():
        stand.go.set()
    made.shutdown()


def until(events, wanted):
    """All that is told up to the first event that is wanted."""
    told = []
    while True:
        told.append(events.get(timeout=WAIT_S))
        if wanted(told[-1]):
            return told


def ended(name):
    return lambda e: isinstance(e, FetchEnded) and e.name == name


def test_one_after_the_other(fetches, events):
    for name in "ab":
        fetches.fetch(FetchRequest(name))
    assert Stand.made["a"].asking.wait(WAIT_S)
    assert not Stand.made["b"].asking.is_set()
    Stand.made["b"].go.set()
    Stand.made["a"].go.set()
    told = until(events, ended("b"))
    states = [(e.name, e.state) for e in told if isinstance(e, FetchStep)]
    assert states.index(("b", FetchState.WAITING)) < states.index(("a", FetchState.FETCHING))
    assert [e.name for e in told if isinstance(e, FetchEnded)] == ["a", "b"]


def test_what_is_asked_for_already_is_not_asked_for_twice(fetches, events):
    fetches.fetch(FetchRequest("a"))
    first = Stand.made["a"]
    fetches.fetch(FetchRequest("a"))
    assert Stand.made["a"] is first
    first.go.set()
    assert len([e for e in until(events, ended("a")) if isinstance(e, FetchEnded)]) == 1


def test_a_stop_while_a_hub_is_silent_is_told_at_once(fetches, events):
    fetches.fetch(FetchRequest("a"))
    fetches.fetch(FetchRequest("b"))
    silent = Stand.made["a"]
    assert silent.asking.wait(WAIT_S)
    fetches.stop("a")
    # without the hub's word
    assert until(events, ended("a"))[-1].stopped
    assert Stand.made["b"].asking.wait(WAIT_S)
    Stand.made["b"].go.set()
    silent.go.set()
    told = until(events, ended("b"))
    assert not [e for e in told if e.name == "a"]


def test_one_that_waits_is_stopped(fetches, events):
    fetches.fetch(FetchRequest("a"))
    fetches.fetch(FetchRequest("b"))
    fetches.stop("b")
    assert until(events, ended("b"))[-1].stopped
    Stand.made["a"].go.set()
    assert not until(events, ended("a"))[-1].stopped


def test_paused_by_a_person_it_stays_so_after_a_measurement(fetches):
    fetches.fetch(FetchRequest("a"))
    control = Stand.made["a"].control
    fetches.pause("a")
    assert control.paused
    fetches.hold(held=True)
    fetches.hold(held=False)
    assert control.paused
    fetches.resume("a")
    assert not control.paused


def test_while_something_is_measured_nothing_goes_on(fetches):
    fetches.fetch(FetchRequest("a"))
    fetches.hold(held=True)
    fetches.resume("a")
    assert Stand.made["a"].control.paused
    fetches.hold(held=False)
    assert not Stand.made["a"].control.paused


def test_what_begins_in_a_measurement_waits(fetches):
    fetches.hold(held=True)
    fetches.fetch(FetchRequest("a"))
    assert Stand.made["a"].control.paused


def test_no_limit_of_its_own_is_the_settings_limit(fetches, home):
    fetches.fetch(FetchRequest("a"))
    control = Stand.made["a"].control
    fetches.limit(5e6)
    assert control._limit == 5e6
    home.settings.write_text("[builds]\nlimit_mb_s = 3\n")
    fetches.limit(None)
    assert control._limit == 3e6


def test_what_nobody_expected_is_told(fetches, events, home):
    fetches.fetch(FetchRequest("a"))
    Stand.made["a"].error = ZeroDivisionError("x")
    Stand.made["a"].go.set()
    end = until(events, ended("a"))[-1]
    assert end.reason.code == "unexpected"
    assert home.log.name in end.reason.advice() + end.reason.text()


def test_the_end_of_the_program_ends_all(fetches, events):
    for name in "abc":
        fetches.fetch(FetchRequest(name))
    assert Stand.made["a"].asking.wait(WAIT_S)
    fetches.shutdown()
    told = until(events, ended("a"))
    assert {e.name for e in told if isinstance(e, FetchEnded)} == {"a", "b", "c"}
    assert not Stand.made["b"].asking.is_set()
