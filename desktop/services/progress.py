"""How far a run is and how long it will still take: a guess from what it has measured so far."""

from typing import Final

from desktop.records.events import Phase, Progress
from desktop.records.run import Plan, Rate, Repetition, SpeedTest

FIRST_GUESS: Final = 10
"""Repetitions that a test is assumed to take before its spread is known."""
FIRST_SECONDS: Final = 20.0
"""Seconds that a test is assumed to take before any repetition has been seen."""


class ProgressGuess:
    """Takes what the worker tells and says how far the run is.

    The number of repetitions that are still needed follows from the spread: it falls with the
    square root of their number.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._spent_s = {t.name: 0.0 for t in plan.tests}
        self._total_s = {t.name: FIRST_SECONDS for t in plan.tests}
        self._counts = {t.name: 0 for t in plan.tests}

    def repetition(self, done: Repetition, rate: Rate | None) -> Progress:
        """Progress after one more repetition; `rate` sums up the timed ones of its test."""
        seconds = (done.end_ns - done.start_ns) / 1e9
        self._spent_s[done.test] += seconds
        self._counts[done.test] += 1
        count = rate.repetitions if rate else 0
        needed = max(count, self._needed(rate)) + self._plan.warmups
        mean_s = self._spent_s[done.test] / self._counts[done.test]
        limit_s = max(self._plan.time_limit_s, self._plan.min_repetitions * mean_s)
        self._total_s[done.test] = max(self._spent_s[done.test], min(needed * mean_s, limit_s))
        return self._progress(done)

    def finished(self, test: str) -> None:
        """That test takes no more time."""
        self._total_s[test] = self._spent_s[test]

    def _needed(self, rate: Rate | None) -> int:
        plan = self._plan
        if rate is None or rate.spread is None:
            guess = float(FIRST_GUESS)
        else:
            guess = rate.repetitions * (rate.spread / plan.target_spread) ** 2
        return round(min(max(guess, plan.min_repetitions), plan.max_repetitions))

    def _progress(self, done: Repetition) -> Progress:
        for test in self._before(done.test):
            self.finished(test.name)
        spent, total = sum(self._spent_s.values()), sum(self._total_s.values())
        phase = Phase.WARMUP if done.warmup else Phase.MEASURING
        return Progress(phase, done.test, min(1.0, spent / total), max(0.0, total - spent))

    def _before(self, test: str) -> tuple[SpeedTest, ...]:
        names = [t.name for t in self._plan.tests]
        return self._plan.tests[: names.index(test)]
