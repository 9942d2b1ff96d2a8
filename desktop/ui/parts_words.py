"""What the window says of the machine's parts: devices, steps, and how far to trust a figure."""

from collections.abc import Iterable
from typing import Final, TypeAlias

from PySide6.QtCore import QCoreApplication

from desktop.records.events import Phase, Progress
from desktop.records.machine import Device, DeviceKind
from desktop.records.parts import PartRate, PartSkip, PartTest, Skipped
from desktop.records.run import Note
from desktop.rules.marks import SIGNS, signs
from desktop.rules.notes import PARTS_WORDS
from desktop.rules.parts_rates import caches_may_help
from desktop.rules.parts_words import TESTS, WHY
from desktop.ui import format as fmt
from desktop.ui import messages

_CONTEXT: Final = "Parts"
_MIB: Final = 2**20
_TERA, _GIGA, _MICRO = 1e12, 1e9, 1e-6
Group: TypeAlias = tuple[str, int | None]
"""A device and its threads."""


def group_name(group: Group) -> str:
    """`CUDA0`, `CPU, 12 threads`."""
    device, threads = group
    if threads is None:
        return device
    if threads == 1:
        return _tr("{device}, 1 thread").format(device=device)
    return _tr("{device}, {count} threads").format(device=device, count=threads)


def device_cell(group: Group, facts: Device | None) -> str:
    """The group and, below, what the device is; software devices are no cards and say so."""
    name = group_name(group)
    if facts is None:
        return name
    # beside the name: a long description is cut
    if facts.kind is DeviceKind.SOFTWARE:
        name = _tr("{device} (software)").format(device=name)
    return f"{name}\n{facts.description}"


def figure(rate: PartRate | None) -> str:
    """In its column's unit (TFLOP/s, GB/s, µs), with its marks and the spread below."""
    if rate is None:
        return fmt.DASH
    number = f"{fmt.number(rate.median / _unit(rate.test))} {signs(rate.marks)}".rstrip()
    return number if rate.spread is None else f"{number}\n{fmt.spread(rate.spread)}"


def step(event: Progress) -> str:
    """What is being done: `CPU, 2 threads: copy, F32 (7 of 11)`."""
    at = event.part
    if at is not None:
        words = _tr("{device}: {test} ({number} of {count})")
        return words.format(
            device=group_name((at.device, at.threads)),
            test=_tr(TESTS[at.test]),
            number=at.number,
            count=at.planned,
        )
    if event.phase is Phase.SIGNING:
        return messages.phase(event.phase, None)
    # a run's words would speak of a build
    return _tr("Starting the engine") if event.phase is Phase.LOADING else _tr("Starting")


def so_far(count: int) -> str:
    """`1 figure so far`."""
    if count == 1:
        return _tr("1 figure so far")
    return QCoreApplication.translate(_CONTEXT, "%n figures so far", "", count)


def notes(
    rates: Iterable[PartRate], skipped: Iterable[PartSkip], told: Iterable[Note] = ()
) -> tuple[str, ...]:
    """What has no figure and why, what caches may have helped, and why to read all with care.

    Args:
        rates: that are shown; their marks are explained.
        skipped: what gave no figure.
        told: of all of them together.
    """
    shown = tuple(rates)
    found = {*told, *(mark for rate in shown for mark in rate.marks)} - {Note.CACHED}
    general = (_note(note) for note in Note if note in found)
    return (*_missing(tuple(skipped), shown), *_cached(shown), *general)


def _note(note: Note) -> str:
    """With the sign that stands at the figures that it is of."""
    words = QCoreApplication.translate(messages.NOTES, PARTS_WORDS[note])
    return f"{SIGNS[note]}  {words}" if note in SIGNS else words


def _unit(test: PartTest) -> float:
    if test is PartTest.MATMUL_F16:
        return _TERA
    return _MICRO if test is PartTest.SMALL_GRAPH else _GIGA


def _missing(skipped: tuple[PartSkip, ...], rates: tuple[PartRate, ...]) -> Iterable[str]:
    tests: dict[tuple[Group, Skipped], list[PartTest]] = {}
    for skip in skipped:
        tests.setdefault(((skip.device, skip.threads), skip.why), []).append(skip.test)
    measured = {(r.device, r.threads) for r in rates}
    groups = [group for group, _ in tests]
    for (group, why), missing in tests.items():
        whole = group not in measured and groups.count(group) == 1
        some_of, all_of = _tr("{device}: no {tests}: {why}."), _tr("{device}: no figures: {why}.")
        words = all_of if whole else some_of
        yield words.format(device=group_name(group), tests=_tests(missing), why=_tr(WHY[why]))


def _cached(rates: tuple[PartRate, ...]) -> Iterable[str]:
    small: dict[Group, list[PartRate]] = {}
    for rate in filter(caches_may_help, rates):
        small.setdefault((rate.device, rate.threads), []).append(rate)
    words = _tr("{sign}  {device}: {tests} read only {size}: caches may have helped.")
    for group, found in small.items():
        most = max(rate.pass_bytes or 0 for rate in found)
        yield words.format(
            sign=SIGNS[Note.CACHED],
            device=group_name(group),
            tests=_tests(rate.test for rate in found),
            size=fmt.with_unit(most / _MIB, "MiB"),
        )


def _tests(tests: Iterable[PartTest]) -> str:
    return "; ".join(_tr(TESTS[test]) for test in tests)


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)
