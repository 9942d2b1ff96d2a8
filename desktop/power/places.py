"""The places where a machine's power may be read: each gives a meter, or the reason why not."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeAlias

from desktop.power import apple_meter, battery_meter, emi_meter, rapl_meter
from desktop.power.cards import CardSensor, card_meter
from desktop.power.hwmon_meter import hwmon_sensor
from desktop.power.meter import Meter
from desktop.power.modelled import NAME as MODELLED_NAME
from desktop.power.modelled import ModelledCard, ModelledMeter, NoMeter
from desktop.power.nvml_meter import nvml_sensor
from desktop.power.power_model import card_model, model_for
from desktop.power.sources import PowerSources
from desktop.power.used import UsedCard, pairs_for, same_address
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import Accelerator, Machine

EVERY_MAC_NS = 5_000_000_000
"""Between looks at a Mac's battery: each is a process, and the gauge is renewed more rarely."""
NO_CARD_SENSOR = "No sensor of the card can be read: its power is not counted."
NO_CARD_LOAD = "The card does not tell how busy it is, so its share cannot be modelled."
NO_CARD_LIMIT = "The catalogue knows no power limit of the card, so its share cannot be modelled."
NO_APU = "No package power of an APU is shown."
NO_CORES = "The number of cores is not known, so nothing can be modelled."
_CARD_WITHOUT_SENSOR = "No sensor of the card can be read."

Found: TypeAlias = Meter | str
"""A meter that reads, or why there is none; English."""


@dataclass(frozen=True, slots=True)
class Places:
    """The places of one machine, for a run on these cards (none: on the processor)."""

    machine: Machine
    cards: Sequence[UsedCard]
    sources: PowerSources

    def card_sensors(self) -> Found:
        """The energy counters of all cards of the run, else their power."""
        opened = ExitStack()
        pairs = pairs_for(self.cards, self._sensors(opened))
        meter = card_meter([sensor for _, sensor in pairs], opened.close) if pairs else None
        if meter is None:
            opened.close()
        return meter or NO_CARD_SENSOR

    def modelled_cards(self) -> Found:
        """The processor and every card of the run by their loads, where all of them tell it."""
        opened = ExitStack()
        found = self._modelled(opened)
        if isinstance(found, str):
            opened.close()
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
        return emi_meter.emi_meter(self.sources.open_emi())

    def battery(self) -> Found:
        """The whole machine, while its battery alone feeds it."""
        on_mac = self.machine.os == "macOS"
        every_ns = EVERY_MAC_NS if on_mac else battery_meter.EVERY_NS
        return battery_meter.battery_meter(self.sources.discharge, every_ns)

    def model(self, note: str) -> Meter:
        """The processor by its load; reads nothing where its cores are not known."""
        model = model_for(self.machine, has_battery=self.sources.has_battery())
        if model is not None:
            return ModelledMeter(model, self.sources.cpu_times, note)
        kind, scope = MeterKind.AVERAGE, Scope.PACKAGE
        detail = f"{NO_CORES} {note}".strip()
        return NoMeter(MeterFacts(MODELLED_NAME, Source.MODELLED, kind, scope, detail))

    def _modelled(self, opened: ExitStack) -> Found:
        model = model_for(self.machine, has_battery=self.sources.has_battery())
        if model is None:
            return NO_CORES
        catalogue, cards = self.sources.catalogue(), []
        for card, sensor in pairs_for(self.cards, self._sensors(opened)) or ():
            of_card = card_model(card, catalogue)
            if of_card is None:
                return NO_CARD_LIMIT
            if sensor.busy is None or sensor.busy() is None:
                return NO_CARD_LOAD
            cards.append(ModelledCard(of_card, sensor.busy))
        if not cards:
            return NO_CARD_LOAD
        times = self.sources.cpu_times
        return ModelledMeter(model, times, _CARD_WITHOUT_SENSOR, cards, opened.close)

    def _sensors(self, opened: ExitStack) -> list[CardSensor]:
        """What all cards of the machine tell; NVIDIA's by their own library."""
        nvml = self.sources.open_nvml()
        nvidia: list[CardSensor] = []
        if nvml is not None:
            opened.callback(nvml.close)
            nvidia = [nvml_sensor(nvml, card) for card in nvml.cards()]
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
