"""Price and carbon in the terminal: the figure first, then how it came about."""

from dataclasses import fields
from typing import Final

from desktop.cli import figures
from desktop.cli.figures import DASH
from desktop.cli.output import say_reason
from desktop.cli.plain import Plain, to_plain
from desktop.errors import Reason
from desktop.paths import Paths
from desktop.records.cost import Carbon, Costs, GridBasis, HourlyRate, RateBasis, RateCard
from desktop.records.energy import MeterFacts
from desktop.records.run import Run
from desktop.rules.carbon import NOT_COUNTED
from desktop.rules.price import DEAREST, left_out
from desktop.services.costs import costs_of
from desktop.settings import read_settings

_RATES: Final = {
    RateBasis.RENTED: "what is paid for this machine",
    RateBasis.OWNED: "by its owner's figures",
    RateBasis.RATE_CARD_DEFAULT: "default rate card",
}
_BASES: Final = {
    GridBasis.COUNTRY: "average of {grid}",
    GridBasis.US_STATE: "average of {grid}",
    GridBasis.EU_AVERAGE: "average of the EU, applied to {place}",
    GridBasis.WORLD: "world average, as {why}",
}


def lines(costs: Costs) -> tuple[tuple[str, str], ...]:
    """Two lines: label and text."""
    return (
        ("Price (generation)", _price(costs)),
        ("Carbon (generation)", _carbon(costs)),
    )


def plain(costs: Costs) -> Plain:
    """The same for programs; reasons as code, sentence and advice."""
    return {
        "price": to_plain(costs.price),
        "price_missing": to_plain(costs.price_missing),
        "price_not_counted": left_out(costs.price.rate) if costs.price else None,
        "carbon": _plain_carbon(costs.carbon),
        "carbon_missing": to_plain(costs.carbon_missing),
        "not_counted": NOT_COUNTED,
        "energy_from": to_plain(costs.meter),
    }


def costs_today(paths: Paths, run: Run) -> Costs:
    """What a run cost by the settings of now; what is wrong with them is said on stderr."""
    settings, told = read_settings(paths.settings)
    for reason in told:
        say_reason(reason)
    return costs_of(run, settings)


def _plain_carbon(carbon: Carbon | None) -> Plain:
    """With the amount that the grams are of in their key's name."""
    if carbon is None:
        return None
    said = {field.name: to_plain(getattr(carbon, field.name)) for field in fields(carbon)}
    return {"co2e_g_per_mtok": said.pop("co2e_g"), **said}


def _price(costs: Costs) -> str:
    if costs.price is None:
        return _dash(costs.price_missing)
    figure = f"${figures.number(costs.price.usd_per_mtok)} per million tokens"
    return f"{figure}; derived: {_rate(costs.price.rate)}"


def _rate(rate: HourlyRate) -> str:
    said = f"${figures.number(rate.usd_h)} an hour, {_RATES[rate.basis]}"
    if rate.card is not None:
        return f"{said}: {_card(rate.card)}"
    beside = left_out(rate)
    return said if beside is None else f"{said}. {beside}"


def _card(card: RateCard) -> str:
    dearest = f". {DEAREST}" if card.dearest else ""
    whose = f"catalogue price of {card.price_of}" if card.price_of else "its price"
    return (
        f"{whose}, ${card.hardware_price_usd:,.0f} over three years at half use, "
        f"${figures.number(card.hardware_usd_h)}; {figures.number(card.watts_w)} W, "
        f"{card.watts_from}, at ${card.tariff_usd_kwh:g}/kWh, "
        f"${figures.number(card.electricity_usd_h)}{dearest}"
    )


def _carbon(costs: Costs) -> str:
    carbon = costs.carbon
    if carbon is None:
        return _dash(costs.carbon_missing)
    energy = _energy(costs.meter)
    return (
        f"{figures.number(carbon.co2e_g)} g CO2e per million tokens; derived: {energy} at "
        f"{figures.number(carbon.intensity_g_kwh)} g/kWh, {carbon.year} {_basis(carbon)} "
        f"({carbon.source}). {NOT_COUNTED}"
    )


def _energy(meter: MeterFacts | None) -> str:
    return f"energy, {meter.source} ({meter.name})," if meter else "energy"


def _basis(carbon: Carbon) -> str:
    why = f"there is none of {carbon.place}" if carbon.place else "the place is not set"
    return _BASES[carbon.basis].format(grid=carbon.grid, place=carbon.place, why=why)


def _dash(missing: Reason | None) -> str:
    return f"{DASH} {missing.text()} {missing.advice()}".strip() if missing else DASH
