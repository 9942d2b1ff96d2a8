"""bench.speed: repeat until steady, with a clock and an engine that play back recorded times."""

from contextlib import nullcontext
from itertools import pairwise

import pytest

from desktop.bench.protocol import RepetitionStarted
from desktop.bench.speed import FLUSH_NS, Tools, run_test
from desktop.records.events import Steps
from desktop.records.run import PP512, TG128, Plan, Repetition, SpeedTest

MS = 1_000_000


class Replay:
    """An engine whose steps take the given milliseconds on a clock of its own."""

    def __init__(self, step_ms):
        self.now = 0
        self.cleared = 0
        self.sent = []
        self._steps = iter(step_ms)

    def clear(self):
        self.cleared += 1

    def prompt(self, n_tokens):
        self.now += round(next(self._steps) * MS)

    step = lambda self: self.prompt(1)  # noqa: E731

    def run(self, test, plan):
        return run_test(test, plan, nullcontext(self), Tools(lambda: self.now, self.sent.append))


def forever(*values):
    while True:
        yield from values


def test_steady_prompt_stops_at_six():
    replay = Replay(forever(100))
    done = replay.run(PP512, Plan())
    assert [r.warmup for r in done] == [True] + [False] * 6
    assert done[-1].rate_tok_s == pytest.approx(5120)
    assert replay.cleared == 7


def test_warmups_are_kept_but_do_not_count():
    done = Replay(iter([900, *[100] * 6])).run(PP512, Plan())
    assert done[0].warmup
    assert done[0].rate_tok_s == pytest.approx(512 / 0.9)
    assert len(done) == 7


def test_noisy_prompt_goes_on_until_the_limit_of_repetitions():
    done = Replay(forever(100, 130)).run(PP512, Plan(time_limit_s=1e9))
    assert len([r for r in done if not r.warmup]) == 30


def test_the_time_limit_ends_a_test_after_its_least_repetitions():
    done = Replay(forever(10_000, 13_000)).run(PP512, Plan(time_limit_s=45))
    assert len([r for r in done if not r.warmup]) == 6


def test_every_step_of_generation_is_kept_and_told_once():
    replay = Replay(forever(10))
    done = replay.run(TG128, Plan())
    timed = [r for r in done if not r.warmup]
    assert all(r.step_ns == (10 * MS,) * 128 for r in timed)
    told = [s for s in replay.sent if isinstance(s, Steps)]
    assert sum(len(s.end_ns) - 1 for s in told) == 128 * len(done)
    ends = [s.end_ns for s in told]
    assert all(b[0] == a[-1] for a, b in pairwise(ends) if b[0] != a[0])


def test_steps_are_told_at_most_every_quarter_second():
    replay = Replay(forever(10))
    replay.run(SpeedTest(0, 100), Plan())
    told = [s for s in replay.sent if isinstance(s, Steps)]
    per_repetition = len(told) / 7
    assert per_repetition <= 1 + 100 * 10 * MS / FLUSH_NS


def test_messages_come_in_order():
    replay = Replay(forever(10))
    replay.run(PP512, Plan(max_repetitions=1, min_repetitions=1))
    kinds = [type(m) for m in replay.sent]
    assert kinds == [RepetitionStarted, Steps, Repetition] * 2
