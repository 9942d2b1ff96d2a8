"""The notes of a run in words, for the terminal."""

from collections.abc import Mapping
from typing import Final

from desktop.records.run import Note

NOTES: Final[Mapping[Note, str]] = {
    Note.SPREAD: "The repetitions differ by more than wanted; a busy or hot machine does that.",
    Note.FEW: "Fewer than six repetitions: too few to say how far they may be off.",
    Note.ON_BATTERY: "Measured on battery, where many machines are slower.",
    Note.OTHER_LOAD: "Other programs were busy meanwhile, so the machine looks slower than it is.",
    Note.SYNTHETIC: "A synthetic build (random weights, same shapes): its speed compares.",
    Note.CPU_INSTEAD: "This machine has a card, but the engine used the processor only.",
    Note.SOFTWARE_DEVICE: "The device is software: it draws on the processor and is no card.",
    Note.MODELLED_ENERGY: "Energy is modelled, not measured: no power sensor could be read.",
}
