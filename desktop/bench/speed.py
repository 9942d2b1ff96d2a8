"""The speed tests: prompt and generation as llama-bench defines them, repeated until steady.

Each test has a context of its own, sized to its tokens (a shared, larger one costs 2-7 %). A prompt
is decoded in batches and then synchronized once; generation decodes one token at a time and
synchronizes each. The context is emptied between repetitions, so no prefix is reused.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from desktop.bench.protocol import RepetitionStarted
from desktop.records.events import Steps
from desktop.records.run import Plan, Repetition, SpeedTest
from desktop.rules.rates import rate_of

FLUSH_NS = 250_000_000
"""Steps are told at most so often: each message wakes the app, and the app shares the cores."""


class Context(Protocol):
    """What a test needs of the engine's context."""

    def clear(self) -> None:
        """Empty the KV cache."""

    def prompt(self, n_tokens: int) -> None:
        """Decode `n_tokens` random tokens in batches, then synchronize."""

    def step(self) -> None:
        """Decode one random token and synchronize."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Where the numbers come from and go to: replaced in tests."""

    clock: Callable[[], int]
    """Monotonic nanoseconds."""
    send: Callable[[RepetitionStarted | Steps | Repetition], None]


def run_test(
    test: SpeedTest, plan: Plan, context: AbstractContextManager[Context], tools: Tools
) -> tuple[Repetition, ...]:
    """Warm up, then repeat until the spread is reached or a limit is; every repetition is sent.

    Returns:
        All repetitions in order, warm-ups first.
    """
    done: list[Repetition] = []
    with context as engine:
        started = tools.clock()
        for index, warmup in _schedule(test, plan, done, lambda: tools.clock() - started):
            planned = plan.warmups if warmup else plan.max_repetitions
            tools.send(RepetitionStarted(test.name, warmup, index, planned))
            done.append(_repeat(test, engine, tools, warmup=warmup))
            tools.send(done[-1])
    return tuple(done)


def _schedule(
    test: SpeedTest, plan: Plan, done: list[Repetition], elapsed_ns: Callable[[], int]
) -> Iterator[tuple[int, bool]]:
    yield from ((i, True) for i in range(plan.warmups))
    for i in range(plan.max_repetitions):
        if i >= plan.min_repetitions:
            rate = rate_of(test.name, done)
            steady = rate is not None and rate.spread is not None
            if steady and rate.spread <= plan.target_spread:  # type: ignore[union-attr,operator]
                return
            if elapsed_ns() > plan.time_limit_s * 1e9:
                return
        yield i, False


def _repeat(test: SpeedTest, engine: Context, tools: Tools, *, warmup: bool) -> Repetition:
    engine.clear()
    if test.n_prompt:
        return _prompt(test, engine, tools, warmup=warmup)
    return _generate(test, engine, tools, warmup=warmup)


def _prompt(test: SpeedTest, engine: Context, tools: Tools, *, warmup: bool) -> Repetition:
    start = tools.clock()
    engine.prompt(test.n_prompt)
    end = tools.clock()
    tools.send(Steps(test.name, warmup, (start, end), test.n_prompt))
    return Repetition(test.name, warmup, start, end, test.n_prompt, (end - start,))


def _generate(test: SpeedTest, engine: Context, tools: Tools, *, warmup: bool) -> Repetition:
    clock = tools.clock
    durations: list[int] = []
    start = told = clock()
    pending = [start]
    for _ in range(test.n_gen):
        before = clock()
        engine.step()
        after = clock()
        durations.append(after - before)
        pending.append(after)
        if after - told >= FLUSH_NS:
            tools.send(Steps(test.name, warmup, tuple(pending), 1))
            pending = [pending[-1]]
            told = after
    end = clock()
    # the last steps are told after the clock has stopped, so that telling is never timed twice
    tools.send(Steps(test.name, warmup, tuple(pending), 1))
    return Repetition(test.name, warmup, start, end, test.n_gen, tuple(durations))
