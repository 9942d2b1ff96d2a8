"""The state of the machine around a run."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from desktop.errors import Reason
from desktop.machine.memory import memory_bytes
from desktop.machine.state import NOTHING, StateSource, state_source
from desktop.machine.tools import failures
from desktop.records.machine import Conditions
from desktop.sources import temperatures
from desktop.sources.limits import Deadline, Pending
from desktop.sources.numbers import ram_bytes

log = logging.getLogger(__name__)
LIMIT_S: Final = 2.0

_CPU_CHIPS: Final = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal")
_HOTTEST_BELIEVED_C: Final = 150.0
_FULLEST_BELIEVED: Final = 200.0


@dataclass(frozen=True, slots=True)
class Readers:
    """Where one look comes from; tests pass their own. Each may block or raise."""

    state: StateSource = field(default_factory=state_source)
    temperature_c: Callable[[], float | None] = lambda: hottest(temperatures.read_chips(_CPU_CHIPS))
    memory: Callable[[], tuple[int | None, int | None]] = memory_bytes


class ConditionsSurvey(NamedTuple):
    """The conditions, and why the sources that gave nothing were given up on."""

    conditions: Conditions
    failures: tuple[Reason, ...]


def read_conditions(
    other_load_percent: float | None = None, *, virtual: bool = False, limit_s: float = LIMIT_S
) -> Conditions:
    """The state now, within `limit_s` seconds. Never raises; what nobody told is None.

    Args:
        other_load_percent: from `LoadWindow.other_percent`, 0 to 100.
        virtual: in a virtual machine the absence of a battery says nothing about the supply.
        limit_s: what has not answered by then is given up on, and logged.
    """
    found = survey_conditions(other_load_percent, virtual=virtual, limit_s=limit_s)
    for failure in found.failures:
        log.warning("conditions: %s", failure.text())
    return found.conditions


def survey_conditions(
    other_load_percent: float | None = None,
    *,
    virtual: bool = False,
    limit_s: float = LIMIT_S,
    readers: Readers | None = None,
) -> ConditionsSurvey:
    """As `read_conditions`, with the sources that failed or did not answer in time.

    Args:
        other_load_percent: as there.
        virtual: as there.
        limit_s: as there.
        readers: of this system where None.
    """
    chosen, deadline = readers or Readers(), Deadline(limit_s)
    told = Pending("The power state", lambda: chosen.state.read(virtual))
    heat = Pending("The temperature", chosen.temperature_c)
    memory = Pending("The memory", chosen.memory)
    state = told.result(deadline.left_s()) or NOTHING
    celsius = heat.result(deadline.left_s())
    _, available_bytes = memory.result(deadline.left_s()) or (None, None)
    conditions = Conditions(
        power_supply=state.power_supply,
        battery_percent=_at_most_full(state.battery_percent),
        governor=state.governor,
        temperature_c=celsius,
        other_load_percent=other_load_percent,
        memory_available_bytes=0 if available_bytes == 0 else ram_bytes(available_bytes),
        thermal=state.thermal,
        display_attached=state.display_attached,
    )
    return ConditionsSurvey(conditions, failures((told, heat, memory), chosen.state.tools))


def hottest(chips: Mapping[str, Sequence[int]]) -> float | None:
    """The hottest of the processor's sensors, °C. Sensors that show 0 or nonsense are not there.

    Args:
        chips: thousandths of a degree by chip.
    """
    values = [value / 1000 for chip in _CPU_CHIPS for value in chips.get(chip, ())]
    return max((v for v in values if 0 < v < _HOTTEST_BELIEVED_C), default=None)


def _at_most_full(percent: float | None) -> float | None:
    # a worn battery's gauge may say a little more than 100
    if percent is None or not 0 <= percent <= _FULLEST_BELIEVED:
        return None
    return min(100.0, percent)
