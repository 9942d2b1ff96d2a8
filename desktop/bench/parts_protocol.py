"""What app and worker say to each other about parts. Read as foreign data, like all messages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from desktop.bench import wire
from desktop.bench.wire import Json
from desktop.records.parts import Part, PartSkip, PartsPlan, PartTest, Skipped
from desktop.rules.parts_rates import work_of


@dataclass(frozen=True, slots=True)
class PartsJob:
    """The job to measure the machine's parts."""

    plan: PartsPlan
    memory_bytes: int | None = None
    """Memory of the system that is free; None when it does not tell."""
    without: tuple[str, ...] = ()
    """Devices to leave out: measured already, or a process ended on them."""

    @property
    def name(self) -> str:
        """For messages to people."""
        return "the parts"


@dataclass(frozen=True, slots=True)
class PartStarted:
    """A test of a device begins; `index` of `planned` tests, counted from 0."""

    device: str
    test: PartTest
    threads: int | None
    index: int
    planned: int


PartsMessage: TypeAlias = PartStarted | Part | PartSkip


def parts_job(body: Json) -> PartsJob:
    """The job on the worker's side.

    Raises:
        ValueError, KeyError, TypeError: it does not fit.
    """
    without = wire.take(body, "without", list)
    return PartsJob(
        _plan(wire.object_of(body["plan"])),
        wire.count_or_none(body, "memory_bytes"),
        tuple(str(name) for name in without),
    )


def _plan(plan: Json) -> PartsPlan:
    return PartsPlan(
        threads=wire.count(plan, "threads"),
        min_repetitions=wire.count(plan, "min_repetitions"),
        max_repetitions=wire.count(plan, "max_repetitions"),
        target_spread=wire.take(plan, "target_spread", float),
        time_limit_s=wire.take(plan, "time_limit_s", float),
        last_level_cache_bytes=wire.count_or_none(plan, "last_level_cache_bytes"),
    )


def _started(body: Json) -> PartStarted:
    return PartStarted(
        wire.take(body, "device", str),
        PartTest(wire.take(body, "test", str)),
        wire.count_or_none(body, "threads"),
        wire.count(body, "index"),
        wire.count(body, "planned"),
    )


def _part(body: Json) -> Part:
    part = Part(
        wire.take(body, "device", str),
        PartTest(wire.take(body, "test", str)),
        wire.count_or_none(body, "threads"),
        wire.count(body, "work"),
        wire.counts(body, "durations_ns"),
        wire.counts(body, "shape"),
    )
    if not part.work or not part.durations_ns or not all(part.durations_ns):
        raise ValueError("a part takes time and work")
    one_pass = work_of(part.test, part.shape)
    if not one_pass or part.work % one_pass:
        raise ValueError("the work is not that of the shape")
    return part


def _skip(body: Json) -> PartSkip:
    return PartSkip(
        wire.take(body, "device", str),
        PartTest(wire.take(body, "test", str)),
        wire.count_or_none(body, "threads"),
        Skipped(wire.take(body, "why", str)),
    )


READERS: Final[Mapping[str, Callable[[Json], PartsMessage]]] = {
    "PartStarted": _started,
    "Part": _part,
    "PartSkip": _skip,
}
