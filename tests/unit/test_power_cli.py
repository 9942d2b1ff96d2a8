"""`gram power`: once, watched in a terminal and through a pipe, as text and for programs."""

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.cli import main, power
from desktop.errors import BenchError
from desktop.power.meter import MAX_GAP_NS, Reading
from desktop.power.search import Looked
from desktop.power.tally import Tallying
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import Accelerator, Cpu, DeviceKind, Machine
from desktop.services import power_facts
from desktop.services.power_facts import PlaceFacts, PowerReading, power_now

ROOT = Path(__file__).parents[2]
S = 1_000_000_000
FACTS = MeterFacts("RAPL", Source.SENSOR, MeterKind.COUNTER, Scope.PACKAGE, "Energy counters p.")


class FakeMeter:
    def __init__(self, facts=FACTS):
        self.facts, self.dropped, self.max_gap_ns = facts, 0, MAX_GAP_NS
        self.closed = False

    def read(self):
        return None

    def close(self):
        self.closed = True


class FakeReading(PowerReading):
    """40 W for as long as somebody waited; never starts a thread."""

    def __init__(self, facts=FACTS, places=()):
        super().__init__(FakeMeter(facts), places)
        self.waited_s = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def now(self):
        readings = [Reading(round(i * S / 10), 4.0 * i) for i in range(int(self.waited_s * 10) + 1)]
        return told_by(readings, self._meter)


def told_by(readings, meter=None, at_ns=None):
    """What is told after these readings: at their end, or later."""
    meter = meter or FakeMeter()
    kept = Tallying(meter.max_gap_ns)
    for reading in readings:
        kept.add(reading)
    return power_now(kept.tally, meter, 0, at_ns or (readings[-1].at_ns if readings else 0))


class Waits:
    """Waits in no time; Ctrl+C comes after `most` waits. Each look at the clock takes `look_s`."""

    def __init__(self, reading, most=10**9, look_s=0.0):
        self.reading, self.most, self.look_s, self.asked = reading, most, look_s, []

    def clock(self):
        self.reading.waited_s += self.look_s
        return round(self.reading.waited_s * S)

    def wait(self, timeout):
        if len(self.asked) >= self.most:
            return True
        self.asked.append(timeout)
        self.reading.waited_s += timeout
        return False


def test_watched_through_a_pipe_a_line_a_second_and_a_sum(capsys):
    reading = FakeReading()
    power._watch(reading, Waits(reading, most=3), None, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "sensor (RAPL), the processor only: Energy counters p."
    assert lines[1:4] == [f"{n}.0 s\t40.0 W\tsensor" for n in (1, 2, 3)]
    assert lines[4] == "Mean 40.0 W, 120 J in 3.0 s, sensor (RAPL), the processor only"


def test_watched_for_programs_is_one_object_a_line(capsys):
    reading = FakeReading()
    waits = Waits(reading)
    power._watch(reading, waits, 2.5, as_json=True)
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert told[0] == {"seconds": 1.0, "watts_w": pytest.approx(40), "source": "sensor"}
    assert len(told) == 4
    assert told[-1]["summary"]["energy_j"] == pytest.approx(100)
    assert told[-1]["summary"]["meter"]["name"] == "RAPL"
    assert waits.asked == [1.0, 1.0, 0.5]


def test_watched_in_a_terminal_one_line_moves_and_the_sum_stays(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    reading = FakeReading()
    power._watch(reading, Waits(reading, most=2), None, as_json=False)
    out = capsys.readouterr().out
    assert "Ctrl+C ends" in out
    assert out.rstrip().endswith("Mean 40.0 W, 80.0 J in 2.0 s, sensor (RAPL), the processor only")


def test_a_meter_that_read_nothing_claims_nothing(capsys):
    reading = FakeReading()
    waits = Waits(reading, most=0)
    power._watch(reading, waits, None, as_json=False)
    assert capsys.readouterr().out.splitlines()[-1] == "Nothing could be read. Energy counters p."
    now = told_by(())
    assert (now.watts_w, now.mean_w, now.energy_j, now.covered) == (None,) * 4


def test_what_was_covered_in_part_is_said():
    readings = (Reading(0, 0.0), Reading(S, 40.0), Reading(9 * S, 50.0), Reading(10 * S, 90.0))
    now = told_by(readings)
    assert (now.mean_w, now.covered) == (pytest.approx(40), pytest.approx(0.2))
    assert "(read in 20 % of it)" in power.summary(now)


def test_now_is_the_last_second_and_a_single_momentary_reading_is_told():
    slow_start = (Reading(0, watts_w=10.0), Reading(S, watts_w=10.0), Reading(2 * S, watts_w=30.0))
    assert told_by(slow_start).watts_w == pytest.approx(20)
    one = told_by((Reading(5, watts_w=12.0),))
    assert (one.watts_w, one.mean_w, one.energy_j) == (12.0, None, None)


ALIVE = tuple(Reading(i * S // 10, watts_w=250.0) for i in range(21))
"""Two seconds of a meter that then says no more."""


def test_a_meter_that_has_fallen_silent_has_no_watts_now_and_its_silence_is_not_covered():
    assert told_by(ALIVE, at_ns=3 * S).watts_w == pytest.approx(250)
    now = told_by(ALIVE, at_ns=8 * S)
    assert now.watts_w is None
    assert (now.seconds, now.covered) == (8.0, pytest.approx(0.25))
    assert (now.mean_w, now.energy_j) == (pytest.approx(250), pytest.approx(500))
    assert "(read in 25 % of it)" in power.summary(now)


def test_between_two_readings_of_a_slow_source_nothing_is_missing():
    meter = FakeMeter()
    meter.max_gap_ns = 10 * S
    now = told_by((Reading(0, watts_w=8.0), Reading(5 * S, watts_w=12.0)), meter, 14 * S)
    assert (now.watts_w, now.seconds, now.covered) == (pytest.approx(11.6), 5.0, 1.0)
    assert told_by((Reading(5, watts_w=12.0),), at_ns=2 * S).watts_w is None


def test_time_before_a_late_first_reading_is_not_covered():
    late = [Reading(r.at_ns + 6 * S, watts_w=250.0) for r in ALIVE]
    now = told_by(late)
    assert (now.seconds, now.covered) == (8.0, pytest.approx(0.25))
    silent = told_by((), at_ns=4 * S)
    assert (silent.seconds, silent.covered, silent.watts_w) == (4.0, None, None)


def test_watching_for_long_keeps_only_the_last_moments():
    kept, hours = Tallying(MAX_GAP_NS), 3
    for i in range(hours * 36_000 + 1):
        kept.add(Reading(i * S // 10, energy_j=4.0 * i))
    assert len(kept.readings()) <= 12
    now = power_now(kept.tally, FakeMeter(), 0, hours * 3600 * S)
    assert now.energy_j == pytest.approx(40 * 3600 * hours)
    assert (now.watts_w, now.covered) == (pytest.approx(40), 1.0)


def test_a_reading_by_the_thread_keeps_no_list(home):
    reading = PowerReading(FakeMeter())
    assert reading._sampler.readings() == reading._kept.tally.recent == ()
    reading._kept.add(Reading(1, 2.0))
    assert reading._sampler.readings() == (Reading(1, 2.0),)


@pytest.mark.parametrize(("look_s", "seconds"), [(0.25, 3.0), (0.4, 2.5), (5.0, 12.0)])
def test_seconds_are_those_of_the_clock(capsys, look_s, seconds):
    reading = FakeReading()
    waits = Waits(reading, look_s=look_s)
    power._watch(reading, waits, seconds, as_json=True)
    lines = capsys.readouterr().out.splitlines()
    # the first look at the clock is where it begins
    over_s = reading.waited_s - look_s - seconds
    assert 0 <= over_s <= look_s
    assert len(lines) == 1 + (math.ceil(seconds) if look_s < 1 else len(waits.asked))


def test_once_as_text_and_for_programs(capsys, home):
    places = (PlaceFacts("RAPL", "used", "here"), PlaceFacts("battery", "not readable", "none"))

    def opened(_paths):
        reading = FakeReading(places=places)
        reading.waited_s = 1.0
        return reading

    assert power.run(watch=False, as_json=True, seconds=0.001, opened=opened) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["now"]["mean_w"] == pytest.approx(40)
    assert [p["state"] for p in told["places"]] == ["used", "not readable"]
    assert power.run(watch=False, as_json=False, seconds=0.001, opened=opened) == 0
    out = capsys.readouterr().out
    assert "Power now" in out
    assert "40.0 W" in out
    assert "not readable" in out


def test_while_the_sources_open_ctrl_c_ends_gram_as_any_program(home, capsys):
    before, at_opening, at_reading = signal.getsignal(signal.SIGINT), [], []

    class Watched(FakeReading):
        def now(self):
            at_reading.append(signal.getsignal(signal.SIGINT))
            return super().now()

    def opened(_paths):
        at_opening.append(signal.getsignal(signal.SIGINT))
        return Watched()

    assert power.run(watch=False, as_json=True, seconds=0.001, opened=opened) == 0
    assert at_opening == [before]
    assert at_reading[0] != before
    assert signal.getsignal(signal.SIGINT) is before


def test_the_first_meter_is_used_and_the_others_are_closed():
    first, second = FakeMeter(), FakeMeter(MeterFacts("b", *[None] * 3, "its detail"))
    looked = (Looked("A", "why"), Looked("B", first), Looked("C", second))
    places, meter = power_facts._sorted_out(looked)
    assert [p.state for p in places] == ["not readable", "used", "readable"]
    assert [p.detail for p in places] == ["why", "Energy counters p.", "its detail"]
    assert (meter, first.closed, second.closed) == (first, False, True)


def test_without_an_engine_the_systems_cards_stand_in(monkeypatch, home):
    card = Accelerator("AMD", "Radeon 890M", 5, True, "0000:65:00.0")
    machine = Machine("Linux", "1", "x86_64", Cpu("x", 2, 4), None, (card,))
    asked = []

    def missing(_paths):
        raise BenchError("engine_missing", detail="x")

    monkeypatch.setattr(power_facts, "detect", lambda: machine)
    monkeypatch.setattr(power_facts, "engine_devices", missing)
    monkeypatch.setattr(
        power_facts, "look_around", lambda m, d: asked.append((m, d)) or (Looked("A", FakeMeter()),)
    )
    power_facts.open_reading(home)
    ((_, (device,)),) = asked
    assert (device.kind, device.pci_address) == (DeviceKind.IGPU, "0000:65:00.0")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl+C is sent otherwise there")
def test_ctrl_c_ends_watching_with_status_0_and_the_sum(home):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "desktop", "power", "--watch"]
    options = {"env": environment, "text": True, "cwd": home.data}
    watched = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    try:
        lines = [watched.stdout.readline() for _ in range(2)]
        watched.send_signal(signal.SIGINT)
        out, err = watched.communicate(timeout=60)
    finally:
        watched.kill()
        watched.wait()
    assert watched.returncode == 0, err
    assert "W\t" in lines[1]
    last = out.splitlines()[-1]
    assert last.startswith("Mean ")
    assert err == ""


def test_where_no_log_can_be_kept_it_reads_all_the_same_and_says_so_once(home):
    home.log.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "desktop", "power", "--seconds", "0.3", "--json"],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=home.data,
        text=True, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["now"]["meter"]["name"]
    said, advice = done.stderr.splitlines()
    assert said.startswith("gram: No log is kept: its file cannot be written (")
    assert "GRAM_HOME" in advice


def test_help_says_what_watching_tells_programs(capsys):
    assert main(["power", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "each line is an object" in said
    for name in ("`seconds`", "`watts_w`", "`source`", '{"summary"', "`covered`"):
        assert name in said


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "abc"])
def test_seconds_that_are_no_time_are_refused(seconds, capsys):
    assert main(["power", "--seconds", seconds]) == 2
    assert "--seconds" in capsys.readouterr().err


def test_watts_have_no_more_figures_than_a_meter_tells():
    now = told_by([Reading(i * S // 10, energy_j=0.1 * 7 * i) for i in range(31)])
    assert now.watts_w is not None
    assert now.mean_w is not None
    assert (now.watts_w, now.mean_w) == (7.0, 7.0)
    uneven = told_by([Reading(i * S // 7, energy_j=i / 3) for i in range(31)])
    assert uneven.watts_w == round(uneven.watts_w, 3)
    assert uneven.mean_w == round(uneven.mean_w, 3) == 2.333
