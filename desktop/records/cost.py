"""Carbon and price: derived when shown, never measured and never signed."""

from dataclasses import dataclass
from enum import StrEnum

from desktop.errors import Reason
from desktop.records.energy import MeterFacts


@dataclass(frozen=True, slots=True)
class Place:
    """Where a machine stands, no closer than a country; in the United States its state."""

    country: str
    """ISO 3166-1 alpha-2, `NL`."""
    us_state: str | None = None
    """Postal code, `CA`; only with `US`."""

    def __str__(self) -> str:
        return f"{self.country}-{self.us_state}" if self.us_state else self.country


class GridBasis(StrEnum):
    """Whose average a carbon figure was made with."""

    COUNTRY = "country"
    US_STATE = "us_state"
    EU_AVERAGE = "eu_average"
    """The country is a member of the European Union and has no row of its own."""
    WORLD = "world"
    """There is no place, or its country has no row."""


@dataclass(frozen=True, slots=True)
class Carbon:
    """Energy x the yearly average of a grid."""

    co2e_g: float
    intensity_g_kwh: float
    year: int
    """Of the grid's average."""
    grid: str
    """The name of the place whose average it is: `Netherlands`, `World`."""
    basis: GridBasis
    source: str
    """Who publishes the average, and its licence."""
    place: Place | None
    """What was asked for."""


class RateBasis(StrEnum):
    """How a machine's hourly rate came about."""

    RENTED = "rented"
    """What is paid for it."""
    OWNED = "owned"
    """By its owner's figures."""
    RATE_CARD_DEFAULT = "rate_card_default"
    """By the catalogue's price: its owner has not said what the machine cost."""


@dataclass(frozen=True, slots=True)
class RateCard:
    """The parts of an owned machine's hour."""

    hardware_price_usd: float
    price_of: str
    """Whose price: the catalogue's names of the cards; empty where the owner gave it."""
    hardware_usd_h: float
    """The price over three years at half use."""
    watts_w: float
    watts_from: str
    """`sensor (NVML)`, `modelled (CPU load)`, `catalogue`."""
    tariff_usd_kwh: float
    electricity_usd_h: float
    dearest: bool = False
    """The price is that of the dearest computer with the chip: most cost less an hour."""


@dataclass(frozen=True, slots=True)
class HourlyRate:
    """What an hour of a machine's work costs."""

    usd_h: float
    basis: RateBasis
    card: RateCard | None = None
    """None where the whole rate is given."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost."""

    usd_per_mtok: float
    rate: HourlyRate


@dataclass(frozen=True, slots=True)
class Costs:
    """What a million generated tokens of a run cost; where something is missing, which thing."""

    price: Price | None
    price_missing: Reason | None
    carbon: Carbon | None
    """Of a million generated tokens."""
    carbon_missing: Reason | None
    meter: MeterFacts | None
    """What the run's energy was read from."""
