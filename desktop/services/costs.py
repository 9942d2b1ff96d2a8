"""What a million generated tokens of a run cost, in dollars and in carbon.

Derived when shown, never signed: the same run costs something else elsewhere, or with other
settings.
"""

from collections.abc import Sequence
from functools import cache

from desktop import resources
from desktop.errors import Reason
from desktop.power.sources import read_shipped_catalogue
from desktop.records.cost import Carbon, Costs, HourlyRate, Place, Price
from desktop.records.run import Rate, Run
from desktop.rules.carbon import GRIDS, US_STATES, CarbonTables, carbon_g, read_tables
from desktop.rules.catalogue import CatalogueDevice
from desktop.rules.price import (
    Draw,
    HardwarePrice,
    catalogue_draw,
    catalogue_price,
    price_usd_per_mtok,
    rate_card,
    rented_rate,
    whole_rate,
)
from desktop.rules.rates import energy_per_token_j
from desktop.settings import Settings

_MTOK = 1_000_000
_GENERATION = "tg"


def costs_of(run: Run, settings: Settings) -> Costs:
    """Price and carbon of a million generated tokens; where one is not known, why.

    Raises:
        GramError: `resource_damaged`, a fault of packaging.
    """
    rate = next((r for r in run.rates if r.test.startswith(_GENERATION)), None)
    if rate is None:
        reason = Reason("no_generation")
        return Costs(None, reason, None, reason, None)
    price = _price(run, rate, settings)
    carbon = _carbon(run, rate.test, place_of(settings))
    energy = dict(run.energy).get(rate.test)
    return Costs(
        price=price if isinstance(price, Price) else None,
        price_missing=price if isinstance(price, Reason) else None,
        carbon=carbon,
        carbon_missing=None if carbon else Reason("no_energy"),
        meter=energy.meter if energy else None,
    )


def place_of(settings: Settings) -> Place | None:
    """The place that is set, `US-CA`."""
    if settings.place is None:
        return None
    country, _, state = settings.place.partition("-")
    return Place(country, state or None)


def hourly_rate(
    run: Run, test: str, settings: Settings, devices: Sequence[CatalogueDevice]
) -> HourlyRate | Reason:
    """The machine's rate: what is paid, what its owner set, else the rate card."""
    if settings.rented:
        return rented_rate(settings.hourly_rate_usd)
    if settings.hourly_rate_usd is not None:
        return whole_rate(settings.hourly_rate_usd)
    price: HardwarePrice | Reason
    if settings.hardware_price_usd is not None:
        price = HardwarePrice(settings.hardware_price_usd)
    else:
        price = catalogue_price(run.machine, devices)
    draw = _metered_draw(run, test) or catalogue_draw(run.machine, devices)
    return rate_card(price, draw, settings.tariff_usd_kwh)


@cache
def carbon_tables() -> CarbonTables:
    """The grids' averages that ship with Gram."""
    return read_tables(resources.text(GRIDS), resources.text(US_STATES))


def _price(run: Run, rate: Rate, settings: Settings) -> Price | Reason:
    hour = hourly_rate(run, rate.test, settings, read_shipped_catalogue())
    if isinstance(hour, Reason):
        return hour
    usd = price_usd_per_mtok(hour, rate.median_tok_s)
    return Price(usd, hour) if usd is not None else Reason("price_watts_missing")


def _carbon(run: Run, test: str, place: Place | None) -> Carbon | None:
    per_token_j = energy_per_token_j(run, test)
    energy_j = None if per_token_j is None else per_token_j * _MTOK
    return carbon_g(energy_j, place, carbon_tables())


def _metered_draw(run: Run, test: str) -> Draw | None:
    """The mean watts of the test's timed repetitions, as far as the meter covered them."""
    energy = dict(run.energy).get(test)
    timed = [r for r in run.repetitions if r.test == test and not r.warmup]
    seconds = sum(r.end_ns - r.start_ns for r in timed) / 1e9
    if energy is None or not (energy.energy_j > 0 and energy.covered > 0 and seconds > 0):
        return None
    told_by = f"{energy.meter.source} ({energy.meter.name})"
    return Draw(energy.energy_j / energy.covered / seconds, told_by)
