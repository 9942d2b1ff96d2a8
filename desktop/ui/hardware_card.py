"""All that detection found of the machine, and what a build may use of its memory."""

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from desktop.records.events import MachineKnown
from desktop.records.machine import Conditions, Cpu, Machine, MemoryModules, PowerSupply, Thermal
from desktop.rules.memory_answers import (
    IN_MEMORY,
    OF_ALL,
    ON_CARD,
    WITH_OFFLOAD,
    answers_in_words,
)
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.components import Card, Facts, Muted
from desktop.ui.power_words import formulas


class HardwareCard(Card):
    """Processor, memory, system, state, in rows of label and value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Hardware"), parent)
        self._labels = (
            self.tr("Processor"),
            self.tr("Cores"),
            self.tr("Instruction sets"),
            self.tr("Memory"),
            self.tr("System"),
            self.tr("Power supply"),
            self.tr("Power plan"),
            self.tr("Heat"),
            self.tr("Display"),
            self.tr("Power is read from"),
        )
        self.facts = Facts(*self._labels)
        self.body.addWidget(self.facts)
        self.modelled = Muted()
        self.given_up = Muted()
        for words in (self.modelled, self.given_up):
            words.hide()
            self.body.addWidget(words)

    def show_machine(self, event: MachineKnown) -> None:
        """Show what detection found."""
        machine, state = event.machine, event.conditions
        values = (
            machine.cpu.name,
            self._cores(machine.cpu),
            ", ".join(machine.cpu.instruction_sets) or None,
            self._memory(machine),
            self._system(machine),
            self._supply(state) if state else None,
            state.governor if state else None,
            self._heat(state) if state else None,
            self._display(state) if state else None,
            messages.meter(event.meter),
        )
        for label, value in zip(self._labels, values, strict=True):
            self.facts.show_value(label, value)
        self.modelled.setText("\n".join(formulas(event.meter)))
        self.modelled.setVisible(bool(event.meter.formulas))
        self.given_up.setText("\n".join(map(messages.given_up, event.given_up)))
        self.given_up.setVisible(bool(event.given_up))

    def _cores(self, cpu: Cpu) -> str | None:
        if cpu.physical_cores is None:
            return None
        words = self.tr("{cores} physical, {threads} logical")
        said = words.format(cores=cpu.physical_cores, threads=fmt.or_dash(cpu.logical_cores, str))
        if cpu.sockets is not None and cpu.sockets > 1:
            said += self.tr(", {count} sockets").format(count=cpu.sockets)
        if cpu.usable_cpus is not None and cpu.usable_cpus != cpu.logical_cores:
            said += self.tr("; {count} may be used").format(count=cpu.usable_cpus)
        return said

    def _memory(self, machine: Machine) -> str | None:
        if machine.ram_bytes is None:
            return None
        modules = _modules(machine.modules) if machine.modules else ""
        return f"{fmt.memory(machine.ram_bytes)}{modules}"

    def _system(self, machine: Machine) -> str:
        words = f"{machine.os} {machine.os_version}, {machine.architecture}"
        if machine.virtual:
            words += self.tr(", virtual ({kind})").format(kind=machine.virtual)
        return words

    def _supply(self, state: Conditions) -> str | None:
        if state.power_supply is None:
            return None
        mains = state.power_supply is PowerSupply.MAINS
        said = self.tr("mains") if mains else self.tr("battery")
        if state.battery_percent is not None:
            said += self.tr(", battery at {percent} %").format(percent=round(state.battery_percent))
        return said

    def _heat(self, state: Conditions) -> str | None:
        parts = []
        if state.thermal is not None:
            slowed = state.thermal is Thermal.THROTTLED
            parts.append(self.tr("slowed by heat") if slowed else self.tr("not slowed by heat"))
        if state.temperature_c is not None:
            parts.append(
                self.tr("processor at {degrees} °C").format(degrees=round(state.temperature_c))
            )
        return ", ".join(parts) or None

    def _display(self, state: Conditions) -> str | None:
        if state.display_attached is None:
            return None
        return self.tr("attached") if state.display_attached else self.tr("none attached")


class MemoryCard(Card):
    """What a build may use: on the card, and with the system's memory."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("What a build may use"), parent)
        self.facts = Facts(self.tr(ON_CARD), self.tr(WITH_OFFLOAD))
        self.offload = Muted(
            self.tr(
                "With offload: part of the build in the system's memory. What card and system "
                "share is counted once."
            )
        )
        self.alone = Facts(self.tr(IN_MEMORY))
        self.alone.hide()
        for part in (self.facts, self.alone, Muted(self.tr(OF_ALL)), self.offload):
            self.body.addWidget(part)
        self.body.addStretch(1)

    def show_machine(self, machine: Machine) -> None:
        """Show both answers; the one that there is, where no card would be used."""
        answers = answers_in_words(machine)
        alone = len(answers) == 1
        self.alone.setVisible(alone)
        self.facts.setHidden(alone)
        self.offload.setHidden(alone)
        facts = self.alone if alone else self.facts
        for label, size in answers:
            facts.show_value(self.tr(label), None if size is None else fmt.memory(size))


def _modules(modules: MemoryModules) -> str:
    speed = None if modules.speed_mt_s is None else f"{modules.speed_mt_s} MT/s"
    count = None if modules.modules is None else f"{modules.modules} ×"  # noqa: RUF001 - a times sign
    told = [part for part in (count, modules.kind, speed, _channels(modules.channels)) if part]
    return f", {' '.join(told)}" if told else ""


def _channels(count: int | None) -> str | None:
    if count is None:
        return None
    return QCoreApplication.translate("HardwareCard", "{count} channels").format(count=count)
