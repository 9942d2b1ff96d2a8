"""Which of the kept parts this machine's estimates rest on, and what of them is left out.

Parts that were measured beside busy programs may be off by a factor of a hundred though each of
their repetitions was alike: nothing of the processor follows from them, as it follows from no run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from desktop.errors import Param, Reason
from desktop.estimate.evidence import MAX_OTHER_LOAD_PERCENT
from desktop.estimate.trusted import MOST_SPREAD, is_trusted
from desktop.paths import Paths
from desktop.records.machine import DeviceKind
from desktop.records.parts import PartRate, Parts
from desktop.rules.notes import OTHER_LOAD_PERCENT
from desktop.rules.parts_rates import rates_of
from desktop.rules.parts_words import TESTS
from desktop.services.results import kept_parts_newest_first

_LOOKED_AT: Final = 20
"""Kept parts, the newest first, among which quiet ones are looked for."""
_ON_PROCESSOR: Final = frozenset({DeviceKind.CPU, DeviceKind.SOFTWARE})


@dataclass(frozen=True, slots=True)
class UsedParts:
    """The parts that count, and what of them does."""

    parts: Parts | None = None
    rates: tuple[PartRate, ...] = ()
    disturbed: float = 0.0
    """The share of the processors that other programs took meanwhile, where it counts."""
    told: tuple[Reason, ...] = ()


def used_parts(paths: Paths, measured: Parts | None, threads: int) -> UsedParts:
    """The newest parts; where they were measured beside busy programs, the newest quiet ones.

    Args:
        paths: the profile.
        measured: just now, and not kept; None: the newest that the ledger holds.
        threads: that a run would use.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    kept = islice(kept_parts_newest_first(paths), _LOOKED_AT)
    found = chain([measured] if measured else (), kept)
    newest = next(found, None)
    if newest is None:
        return UsedParts()
    quiet = next(_alike(newest, found), None) if _is_busy(newest) else None
    used = quiet or newest
    rates = tuple(rate for rate in rates_of(used) if not (_is_busy(used) and _on_host(used, rate)))
    load = _load_percent(used)
    disturbed = load / 100 if OTHER_LOAD_PERCENT < load <= MAX_OTHER_LOAD_PERCENT else 0.0
    told = (*_about_load(newest, quiet), *_left_out(rates, threads))
    return UsedParts(used, rates, disturbed, told)


def _alike(newest: Parts, others: Iterator[Parts]) -> Iterator[Parts]:
    """Quiet ones of the same processor and engine."""
    wanted = (newest.machine.cpu.name, newest.engine, newest.engine_version)
    for parts in others:
        found = (parts.machine.cpu.name, parts.engine, parts.engine_version)
        if found == wanted and not _is_busy(parts):
            yield parts


def _is_busy(parts: Parts) -> bool:
    return _load_percent(parts) > MAX_OTHER_LOAD_PERCENT


def _load_percent(parts: Parts) -> float:
    return parts.after.other_load_percent or 0.0


def _on_host(parts: Parts, rate: PartRate) -> bool:
    kinds = {device.name: device.kind for device in parts.devices}
    return kinds.get(rate.device) in _ON_PROCESSOR


def _about_load(newest: Parts, quiet: Parts | None) -> tuple[Reason, ...]:
    percent = _load_percent(newest)
    told = {"percent": round(percent)}
    if quiet is not None:
        return (Reason("estimate_parts_quieter", {**told, "at": quiet.started_at}),)
    if _is_busy(newest):
        return (Reason("estimate_parts_busy", told),)
    return (Reason("estimate_parts_disturbed", told),) if percent > OTHER_LOAD_PERCENT else ()


def _left_out(rates: Sequence[PartRate], threads: int) -> tuple[Reason, ...]:
    """The tests that no estimate rests on."""
    wanted = (r for r in rates if r.threads in {None, threads} and not is_trusted(r))
    tests = "; ".join(dict.fromkeys(TESTS[rate.test] for rate in wanted))
    told: dict[str, Param] = {"tests": tests, "percent": round(100 * MOST_SPREAD)}
    return (Reason("estimate_parts_unsure", told),) if tests else ()
