"""Watts modelled from the load of processor and cards, where no sensor can be read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from desktop.clock import now_ns
from desktop.power.meter import MAX_GAP_NS, Reading
from desktop.power.power_model import CardModel, PowerModel
from desktop.records.energy import MeterFacts, MeterKind, Source
from desktop.sources.system import CpuTimes

NAME = "CPU load"
NAME_WITH_CARDS = "CPU and card load"


@dataclass(frozen=True, slots=True)
class ModelledCard:
    """A card's model and the look at its load, 0 to 1; None when it does not tell."""

    model: CardModel
    load: Callable[[], float | None]


@dataclass(frozen=True, slots=True)
class _Look:
    at_ns: int
    times: CpuTimes
    loads: tuple[float, ...]


@dataclass(slots=True)
class ModelledMeter:
    """Adds up modelled joules: each step is the mean load since the step before it.

    Args:
        model: of the machine without its cards.
        cpu_times: of the whole machine.
        note: why no sensor is used; English.
        cards: the run's cards, where they can be modelled.
        on_close: lets the source of the cards' loads go.
        clock: monotonic nanoseconds.
    """

    model: PowerModel
    cpu_times: Callable[[], CpuTimes | None]
    note: str = ""
    cards: Sequence[ModelledCard] = ()
    on_close: Callable[[], None] = lambda: None
    clock: Callable[[], int] = now_ns
    max_gap_ns: int = MAX_GAP_NS
    dropped: int = field(default=0, init=False)
    _energy_j: float = field(default=0.0, init=False)
    _before: _Look | None = field(default=None, init=False)

    @property
    def facts(self) -> MeterFacts:
        """Says that it is modelled, by which formula, and why no sensor was used."""
        name = NAME_WITH_CARDS if self.cards else NAME
        formulas = (*self.model.formulas(), *(card.model.formula() for card in self.cards))
        detail = " ".join([*(formula.text() for formula in formulas), self.note]).strip()
        kind, scope = MeterKind.AVERAGE, self.model.scope
        return MeterFacts(name, Source.MODELLED, kind, scope, detail, formulas)

    def read(self) -> Reading | None:
        """Joules so far; None while the system's CPU times have not moved on."""
        look = self._look()
        before = self._before
        if look is None or (before and look.times.total_s <= before.times.total_s):
            self.dropped += 1
            return None
        if before is not None:
            self._energy_j += self._watts_w(before, look) * (look.at_ns - before.at_ns) / 1e9
        self._before = look
        return Reading(look.at_ns, energy_j=self._energy_j)

    def close(self) -> None:
        """Let the cards go."""
        self.on_close()

    def _look(self) -> _Look | None:
        times, at_ns = self.cpu_times(), self.clock()
        loads = [card.load() for card in self.cards]
        known = tuple(load for load in loads if load is not None)
        return None if times is None or len(known) < len(loads) else _Look(at_ns, times, known)

    def _watts_w(self, before: _Look, look: _Look) -> float:
        """Mean watts between two looks."""
        busy_s = look.times.busy_s - before.times.busy_s
        load = busy_s / (look.times.total_s - before.times.total_s)
        watts_w = self.model.watts_w(min(1.0, max(0.0, load)))
        pairs = zip(self.cards, before.loads, look.loads, strict=True)
        return watts_w + sum(card.model.watts_w((a + b) / 2) for card, a, b in pairs)


@dataclass(slots=True)
class NoMeter:
    """Stands in where not even a model can be made: it reads nothing."""

    facts: MeterFacts
    max_gap_ns: int = MAX_GAP_NS
    dropped: int = field(default=0, init=False)

    def read(self) -> Reading | None:
        """Nothing."""
        self.dropped += 1
        return None

    def close(self) -> None:
        """Nothing is held."""
