"""This machine, in words."""

from collections import Counter

from PySide6.QtWidgets import QWidget

from desktop.records.events import Devices, MachineKnown
from desktop.records.machine import Accelerator, Cpu, DeviceKind, Machine
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.components import Card, Facts, Muted
from desktop.ui.design import Space


class MachineCard(Card):
    """The kind of machine as the title, the facts below it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setAccessibleName(self.tr("This machine"))
        self.body.setSpacing(Space.S)
        self._known = False
        self.body.insertWidget(0, Muted(self.tr("This machine")))
        self.title.setText(self.tr("Looking at the hardware …"))
        self._labels = (
            self.tr("Processor"),
            self.tr("Cores"),
            self.tr("Memory"),
            self.tr("Cards"),
            self.tr("System"),
            self.tr("Engine"),
            self.tr("Power"),
        )
        self.facts = Facts(*self._labels)
        self.body.addWidget(self.facts)

    def show_machine(self, event: MachineKnown) -> None:
        """Show what detection found."""
        machine = event.machine
        self._known = True
        self.title.setText(event.kind)
        values = (
            machine.cpu.name,
            self._cores(machine.cpu),
            fmt.or_dash(machine.ram_bytes, fmt.memory),
            self._cards(machine),
            self._system(machine),
            None if event.engine_awaited else self._engine(event.engine),
            messages.meter(event.meter),
        )
        for label, value in zip(self._labels, values, strict=True):
            self.facts.show_value(label, value)

    def show_failure(self) -> None:
        """Detection failed; the banner says why. What is known already stays."""
        if not self._known:
            self.title.setText(self.tr("The hardware could not be read"))

    def _cores(self, cpu: Cpu) -> str | None:
        if cpu.physical_cores is None:
            return None
        if cpu.logical_cores in {None, cpu.physical_cores}:
            return str(cpu.physical_cores)
        words = self.tr("{cores}, {threads} threads")
        return words.format(cores=cpu.physical_cores, threads=cpu.logical_cores)

    def _cards(self, machine: Machine) -> str:
        counts = Counter(_card(card) for card in machine.accelerators)
        lines = [f"{n}× {card}" if n > 1 else card for card, n in counts.items()]  # noqa: RUF001 - a times sign
        if machine.cards_unknown:
            lines.append(self.tr("others unknown") if lines else self.tr("unknown"))
        return "\n".join(lines) or self.tr("none found")

    def _engine(self, engine: Devices | None) -> str:
        """The engine and what it runs on; software devices are named as such."""
        if engine is None:
            return self.tr("could not be loaded")
        software = self.tr("{name} (software)")
        used = [
            software.format(name=device.backend)
            if device.kind is DeviceKind.SOFTWARE
            else device.backend
            for device in engine.devices
        ]
        return f"{engine.engine} {engine.version}, {', '.join(dict.fromkeys(used))}"

    def _system(self, machine: Machine) -> str:
        words = f"{machine.os} {machine.os_version}, {machine.architecture}"
        if machine.virtual:
            words += self.tr(", virtual ({kind})").format(kind=machine.virtual)
        return words


def _card(card: Accelerator) -> str:
    if card.memory_bytes is None:
        return card.name
    return f"{card.name}, {fmt.memory(card.memory_bytes)}"
