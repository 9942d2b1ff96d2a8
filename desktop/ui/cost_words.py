"""Price and carbon in words: the figure, then what it is derived from."""

from typing import Final

from PySide6.QtCore import QCoreApplication

from desktop.errors import Reason
from desktop.records.cost import Carbon, Costs, GridBasis, HourlyRate, RateBasis
from desktop.records.energy import MeterFacts
from desktop.rules.price import DEAREST, left_out
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.messages import QT_TRANSLATE_NOOP

_RATES: Final = {
    RateBasis.RENTED: QT_TRANSLATE_NOOP("Costs", "what is paid for this machine"),
    RateBasis.OWNED: QT_TRANSLATE_NOOP("Costs", "its owner's figures"),
    RateBasis.RATE_CARD_DEFAULT: QT_TRANSLATE_NOOP("Costs", "default rate card"),
}
_BASES: Final = {
    GridBasis.COUNTRY: QT_TRANSLATE_NOOP("Costs", "{year} average of {grid}"),
    GridBasis.US_STATE: QT_TRANSLATE_NOOP("Costs", "{year} average of {grid}"),
    GridBasis.EU_AVERAGE: QT_TRANSLATE_NOOP("Costs", "{year} average of the EU, for {place}"),
    GridBasis.WORLD: QT_TRANSLATE_NOOP("Costs", "{year} world average"),
}


def price(costs: Costs) -> str:
    """`$0.12 per million tokens`, and whose hourly rate; else what is missing."""
    if costs.price is None:
        return _missing(costs.price_missing)
    words = _tr("${figure} per million generated tokens; derived from {rate}")
    rate = costs.price.rate
    said = words.format(figure=fmt.number(costs.price.usd_per_mtok), rate=_rate(rate))
    beside = DEAREST if rate.card is not None and rate.card.dearest else left_out(rate)
    return said if beside is None else f"{said}. {_tr(beside)}"


def carbon(costs: Costs) -> str:
    """`740 g CO2e per million tokens`, and by which grid; else what is missing."""
    found = costs.carbon
    if found is None:
        return _missing(costs.carbon_missing)
    words = _tr(
        "{figure} CO2e per million generated tokens; derived from {energy} and the {grid} "
        "({source}). The building's overhead and own solar power are not counted."
    )
    return words.format(
        figure=fmt.with_unit(found.co2e_g, "g"),
        energy=_energy(costs.meter),
        grid=_grid(found),
        source=found.source,
    )


def _rate(rate: HourlyRate) -> str:
    words = _tr("${figure} an hour ({basis})")
    return words.format(figure=fmt.number(rate.usd_h), basis=_tr(_RATES[rate.basis]))


def _grid(found: Carbon) -> str:
    return _tr(_BASES[found.basis]).format(year=found.year, grid=found.grid, place=found.place)


def _energy(meter: MeterFacts | None) -> str:
    if meter is None:
        return _tr("energy")
    return _tr("energy, {meter},").format(meter=messages.meter(meter))


def _missing(reason: Reason | None) -> str:
    if reason is None:
        return fmt.DASH
    return f"{fmt.DASH} {messages.sentence(reason)} {messages.advice(reason)}".strip()


def _tr(text: str) -> str:
    return QCoreApplication.translate("Costs", text)
