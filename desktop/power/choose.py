"""Which meter a run gets: the best sensor that can be read, else the model, and why.

The order, and its reasons, are in docs/adr/0010-meters.md:

on cards: their energy counters, their power sensors, the battery, the model of processor and cards,
the processor's sensors with the word that the cards are left out;
on the processor: its energy counter (RAPL; IOReport or powermetrics; EMI), an APU's package power,
the battery; last the model.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from desktop.power import apple_meter, battery_meter, emi_meter, parse_battery, rapl_meter
from desktop.power.meter import Meter, Noted
from desktop.power.places import NO_APU, NO_CARD_SENSOR, Found, Places
from desktop.power.sources import PowerSources
from desktop.power.used import cards_of_run
from desktop.records.machine import Device, Machine
from desktop.sources.limits import Pending

LIMIT_S = 2.0
"""A source that does not open within it is given up on, and named."""
_NOT_WORTH_SAYING = {NO_APU, parse_battery.NO_BATTERY, parse_battery.ON_MAINS}


class Looked(NamedTuple):
    """One place that was looked at, and what was found there."""

    name: str
    found: Found


class _Place(NamedTuple):
    name: str
    find: Callable[[], Found]
    covers_cards: bool = True
    """False: what it measures leaves the run's cards out."""


def choose_meter(
    machine: Machine,
    devices: Sequence[Device | str] = (),
    sources: PowerSources | None = None,
) -> Meter:
    """The meter for a run on this machine. Never raises; takes 2 s for each stuck source.

    Args:
        machine: which systems to ask, and for the model when no sensor can be read.
        devices: what the run uses, as the engine lists it, or names alone; none for the processor.
        sources: where to look.
    """
    search = _Search(machine, devices, sources or PowerSources())
    for place in search.places():
        if not isinstance(place.found, str):
            return place.found
    return search.last_resort()


def look_around(
    machine: Machine,
    devices: Sequence[Device | str] = (),
    sources: PowerSources | None = None,
) -> tuple[Looked, ...]:
    """Every place that this system has, in the order of choice; the caller closes the meters.

    The last one is the model. Never raises.
    """
    search = _Search(machine, devices, sources or PowerSources())
    return (*search.places(), Looked("model", search.last_resort()))


class _Search:
    """One walk through the places of a system, each opened only when it is reached."""

    def __init__(
        self, machine: Machine, devices: Sequence[Device | str], sources: PowerSources
    ) -> None:
        cards = cards_of_run(machine, devices)
        self._places = Places(machine, cards, sources)
        self._apart = any(not card.integrated for card in cards)
        """Whether the run uses cards with a power supply of their own."""
        self._reasons: list[str] = []

    def places(self) -> Iterator[Looked]:
        """Opens one place after another, and remembers why those before gave nothing."""
        for place in self._order():
            pending = Pending(place.name, place.find)
            found = pending.result(LIMIT_S)
            if found is None:
                found = f"{place.name} gave no answer ({pending.failure})."
            if isinstance(found, str):
                self._reasons.append(found)
            elif self._apart and not place.covers_cards:
                found = Noted(found, NO_CARD_SENSOR)
            yield Looked(place.name, found)

    def last_resort(self) -> Meter:
        """The model of the processor, saying why nothing better was found."""
        said = [r for r in dict.fromkeys(self._reasons) if r not in _NOT_WORTH_SAYING]
        return self._places.model(" ".join(said))

    def _order(self) -> Iterator[_Place]:
        battery = _Place(battery_meter.NAME, self._places.battery)
        if self._places.cards:
            yield _Place("cards", self._places.card_sensors)
        if self._apart:
            # before the packages, as these say nothing of the cards
            yield battery
            yield _Place("model with cards", self._places.modelled_cards)
        yield from self._packages()
        if not self._apart:
            yield battery

    def _packages(self) -> Iterator[_Place]:
        match self._places.machine.os:
            case "Windows":
                yield _Place(emi_meter.NAME, self._places.emi, covers_cards=False)
            case "macOS":
                yield _Place(apple_meter.IOREPORT, self._places.ioreport, covers_cards=False)
                tool = self._places.powermetrics
                yield _Place(apple_meter.POWERMETRICS, tool, covers_cards=False)
            case _:
                yield _Place(rapl_meter.NAME, self._places.rapl, covers_cards=False)
                yield _Place("APU", self._places.apu, covers_cards=False)
