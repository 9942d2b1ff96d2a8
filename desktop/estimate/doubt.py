"""Whether this machine's parts and its runs can both be right, and which of them to believe.

One measurement of parts may be of a bad moment, and so may one run be wrong. What several say alike
outweighs what one says: runs of several builds, a second measurement of parts, the catalogue.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from desktop.errors import Reason
from desktop.estimate.bounds import Memory, times_faster
from desktop.estimate.calibration import DeviceRates, less_sure
from desktop.estimate.evidence import BEYOND, LeftOut, WorkOf, asked_by, reason_against
from desktop.estimate.machine_state import State
from desktop.estimate.token_work import HOST
from desktop.records.run import TG128, Run

_ALIKE: Final = 2.0
"""Bandwidths agree within this factor: builds and types reach 0.5 to 1 of a memory's."""
_RUNS: Final = 3
_BUILDS: Final = 2
"""So many runs, of so many builds, outweigh one measurement of parts."""
_MOST_BYTES_S: Final = {True: 2e12, False: 30e12}
"""No memory is faster: of a processor (two sockets with stacks of their own), and of a card. A run
that takes more is wrong whatever the parts were."""
_WHOLE: Final = 10
"""From so many times on, tenths say nothing."""
_SLOWED_SD: Final = 0.3
"""Of parts' rates that are taken to be so many times too low: not each by the same."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Parts that runs contradict."""

    times: float
    """So many times the parts' bandwidth runs took."""
    follows: bool
    """Whether it is known that the parts are wrong: then what the runs took holds. Otherwise
    nobody knows which is, and nothing follows."""

    @property
    def told(self) -> Reason:
        """What is said once of all estimates."""
        code = "estimate_parts_slow" if self.follows else "estimate_parts_doubtful"
        return Reason(code, {"times": f"{self.times:.{0 if self.times >= _WHOLE else 1}f}"})


@dataclass(frozen=True, slots=True)
class _Told:
    """What a run says of the memory."""

    build: str
    times: float
    """Of the known bandwidth."""


def judged(runs: Sequence[Run], state: State, work_of: WorkOf) -> State:
    """The state with the memory and arithmetic to judge runs by: no slower than several tell alike.

    Args:
        runs: of the ledger.
        state: with what the catalogue and all parts tell.
        work_of: what a token of a run asked.
    """
    told = sorted(_told(runs, state, state.memory, work_of), key=lambda one: one.times)
    groups = [
        told[i : bisect_right(told, _ALIKE * one.times, key=_times)] for i, one in enumerate(told)
    ]
    # the largest group, also of one build, so that a few that agree do not outweigh many
    most: list[_Told] = max(groups, key=len, default=[])
    enough = len(most) >= _RUNS and len({one.build for one in most}) >= _BUILDS
    agreed = median(map(_times, most)) if enough else 0.0
    if agreed <= 1:
        return state
    memory = {
        name: replace(of, bandwidth_bytes_s=agreed * of.bandwidth_bytes_s)
        for name, of in state.memory.items()
    }
    return replace(state, memory=memory, flops={n: agreed * of for n, of in state.flops.items()})


def doubt_of(
    runs: Sequence[Run],
    state: State,
    parts: Mapping[str, Memory],
    work_of: WorkOf,
    *,
    seconded: bool,
) -> Doubt | None:
    """Whether runs took more than three times the bandwidth of the parts that are used.

    Args:
        runs: of the ledger.
        state: `judged`.
        parts: the memory by the parts that are used alone.
        work_of: what a token of a run asked.
        seconded: whether other parts or the catalogue tell the memory, too.
    """
    reasons = [(run, reason_against(run, state, work_of)) for run in runs]
    counted = _told([run for run, why in reasons if why is None], state, parts, work_of)
    if any(one.times >= 1 / BEYOND for one in counted):
        times = median(map(_times, counted))
        return Doubt(times, follows=True) if times > BEYOND else None
    left = [run for run, why in reasons if why is LeftOut.BEYOND]
    against = [one for one in _told(left, state, parts, work_of) if one.times > BEYOND]
    if seconded or not against:
        return None
    return Doubt(median(map(_times, against)), follows=False)


def most_bytes_s(known: DeviceRates) -> float:
    """The bandwidth of the type that the parts read fastest."""
    return max(1 / rate.byte_s for rate in known.types.values())


def by_parts(known: Mapping[str, DeviceRates], state: State) -> dict[str, Memory]:
    """The memory by the parts that are used alone.

    Args:
        known: by the device's name.
        state: with the memory of the same devices by all that tells of it.
    """
    return {
        name: replace(state.memory[name], bandwidth_bytes_s=most_bytes_s(of))
        for name, of in known.items()
    }


def in_spite_of(doubt: Doubt | None, known: dict[str, DeviceRates]) -> dict[str, DeviceRates]:
    """What the parts tell though there may be a doubt of them."""
    if doubt is None:
        return known
    return {name: raised(of, doubt.times) for name, of in known.items()} if doubt.follows else {}


def raised(known: DeviceRates, times: float) -> DeviceRates:
    """The same of a moment that made reading so many times too slow.

    Whether it slowed starting a layer alike, or not at all, is not known: the middle is taken. Of
    products, which runs of generation say nothing of, nothing follows.
    """
    types = {kind: replace(r, byte_s=r.byte_s / times) for kind, r in known.types.items()}
    found = less_sure(replace(known, types=types, flops=None), _SLOWED_SD)
    return replace(
        found,
        layer_s=known.layer_s / math.sqrt(times),
        layer_sd=math.hypot(found.layer_sd, math.log(times) / 2),
    )


def _told(
    runs: Sequence[Run], state: State, memory: Mapping[str, Memory], work_of: WorkOf
) -> list[_Told]:
    """Of the runs as the machine is now whose bytes no cache holds, and that may be."""
    found = []
    for run in runs:
        if reason_against(run, state) is not None:
            continue
        asked = asked_by(run, TG128, work_of)
        times = times_faster(asked[0], memory, asked[1]) if asked else 0.0
        if asked and times and _may_be({work.device for work in asked[0]}, memory, times):
            found.append(_Told(run.build.sha256, times))
    return found


def _may_be(devices: set[str], memory: Mapping[str, Memory], times: float) -> bool:
    return all(
        times * memory[name].bandwidth_bytes_s <= _MOST_BYTES_S[name == HOST] for name in devices
    )


def _times(told: _Told) -> float:
    return told.times
