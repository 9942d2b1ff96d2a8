"""`gram machine`: what was found, for people."""

from desktop.cli import figures
from desktop.cli.figures import DASH
from desktop.cli.tables import print_facts
from desktop.records.machine import (
    Accelerator,
    Conditions,
    Cpu,
    Device,
    Machine,
    MemoryModules,
    Thermal,
)
from desktop.rules.machine_line import machine_line
from desktop.rules.memory_answers import OF_ALL, answers_in_words
from desktop.services.facts import MachineFacts

Pair = tuple[str, str]
_UNKNOWN = "unknown: the search gave no answer"


def machine(facts: MachineFacts) -> None:
    """Print it."""
    here = facts.machine
    print_facts(
        ("This machine", machine_line(here)),
        ("Kind of machine", facts.kind),
        ("System", f"{here.os} {here.os_version} ({here.architecture})"),
        ("Virtual", _virtual(here)),
        *_processor(here.cpu),
        ("Memory", f"{figures.memory(here.ram_bytes)}{_modules(here.modules)}"),
        *_cards(here, asked=facts.engine is not None),
        *_answers(here),
        *_state(facts.conditions),
        ("Power is read from", figures.meter(facts.meter)),
        ("", facts.meter.detail),
        *_engine(facts),
        *(("Not told", reason.text()) for reason in facts.given_up),
    )


def _processor(cpu: Cpu) -> tuple[Pair, ...]:
    cores = f"{cpu.physical_cores or DASH} physical, {cpu.logical_cores or DASH} logical"
    if cpu.sockets is not None and cpu.sockets > 1:
        cores += f", {cpu.sockets} sockets"
    if cpu.usable_cpus is not None and cpu.usable_cpus != cpu.logical_cores:
        cores += f"; {cpu.usable_cpus} may be used"
    sets = ", ".join(cpu.instruction_sets) or DASH
    return ("Processor", cpu.name or DASH), ("Cores", cores), ("Instruction sets", sets)


def _modules(modules: MemoryModules | None) -> str:
    if modules is None:
        return ""
    told = (
        None if modules.modules is None else f"{modules.modules} modules",
        modules.kind,
        None if modules.speed_mt_s is None else f"{modules.speed_mt_s} MT/s",
        None if modules.channels is None else f"{modules.channels} channels",
    )
    words = " ".join(part for part in told if part)
    return f", {words}" if words else ""


def _virtual(here: Machine) -> str:
    return here.virtual or (_UNKNOWN if here.may_be_virtual else "no sign of it")


def _cards(here: Machine, *, asked: bool) -> list[Pair]:
    found = [("Card", _card(card, asked=asked)) for card in here.accelerators]
    if here.cards_unknown:
        return [*found, ("Other cards" if found else "Cards", _UNKNOWN)]
    return found or [("Cards", "none")]


def _card(card: Accelerator, *, asked: bool) -> str:
    where = "integrated" if card.integrated else "external" if card.external else "discrete"
    told = (
        card.name if card.gpu_cores is None else f"{card.name} ({card.gpu_cores} GPU cores)",
        where,
        f"{figures.memory(card.memory_bytes)} usable",
        _parts(card),
        f"driver {card.driver}" if card.driver else None,
        _listed(card, asked=asked),
        card.pci_address,
    )
    return ", ".join(part for part in told if part)


def _listed(card: Accelerator, *, asked: bool) -> str | None:
    if card.backends:
        return f"engine: {', '.join(card.backends)}"
    return "the engine does not list it" if asked else None


def _parts(card: Accelerator) -> str | None:
    """What is its own and what it shares, where both are told."""
    if card.shared_bytes is None:
        return None
    own = f"{figures.memory(card.dedicated_bytes)} its own, " if card.dedicated_bytes else ""
    return f"{own}at most {figures.memory(card.shared_bytes)} shared"


def _answers(here: Machine) -> tuple[Pair, ...]:
    answers = answers_in_words(here)
    told = "; ".join(f"{label}: {figures.memory(size)}" for label, size in answers)
    return ("A build may use", told), ("", OF_ALL)


def _state(now: Conditions) -> tuple[Pair, ...]:
    return (
        ("Power supply", _supply(now)),
        ("Power plan", now.governor or DASH),
        ("Heat", _heat(now)),
        ("Display", _display(now)),
    )


def _supply(now: Conditions) -> str:
    supply = str(now.power_supply) if now.power_supply is not None else DASH
    charge = "" if now.battery_percent is None else f", battery at {now.battery_percent:.0f} %"
    return f"{supply}{charge}"


def _heat(now: Conditions) -> str:
    told = []
    if now.thermal is not None:
        slowed = now.thermal is Thermal.THROTTLED
        told.append("slowed by heat" if slowed else "not slowed by heat")
    if now.temperature_c is not None:
        told.append(f"processor at {now.temperature_c:.0f} °C")
    return ", ".join(told) or DASH


def _display(now: Conditions) -> str:
    if now.display_attached is None:
        return DASH
    return "attached" if now.display_attached else "none attached"


def _engine(facts: MachineFacts) -> list[Pair]:
    if facts.engine is None:
        return [("Engine", "could not be loaded; `gram doctor` says why")]
    lines = [("Engine", f"{facts.engine.engine} {facts.engine.version}")]
    return lines + [("Engine's device", _device(d)) for d in facts.engine.devices]


def _device(device: Device) -> str:
    memory = figures.memory(device.memory_bytes)
    return f"{device.name}: {device.description}, {device.kind}, {memory}"
