"""services: the power of one run."""

import threading

import pytest

from desktop.clock import now_ns
from desktop.power.meter import MAX_GAP_NS, Reading
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.events import Power
from desktop.records.machine import Cpu, Machine
from desktop.services import power_watch
from desktop.services.curves import LiveCurves
from desktop.services.power_watch import PowerWatch

MACHINE = Machine("Linux", "12", "x86_64", Cpu("AMD EPYC", 2, 4), None)
FACTS = MeterFacts("fake", Source.SENSOR, MeterKind.COUNTER, Scope.BOARD)


class FakeMeter:
    """40 W by counter."""

    facts, dropped, max_gap_ns = FACTS, 0, MAX_GAP_NS

    def __init__(self, gate=None):
        self.closed = False
        self.gate = gate
        self.reading = threading.Event()

    def read(self):
        self.reading.set()
        if self.gate is not None:
            self.gate.wait()
        at_ns = now_ns()
        return Reading(at_ns, energy_j=40 * at_ns / 1e9)

    def close(self):
        self.closed = True


class AtOnce:
    """An event whose waits wait for nothing but what is awaited."""

    def __init__(self, awaited=None):
        self.awaited = awaited

    def wait(self, timeout):
        if self.awaited is not None:
            assert self.awaited.wait(30)
        return False


@pytest.fixture
def meter(monkeypatch):
    fake = FakeMeter()
    monkeypatch.setattr(power_watch, "choose_meter", lambda *_: fake)
    return fake


def test_a_run_has_its_baseline_its_curve_and_its_joules(meter):
    told, curves = threading.Event(), LiveCurves(now_ns())
    posted = []

    def post(event):
        posted.append(event)
        told.set()

    start_ns = now_ns()
    with PowerWatch(MACHINE, ["Tesla T4"], curves, post) as power:
        power.start(AtOnce(told))
        end_ns = now_ns()
        energy = power.energy([(start_ns, end_ns)])
    assert power.facts is FACTS
    assert energy.idle_w == pytest.approx(40)
    assert energy.energy_j == pytest.approx(40 * energy.covered * (end_ns - start_ns) / 1e9)
    assert curves.snapshot().power[0][1] == pytest.approx(40)
    assert isinstance(posted[0], Power)
    assert meter.closed


def test_a_watch_that_was_never_entered_lets_its_meter_go(meter):
    PowerWatch(MACHINE, (), LiveCurves(0), lambda _: None).close()
    assert meter.closed


def test_a_stuck_meter_holds_up_neither_the_baseline_nor_the_end(meter, monkeypatch):
    monkeypatch.setattr("desktop.power.sampler._JOIN_S", 0.01)
    meter.gate = threading.Event()
    with PowerWatch(MACHINE, (), LiveCurves(0), lambda _: None) as power:
        power.start(AtOnce(meter.reading))
        assert power.energy([(0, now_ns())]) is None
    assert not meter.closed
    meter.gate.set()
    power._sampler._thread.join(30)
