"""services: the slow-calls thread, the live curves, the guess of time left, the measuring turn."""

import threading

import pytest

from desktop.errors import BenchError, GramError, Reason
from desktop.records.energy import PowerSample
from desktop.records.events import CallFailed, Phase, Steps
from desktop.records.run import PP512, TG128, Plan, Rate, Repetition
from desktop.services.app_services import AppServices
from desktop.services.attempt import Outside
from desktop.services.curves import LiveCurves
from desktop.services.progress import FIRST_SECONDS, ProgressGuess
from desktop.services.slow import SlowCalls
from desktop.services.turn import measuring_turn

S = 1_000_000_000


class TestSlowCalls:
    def test_results_and_errors_come_through_in_order(self):
        slow = SlowCalls()
        names = []
        first = slow.submit(lambda: names.append(threading.current_thread().name) or 1)
        second = slow.submit(lambda: 1 / 0)
        assert first.result(5) == 1
        assert isinstance(second.exception(5), ZeroDivisionError)
        assert names == ["slow-calls"]
        slow.shutdown()

    def test_a_call_that_blocks_does_not_keep_the_program(self):
        slow, gate = SlowCalls(), threading.Event()
        slow.submit(gate.wait)
        slow.shutdown()
        gate.set()

    def test_a_call_that_is_left_behind_holds_up_nothing(self):
        slow, gate, begun = SlowCalls(), threading.Event(), threading.Event()
        slow.submit(lambda: begun.set() or gate.wait())
        assert begun.wait(5)
        waiting = slow.submit(lambda: 1)
        slow.leave_behind()
        assert waiting.result(5) == 1
        assert slow.submit(lambda: 2).result(5) == 2
        gate.set()
        slow.shutdown()

    def test_a_cancelled_call_is_not_made(self):
        slow, gate = SlowCalls(), threading.Event()
        slow.submit(gate.wait)
        never = slow.submit(lambda: pytest.fail("was called"))
        assert never.cancel()
        gate.set()
        assert slow.submit(lambda: 3).result(5) == 3
        slow.shutdown()


class TestCurves:
    def test_steps_become_rates_at_their_time(self):
        curves = LiveCurves(10 * S)
        curves.add_steps(Steps("tg128", False, (11 * S, 11 * S + S // 10, 11 * S + S // 5), 1))
        curves.add_steps(Steps("pp512", False, (20 * S, 22 * S), 512))
        curves.add_power(PowerSample(12 * S, 30.0))
        seen = curves.snapshot()
        assert seen.generation == ((1.1, 10.0), (1.2, 10.0))
        assert seen.prompt == ((12.0, 256.0),)
        assert seen.power == ((2.0, 30.0),)

    def test_a_step_without_duration_is_left_out(self):
        curves = LiveCurves(0)
        curves.add_steps(Steps("tg128", False, (5, 5), 1))
        assert curves.snapshot().generation == ()


def repetition(test, seconds, *, warmup=False):
    tokens = 512 if test == "pp512" else 128
    return Repetition(test, warmup, 0, round(seconds * S), tokens)


class TestProgress:
    def test_it_grows_to_one_and_time_left_to_zero(self):
        guess = ProgressGuess(Plan())
        seen = []
        for test in ("pp512", "tg128"):
            seen.append(guess.repetition(repetition(test, 1, warmup=True), None))
            for n in range(1, 7):
                rate = Rate(test, 1, 0.01 if n == 6 else None, 1, n)
                seen.append(guess.repetition(repetition(test, 1), rate))
        fractions = [p.fraction for p in seen]
        assert fractions == sorted(fractions)
        assert seen[-1].fraction == 1
        assert seen[-1].time_left_s == 0
        assert [p.phase for p in seen[:2]] == [Phase.WARMUP, Phase.MEASURING]

    def test_a_wide_spread_asks_for_more_repetitions(self):
        guess = ProgressGuess(Plan(tests=(PP512,)))
        few = guess.repetition(repetition("pp512", 1), Rate("pp512", 1, 0.025, 1, 6))
        guess = ProgressGuess(Plan(tests=(PP512,)))
        many = guess.repetition(repetition("pp512", 1), Rate("pp512", 1, 0.05, 1, 6))
        assert few.time_left_s == pytest.approx(6)
        assert many.time_left_s == pytest.approx(24)

    def test_the_time_limit_bounds_the_guess(self):
        guess = ProgressGuess(Plan(tests=(PP512, TG128), time_limit_s=45))
        seen = guess.repetition(repetition("pp512", 5), Rate("pp512", 1, 0.9, 1, 6))
        assert seen.time_left_s == pytest.approx(45 - 5 + FIRST_SECONDS)


class TestTurn:
    def take(self, paths, **options):
        asked = {"wait": False, "cancelled": lambda: False, "notice": lambda _: None}
        return measuring_turn(paths, "the window", **(asked | options))

    def test_the_second_is_told_who_measures(self, home):
        with self.take(home), pytest.raises(BenchError) as e, self.take(home):
            pass
        assert e.value.code == "busy"
        assert "the window" in str(e.value)

    def test_the_turn_is_free_again_after_an_error(self, home):
        with pytest.raises(ZeroDivisionError), self.take(home):
            raise ZeroDivisionError
        with self.take(home):
            pass

    def test_waiting_can_be_stopped(self, home):
        told = []
        stop = threading.Event()

        def notice(reason: Reason):
            told.append(reason.code)
            stop.set()

        with (
            self.take(home),
            pytest.raises(BenchError) as e,
            self.take(home, wait=True, cancelled=stop.is_set, notice=notice),
        ):
            pass
        assert told == ["waiting"]
        assert e.value.code == "cancelled"

    def test_who_waits_gets_the_turn(self, home):
        first = self.take(home)
        first.__enter__()

        def notice(_reason):
            first.__exit__(None, None, None)

        with self.take(home, wait=True, notice=notice):
            pass


def test_a_slow_call_that_fails_is_told(home):
    home.ledger.write_bytes(b"this is no ledger" * 100)
    events, came = [], threading.Event()

    def post(event):
        events.append(event)
        came.set()

    services = AppServices(Outside(home, SlowCalls(), "a test", {}), post)
    services.refresh_results()
    assert came.wait(10)
    services.shutdown()
    assert isinstance(events[0], CallFailed)
    assert events[0].reason.code == "ledger_damaged"


@pytest.mark.parametrize("name", ["", "pp", "pp0", "tg-1", "xx5", "pp1000000", "ppx"])
def test_names_of_tests_that_do_not_exist(name):
    from desktop.records.run import SpeedTest

    with pytest.raises(ValueError):  # noqa: PT011 - a plain refusal
        SpeedTest.named(name)


def test_every_code_in_the_source_is_in_the_catalogue():
    """`GramError("code")` with an unknown code would be a crash in front of a person."""
    import ast
    from pathlib import Path

    from desktop.errors import CATALOGUE

    root = Path(__file__).parents[2] / "desktop"
    errors = {c.__name__ for c in [GramError, *GramError.__subclasses__()]} | {"Reason"}
    used = {
        node.args[0].value
        for file in root.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in errors
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(used) > 30
    assert used <= set(CATALOGUE)
