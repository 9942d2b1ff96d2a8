"""Which of the kept parts this machine's estimates rest on, and what of them is left out.

A ledger may be copied and a disk moved: parts of other hardware say nothing of this machine. Those
that were measured beside busy programs may be off by a factor of a hundred though each of their
repetitions was alike: nothing of the processor follows from them, as it follows from no run.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from desktop.errors import Param, Reason
from desktop.estimate.evidence import MAX_OTHER_LOAD_PERCENT, LeftOut, left_out_reason
from desktop.estimate.machine_state import State, fed_by, is_same_card, is_same_machine
from desktop.estimate.trusted import MOST_SPREAD, is_trusted
from desktop.paths import Paths
from desktop.records.machine import DeviceKind, PowerSupply
from desktop.records.parts import PartRate, Parts
from desktop.rules.notes import OTHER_LOAD_PERCENT
from desktop.rules.parts_rates import memory_bandwidth_bytes_s, rates_of
from desktop.rules.parts_words import TESTS
from desktop.services.results import kept_parts_newest_first

_LOOKED_AT: Final = 20
"""Kept parts of this machine, the newest first, among which quiet ones are looked for."""
_ON_PROCESSOR: Final = frozenset({DeviceKind.CPU, DeviceKind.SOFTWARE})


@dataclass(frozen=True, slots=True)
class UsedParts:
    """The parts that count, and what of them does."""

    parts: Parts | None = None
    rates: tuple[PartRate, ...] = ()
    disturbed: float = 0.0
    """The share of the processors that other programs took meanwhile, where it counts."""
    told: tuple[Reason, ...] = ()
    bandwidths: Mapping[str, float] = field(default_factory=dict)
    """Bytes a second of each device's memory that any of this machine's kept parts reached."""
    seconded: bool = False
    """Whether several kept parts reached about the same bandwidth, on every device."""


def used_parts(paths: Paths, measured: Parts | None, state: State) -> UsedParts:
    """The newest parts; in place of busy ones, or of another power supply's, the newest better.

    Args:
        paths: the profile.
        measured: just now, and not kept; None: the newest that the ledger holds.
        state: of the machine now; its memory is not asked.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    others: Counter[LeftOut] = Counter()
    kept = islice(_of_this_machine(kept_parts_newest_first(paths), state, others), _LOOKED_AT)
    found = [*([measured] if measured else []), *kept]
    if measured:
        others.clear()
    if not found:
        return UsedParts(told=_not_counted(others))
    newest, *older = found
    used = _better(newest, older, fed_by(state.supply)) or newest
    rates = tuple(_rates(used, state))
    others.update([LeftOut.DEVICES] * any(not is_same_card(d, state) for d in used.devices))
    load = _load_percent(used)
    each = [_reached(parts, state) for parts in found]
    bandwidths = _most(each)
    return UsedParts(
        parts=used,
        rates=rates,
        disturbed=load / 100 if OTHER_LOAD_PERCENT < load <= MAX_OTHER_LOAD_PERCENT else 0.0,
        told=(
            *_not_counted(others),
            *_about_load(newest, used),
            *_about_supply(used, state),
            *_left_out(rates, state.threads),
        ),
        bandwidths=bandwidths,
        seconded=_are_alike(each, bandwidths),
    )


def _of_this_machine(
    kept: Iterable[Parts], state: State, others: Counter[LeftOut]
) -> Iterator[Parts]:
    """Those of the same hardware; the others are counted up to the first that is."""
    first = True
    for parts in kept:
        if is_same_machine(parts.machine, state):
            first = False
            yield parts
        elif first:
            others.update([LeftOut.MACHINE])


def _not_counted(others: Counter[LeftOut]) -> tuple[Reason, ...]:
    told = left_out_reason(others.most_common(), "estimate_parts_left_out")
    return (told,) if told else ()


def _rates(parts: Parts, state: State) -> Iterator[PartRate]:
    """Those that may say something of this machine's devices."""
    cards = {device.name for device in parts.devices if not is_same_card(device, state)}
    for rate in rates_of(parts):
        if rate.device not in cards and not (_is_busy(parts) and _on_host(parts, rate)):
            yield rate


def _reached(parts: Parts, state: State) -> dict[str, float]:
    """The bandwidth of each device's memory, by the parts that may say something of it."""
    rates = [rate for rate in _rates(parts, state) if is_trusted(rate)]
    told = {name: memory_bandwidth_bytes_s(rates, name) for name in {r.device for r in rates}}
    return {name: bandwidth for name, bandwidth in told.items() if bandwidth is not None}


def _most(each: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """What was reached once can be reached, whichever parts count otherwise."""
    names = set().union(*each)
    return {name: max(one.get(name, 0.0) for one in each) for name in names}


def _are_alike(each: Sequence[Mapping[str, float]], most: Mapping[str, float]) -> bool:
    """Whether of every device another measurement reached at least half of the most."""
    return all(
        sum(2 * one.get(name, 0.0) >= reached for one in each) > 1 for name, reached in most.items()
    )


def _better(newest: Parts, older: Iterable[Parts], now: PowerSupply) -> Parts | None:
    """What stands in for the newest, by the same engine; None where nothing does."""
    wanted = (newest.engine, newest.engine_version)
    quiet = [p for p in older if (p.engine, p.engine_version) == wanted and not _is_busy(p)]
    as_now = (parts for parts in quiet if fed_by(parts.before.power_supply) is now)
    if _is_busy(newest):
        return next(as_now, None) or next(iter(quiet), None)
    return None if fed_by(newest.before.power_supply) is now else next(as_now, None)


def _is_busy(parts: Parts) -> bool:
    return _load_percent(parts) > MAX_OTHER_LOAD_PERCENT


def _load_percent(parts: Parts) -> float:
    return parts.after.other_load_percent or 0.0


def _on_host(parts: Parts, rate: PartRate) -> bool:
    kinds = {device.name: device.kind for device in parts.devices}
    return kinds.get(rate.device) in _ON_PROCESSOR


def _about_load(newest: Parts, used: Parts) -> tuple[Reason, ...]:
    if _is_busy(newest):
        told: dict[str, Param] = {"percent": round(_load_percent(newest))}
        if used is newest:
            return (Reason("estimate_parts_busy", told),)
        return (Reason("estimate_parts_quieter", {**told, "at": used.started_at}),)
    percent = _load_percent(used)
    if percent <= OTHER_LOAD_PERCENT:
        return ()
    return (Reason("estimate_parts_disturbed", {"percent": round(percent)}),)


def _about_supply(used: Parts, state: State) -> tuple[Reason, ...]:
    found, now = fed_by(used.before.power_supply), fed_by(state.supply)
    if found is now:
        return ()
    return (Reason("estimate_parts_supply", {"found": found.value, "now": now.value}),)


def _left_out(rates: Sequence[PartRate], threads: int) -> tuple[Reason, ...]:
    """The tests that no estimate rests on."""
    wanted = (r for r in rates if r.threads in {None, threads} and not is_trusted(r))
    tests = "; ".join(dict.fromkeys(TESTS[rate.test] for rate in wanted))
    told: dict[str, Param] = {"tests": tests, "percent": round(100 * MOST_SPREAD)}
    return (Reason("estimate_parts_unsure", told),) if tests else ()
