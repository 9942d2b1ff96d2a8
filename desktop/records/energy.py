"""Power and energy, each with the name of its source."""

from dataclasses import dataclass
from enum import StrEnum

from desktop.errors import Reason


class Source(StrEnum):
    """Where a watt comes from. The two are never mixed up."""

    SENSOR = "sensor"
    MODELLED = "modelled"


class MeterKind(StrEnum):
    """What one reading means."""

    COUNTER = "counter"
    INSTANTANEOUS = "instantaneous"
    AVERAGE = "average"


class Scope(StrEnum):
    """What the watts feed."""

    BOARD = "board"
    PACKAGE = "package"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class MeterFacts:
    """What a meter says of itself."""

    name: str
    source: Source
    kind: MeterKind
    scope: Scope
    detail: str = ""
    """How a modelled value is made, or why a better meter was not used; English."""
    formulas: tuple[Reason, ...] = ()
    """How modelled watts are made, with the table's numbers: the machine's, then each card's. Never
    signed; none of a sensor."""


@dataclass(frozen=True, slots=True)
class PowerSample:
    """One reading."""

    at_ns: int
    watts_w: float


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy of a window of time."""

    energy_j: float
    covered: float
    """Share of the window that lies between samples, 0 to 1."""
    idle_w: float | None
    """The baseline before the run."""
    meter: MeterFacts
