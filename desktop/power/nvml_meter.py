"""NVIDIA cards: the energy counter of the board, else its power."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from desktop.clock import now_ns
from desktop.power.counter import CountedSource, Counter, CounterMeter
from desktop.power.meter import Meter, Reading
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.sources.nvml import Nvml, NvmlCard

NAME = "NVML"


@dataclass(slots=True)
class NvmlPowerMeter:
    """The sum of the boards' power, for cards without an energy counter (before Volta)."""

    facts: MeterFacts
    nvml: Nvml
    indices: Sequence[int]
    clock: Callable[[], int] = now_ns
    dropped: int = field(default=0, init=False)

    def read(self) -> Reading | None:
        """Watts of all cards together; None when one of them refused."""
        before_ns = self.clock()
        powers_mw = [self.nvml.power_mw(index) for index in self.indices]
        at_ns = (before_ns + self.clock()) // 2
        known = [power for power in powers_mw if power is not None]
        if len(known) < len(powers_mw):
            self.dropped += 1
            return None
        return Reading(at_ns, watts_w=sum(known) / 1e3)

    def close(self) -> None:
        """Let NVML go."""
        self.nvml.close()


def nvml_meter(nvml: Nvml, cards: Sequence[NvmlCard]) -> Meter | None:
    """A meter over these cards; None when a card tells neither energy nor power."""
    indices = [card.index for card in cards]
    if not indices:
        return None
    if all(nvml.energy_mj(index) is not None for index in indices):
        return _counter_meter(nvml, cards)
    if all(nvml.power_mw(index) is not None for index in indices):
        detail = f"Power of {_names(cards)}; the rest of the machine is not counted."
        facts = MeterFacts(NAME, Source.SENSOR, MeterKind.INSTANTANEOUS, Scope.BOARD, detail)
        return NvmlPowerMeter(facts, nvml, indices)
    return None


def _counter_meter(nvml: Nvml, cards: Sequence[NvmlCard]) -> Meter:
    detail = f"Energy counter of {_names(cards)}; the rest of the machine is not counted."
    facts = MeterFacts(NAME, Source.SENSOR, MeterKind.COUNTER, Scope.BOARD, detail)
    sources = [CountedSource(Counter(unit_j=1e-3), _energy_of(nvml, card)) for card in cards]
    return CounterMeter(facts, sources, nvml.close)


def _energy_of(nvml: Nvml, card: NvmlCard) -> Callable[[], int | None]:
    return lambda: nvml.energy_mj(card.index)


def _names(cards: Sequence[NvmlCard]) -> str:
    return ", ".join(card.name for card in cards)
