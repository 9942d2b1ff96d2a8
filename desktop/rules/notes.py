"""What a run, or a machine's parts, say of themselves: why to read their figures with care."""

from collections.abc import Mapping
from typing import Final

from desktop.records.energy import Source
from desktop.records.machine import CARD_KINDS, Conditions, DeviceKind, PowerSupply
from desktop.records.parts import Parts
from desktop.records.run import Note, Run
from desktop.rules.marks import marks_of
from desktop.rules.parts_rates import rates_of

OTHER_LOAD_PERCENT = 5.0
"""Above this share of all cores, other programs are said to have run beside the measurement."""

WORDS: Final[Mapping[Note, str]] = {
    Note.SPREAD: "The repetitions differ by more than wanted; a busy or hot machine does that.",
    Note.FEW: "Fewer than six repetitions: too few to say how far they may be off.",
    Note.CACHED: "So little was read that caches may have held it: this is no rate of memory.",
    Note.ON_BATTERY: "Measured on battery, where many machines are slower.",
    Note.OTHER_LOAD: "Other programs were busy meanwhile, so the machine looks slower than it is.",
    Note.SYNTHETIC: "A synthetic build: random weights of the same shapes. Its speed compares, its "
    "text means nothing.",
    Note.CPU_INSTEAD: "This machine has a card, but the engine used the processor only.",
    Note.SOFTWARE_DEVICE: "The device is software: it draws on the processor and is no card.",
    Note.MODELLED_ENERGY: "Energy is modelled, not measured: no power sensor could be read.",
    Note.CARDS_UNKNOWN: "The search for this machine's cards gave no answer: it may have some that "
    "are not named here.",
}
"""In English, as errors are; the window translates them."""
RUN_WORDS: Final[Mapping[Note, str]] = {
    **WORDS,
    Note.OTHER_LOAD: "Other programs took {percent} % of the processors meanwhile: the machine "
    "looks slower than it is, and energy, carbon and price a token look higher.",
}
"""The same of a run, as templates: `{percent}` is `other_percent` of it."""
PARTS_WORDS: Final[Mapping[Note, str]] = {
    **WORDS,
    Note.OTHER_LOAD: "Other programs were busy meanwhile: the figures may be far below what the "
    "machine does, those of several threads most of all.",
    Note.SOFTWARE_DEVICE: "A device is software: it draws on the processor and is no card.",
}
"""The same of a machine's parts."""


def other_percent(run: Run) -> int:
    """The share of all cores that other programs took beside a run; 0 where nothing told it."""
    return round(run.after.other_load_percent or 0.0)


def notes_of(run: Run) -> tuple[Note, ...]:
    """The notes that apply, in the order of the enumeration."""
    marked = {mark for r in run.rates for mark in marks_of(r.spread, run.plan.target_spread)}
    found = {
        **dict.fromkeys(marked, True),
        Note.SYNTHETIC: run.build.synthetic,
        Note.CPU_INSTEAD: _cpu_instead(run),
        Note.SOFTWARE_DEVICE: _on_software(run),
        Note.MODELLED_ENERGY: any(e.meter.source is Source.MODELLED for _, e in run.energy),
        Note.CARDS_UNKNOWN: run.machine.cards_unknown,
        **_around(run.before, run.after),
    }
    return tuple(note for note in Note if found.get(note))


def notes_of_parts(parts: Parts) -> tuple[Note, ...]:
    """The notes that apply to a machine's parts, in the order of the enumeration.

    They follow from what is signed, and so are not signed themselves.
    """
    marked = {mark for rate in rates_of(parts) for mark in rate.marks}
    measured = {part.device for part in parts.parts}
    kinds = {device.kind for device in parts.devices if device.name in measured}
    found = {
        **dict.fromkeys(marked, True),
        Note.SOFTWARE_DEVICE: DeviceKind.SOFTWARE in kinds,
        Note.CARDS_UNKNOWN: parts.machine.cards_unknown,
        **_around(parts.before, parts.after),
    }
    return tuple(note for note in Note if found.get(note))


def notes_around(before: Conditions, after: Conditions) -> tuple[Note, ...]:
    """The notes that follow from the machine's state alone, in the order of the enumeration."""
    found = _around(before, after)
    return tuple(note for note in Note if found.get(note))


def _around(before: Conditions, after: Conditions) -> dict[Note, bool]:
    """What the machine was like meanwhile."""
    return {
        Note.ON_BATTERY: PowerSupply.BATTERY in {before.power_supply, after.power_supply},
        Note.OTHER_LOAD: (after.other_load_percent or 0.0) > OTHER_LOAD_PERCENT,
    }


def _cpu_instead(run: Run) -> bool:
    """Layers were asked onto a card that this machine has, and none held them."""
    wanted = run.engine.gpu_layers != 0 and bool(run.machine.accelerators)
    return wanted and run.engine.backend == "CPU"


def _on_software(run: Run) -> bool:
    kinds = {d.kind for d in run.engine.devices}
    return run.engine.backend != "CPU" and DeviceKind.SOFTWARE in kinds and not kinds & CARD_KINDS
