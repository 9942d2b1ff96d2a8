"""One walk through the places of a system where its power may be read, within one limit."""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from desktop.power import (
    apple_meter,
    battery_meter,
    emi_meter,
    nvml_meter,
    parse_battery,
    rapl_meter,
)
from desktop.power.meter import Meter, Noted
from desktop.power.nvml_meter import SharedNvml
from desktop.power.opening import NoAnswer, Opening
from desktop.power.places import NO_APU, NO_CARD_SENSOR, Found, Places
from desktop.power.sources import PowerSources
from desktop.power.used import cards_of_run
from desktop.records.machine import Device, Machine
from desktop.sources.limits import Deadline

_CARDS = "cards"
_NOT_WORTH_SAYING = {NO_APU, parse_battery.NO_BATTERY, parse_battery.ON_MAINS}


T = TypeVar("T")


class Looked(NamedTuple):
    """One place that was looked at, and what was found there."""

    name: str
    found: Found


class _Place(NamedTuple):
    name: str
    find: Callable[[], Found]
    covers_cards: bool = True
    """False: what it measures leaves the run's cards out."""


class Search:
    """One walk through the places of a system, each opened only when it is reached.

    A context manager: NVML stays open for the places, and afterwards for the meters that use it.
    """

    def __init__(
        self,
        machine: Machine,
        devices: Sequence[Device | str],
        sources: PowerSources,
        limit_s: float,
    ) -> None:
        self._deadline = Deadline(limit_s)
        self._sources = sources
        cards = cards_of_run(machine, devices)
        self._places = Places(machine, cards, sources)
        self._apart = any(not card.integrated for card in cards)
        """Whether the run uses cards with a power supply of their own."""
        self._reasons: list[str] = []
        self._given_up: dict[str, str] = {}
        """By source, the sentence that says so."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self._places.nvml is not None:
            self._places.nvml.let_go()

    def places(self) -> Iterator[Looked]:
        """Opens one place after another, and remembers why those before gave nothing."""
        if self._places.wants_nvml:
            nvml = self._open(nvml_meter.NAME, self._places.open_nvml, _let_go)
            if isinstance(nvml, NoAnswer):
                yield Looked(nvml_meter.NAME, nvml)
            else:
                self._places.nvml = nvml
        for place in self._order():
            yield Looked(place.name, self._look(place))

    def last_resort(self) -> Meter:
        """The model of the processor, saying why nothing better was found."""
        said = [r for r in dict.fromkeys(self._reasons) if r not in _NOT_WORTH_SAYING]
        has_battery = self._has_battery()
        note = " ".join([*self._given_up.values(), *said])
        return self._places.model(note, has_battery=has_battery)

    def _look(self, place: _Place) -> Found:
        found = self._open(place.name, place.find, _close)
        if isinstance(found, NoAnswer):
            return found
        if isinstance(found, str):
            self._reasons.append(found)
            return found
        notes = list(self._given_up.values())
        if self._apart and not place.covers_cards:
            notes.append(NO_CARD_SENSOR)
        return Noted(found, " ".join(notes)) if notes else found

    def _open(self, name: str, find: Callable[[], T], let_go: Callable[[T], None]) -> T | NoAnswer:
        answer = Opening(name, find, let_go).within(self._deadline)
        if isinstance(answer, NoAnswer):
            self._given_up[name] = answer
        return answer

    def _has_battery(self) -> bool:
        # what does not answer is a battery's gauge: there is one
        name = battery_meter.NAME
        if name in self._given_up:
            return True
        answer = self._open(name, self._sources.has_battery, lambda _: None)
        return isinstance(answer, NoAnswer) or answer

    def _order(self) -> Iterator[_Place]:
        battery = _Place(battery_meter.NAME, self._places.battery)
        if self._places.cards:
            yield _Place(_CARDS, self._places.card_sensors)
        if self._apart:
            # before the packages, as these say nothing of the cards
            yield battery
            # the cards' sensors again, as the APU's below: what is stuck is not asked twice
            if _CARDS not in self._given_up:
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
                if _CARDS not in self._given_up:
                    yield _Place("APU", self._places.apu, covers_cards=False)


def _close(found: Found) -> None:
    if not isinstance(found, str):
        found.close()


def _let_go(nvml: SharedNvml | None) -> None:
    if nvml is not None:
        nvml.let_go()
