"""The places where a machine's power may be read: each gives a meter, or the reason why not."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeAlias

from desktop.power import apple_meter, battery_meter, emi_meter, rapl_meter
from desktop.power.cards import CardSensor, card_meter
from desktop.power.hwmon_meter import hwmon_sensor
from desktop.power.meter import Meter
from desktop.power.modelled import NAME as MODELLED_NAME
from desktop.power.modelled import ModelledCard, ModelledMeter, NoMeter
from desktop.power.nvml_meter import NVIDIA, SharedNvml
from desktop.power.power_model import card_model, model_for
from desktop.power.sources import PowerSources
from desktop.power.used import UsedCard, pairs_for
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import Accelerator, Machine
from desktop.rules.pci import same_address

EVERY_MAC_NS = 5_000_000_000
"""Between looks at a Mac's battery: each is a process, and the gauge is renewed more rarely."""
NO_CARD_SENSOR = "No sensor of the card can be read: its power is not counted."
NO_CARD_LOAD = "The card does not tell how busy it is, so its share cannot be modelled."
NO_CARD_LIMIT = "The catalogue knows no power limit of the card, so its share cannot be modelled."
NO_APU = "No package power of an APU is shown."
_CARD_WITHOUT_SENSOR = "No sensor of the card can be read."

Found: TypeAlias = Meter | str
"""A meter that reads, or why there is none; English."""


@dataclass(slots=True)
class Places:
    """The places of one machine, for a run on these cards (none: on the processor).

    Each may block for as long as its source does: the caller limits it.
    """

    machine: Machine
    cards: Sequence[UsedCard]
    sources: PowerSources
    nvml: SharedNvml | None = None
    """Set by who opened it, before the cards are looked at."""

    @property
    def wants_nvml(self) -> bool:
        """Whether a card of the run may be NVIDIA's."""
        return any(card.vendor in {None, NVIDIA} for card in self.cards)

    def open_nvml(self) -> SharedNvml | None:
        """NVIDIA's library with its cards, once for all places; None where there is none."""
        nvml = self.sources.open_nvml()
        return None if nvml is None else SharedNvml(nvml)

    def card_sensors(self) -> Found:
        """The energy counters of all cards of the run, else their power."""
        with ExitStack() as held:
            let_go = self._hold_nvml(held)
            pairs = pairs_for(self.cards, self._sensors())
            meter = card_meter([sensor for _, sensor in pairs], let_go) if pairs else None
            if meter is not None:
                # the meter lets it go when it is closed
                held.pop_all()
            return meter or NO_CARD_SENSOR

    def modelled_cards(self) -> Found:
        """The processor and every card of the run by their loads, where all of them tell it."""
        with ExitStack() as held:
            found = self._modelled(self._hold_nvml(held))
            if not isinstance(found, str):
                held.pop_all()
            return found

    def rapl(self) -> Found:
        """Linux's counters of the processor's packages."""
        return rapl_meter.rapl_meter(self.sources.rapl_domains())

    def apu(self) -> Found:
        """An APU's graphics driver tells the power of the whole package, to every user."""
        packages = [sensor for sensor in self._hwmon_sensors() if sensor.integrated]
        return card_meter(packages[:1]) or NO_APU

    def ioreport(self) -> Found:
        """Apple's counters; an Intel Mac has none of Apple's chips (case H04)."""
        if not (self.machine.cpu.name or "").startswith("Apple"):
            return apple_meter.NOT_APPLE
        reader = self.sources.open_ioreport()
        return apple_meter.ioreport_meter(reader) if reader else apple_meter.NO_COUNTERS

    def powermetrics(self) -> Found:
        """Apple's tool, where it needs no password."""
        tool = self.sources.start_powermetrics()
        return apple_meter.PowermetricsMeter(tool) if tool else apple_meter.NO_POWERMETRICS

    def emi(self) -> Found:
        """Windows' counters of the processor's packages."""
        return emi_meter.emi_meter(self.sources.open_emi(), self.machine.cpu.sockets)

    def battery(self) -> Found:
        """The whole machine, while its battery alone feeds it."""
        on_mac = self.machine.os == "macOS"
        every_ns = EVERY_MAC_NS if on_mac else battery_meter.EVERY_NS
        return battery_meter.battery_meter(self.sources.discharge, every_ns)

    def model(self, note: str, *, has_battery: bool) -> Meter:
        """The processor by its load; reads nothing where it cannot be modelled, and says why."""
        model = model_for(self.machine, has_battery=has_battery)
        if not isinstance(model, str):
            return ModelledMeter(model, self.sources.cpu_times, note)
        kind, scope = MeterKind.AVERAGE, Scope.PACKAGE
        # the same reason may be among those of the places before
        detail = model if model in note else f"{model} {note}".strip()
        return NoMeter(MeterFacts(MODELLED_NAME, Source.MODELLED, kind, scope, detail))

    def _modelled(self, let_go: Callable[[], None]) -> Found:
        model = model_for(self.machine, has_battery=self.sources.has_battery())
        if isinstance(model, str):
            return model
        catalogue, cards = self.sources.catalogue(), []
        for card, sensor in pairs_for(self.cards, self._sensors()) or ():
            of_card = card_model(card, catalogue)
            if of_card is None:
                return NO_CARD_LIMIT
            if sensor.busy is None or sensor.busy() is None:
                return NO_CARD_LOAD
            cards.append(ModelledCard(of_card, sensor.busy))
        if not cards:
            return NO_CARD_LOAD
        times = self.sources.cpu_times
        return ModelledMeter(model, times, _CARD_WITHOUT_SENSOR, cards, let_go)

    def _hold_nvml(self, held: ExitStack) -> Callable[[], None]:
        let_go = (lambda: None) if self.nvml is None else self.nvml.hold()
        held.callback(let_go)
        return let_go

    def _sensors(self) -> list[CardSensor]:
        """What all cards of the machine tell; NVIDIA's by their own library."""
        nvidia = [] if self.nvml is None else list(self.nvml.sensors)
        others = [
            sensor
            for sensor in self._hwmon_sensors()
            if not any(same_address(n.pci_address, sensor.pci_address) for n in nvidia)
        ]
        return nvidia + others

    def _hwmon_sensors(self) -> list[CardSensor]:
        sensors = []
        for card in self.sources.hwmon_cards():
            name, integrated = self._told(card.pci_address)
            sensors.append(hwmon_sensor(card, name, integrated=integrated))
        return sensors

    def _told(self, pci_address: str) -> tuple[str, bool]:
        """The name of a card by its address, and whether it is integrated."""
        listed: tuple[UsedCard | Accelerator, ...] = (*self.cards, *self.machine.accelerators)
        for known in listed:
            if same_address(known.pci_address, pci_address):
                return known.name, known.integrated
        return "a card", False
