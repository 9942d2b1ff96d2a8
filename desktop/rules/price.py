"""Price: what an hour of a machine costs, and with its speed what a million tokens cost.

Rented: what is paid. Owned: a rate card, hardware over three years at half use + electricity. There
is no default tariff: where an input is unknown there is no price, and the reason says which input.
See docs/adr/0011-carbon-and-price.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from desktop.errors import GramError, Reason
from desktop.records.cost import HourlyRate, RateBasis, RateCard
from desktop.records.machine import Accelerator, Machine
from desktop.rules.catalogue import CatalogueDevice, find_device
from desktop.rules.kind import counted_cards

HOURS_OF_USE: Final = 3 * 365 * 24 / 2
"""Three years at half use."""
DEAREST: Final = (
    "The catalogue's price is that of the dearest computer with this chip (all cores, most "
    "memory): a smaller one costs less. Say yours: `gram settings hardware_price_usd 1600`."
)
"""Said beside a price that follows from one of a chip that is sold in computers only."""
RENT_ALONE: Final = (
    "The rent is all that is counted: electricity and the price of the hardware are not used."
)
WHOLE_ALONE: Final = (
    "It is taken as the whole rate: electricity, where it is not in it, is not added."
)
_S_PER_H: Final = 3600
_MTOK: Final = 1e6


@dataclass(frozen=True, slots=True)
class HardwarePrice:
    """What a machine cost: its owner's figure, or the catalogue's for its cards."""

    usd: float
    of: str = ""
    """Whose price; empty where the owner gave it."""
    dearest: bool = False
    """It is that of the dearest computer with a chip that is sold in computers only."""


@dataclass(frozen=True, slots=True)
class Draw:
    """What a machine draws while it works."""

    watts_w: float
    told_by: str
    """`sensor (NVML)`, `modelled (CPU load)`, `catalogue`."""


def rented_rate(paid_usd_h: float | None) -> HourlyRate | Reason:
    """What is paid; a reason where that is not known."""
    if paid_usd_h is None:
        return Reason("price_rent_missing")
    return HourlyRate(paid_usd_h, RateBasis.RENTED)


def whole_rate(usd_h: float) -> HourlyRate:
    """What an owner says that an hour costs, without parts."""
    return HourlyRate(usd_h, RateBasis.OWNED)


def rate_card(
    price: HardwarePrice | Reason, draw: Draw | None, tariff_usd_kwh: float | None
) -> HourlyRate | Reason:
    """An owned machine's hour: price ÷ 13,140 h + watts x tariff; a reason where one is missing."""
    if isinstance(price, Reason):
        return price
    if tariff_usd_kwh is None:
        return Reason("price_tariff_missing")
    if draw is None:
        return Reason("price_watts_missing")
    hardware_usd_h = price.usd / HOURS_OF_USE
    electricity_usd_h = draw.watts_w / 1000 * tariff_usd_kwh
    card = RateCard(
        hardware_price_usd=price.usd,
        price_of=price.of,
        hardware_usd_h=hardware_usd_h,
        watts_w=draw.watts_w,
        watts_from=draw.told_by,
        tariff_usd_kwh=tariff_usd_kwh,
        electricity_usd_h=electricity_usd_h,
        dearest=price.dearest,
    )
    basis = RateBasis.RATE_CARD_DEFAULT if price.of else RateBasis.OWNED
    return HourlyRate(hardware_usd_h + electricity_usd_h, basis, card)


def left_out(rate: HourlyRate) -> str | None:
    """What a price by this rate leaves out of the settings, in English; None of a rate card."""
    if rate.basis is RateBasis.RENTED:
        return RENT_ALONE
    return WHOLE_ALONE if rate.basis is RateBasis.OWNED and rate.card is None else None


def price_usd_per_mtok(rate: HourlyRate, tok_s: float) -> float | None:
    """Dollars per million tokens at `tok_s` tokens a second; None where that is no number.

    Raises:
        GramError: `bad_number` when the rate of tokens is not positive and finite.
    """
    if not (math.isfinite(tok_s) and tok_s > 0):
        raise GramError("bad_number", name="tokens a second", low=0, high="∞", found=str(tok_s))
    usd = rate.usd_h * _MTOK / (tok_s * _S_PER_H)
    return usd + 0.0 if math.isfinite(usd) else None  # -0 is 0


def catalogue_price(machine: Machine, devices: Sequence[CatalogueDevice]) -> HardwarePrice | Reason:
    """The catalogue's price of all cards together; a reason that names the one it has none for.

    A machine without a card has no price in the catalogue: processors are sold in computers. Nor
    has one whose cards may not all be known.
    """
    if machine.cards_unknown:
        return Reason("price_cards_unknown")
    cards = counted_cards(machine.accelerators)
    if not cards:
        return Reason("price_hardware_missing", {"name": machine.cpu.name or "this processor"})
    found = [(card.name, _listed(card, devices)) for card in cards]
    prices = []
    for name, listed in found:
        if listed is None or listed.price_usd is None:
            return Reason("price_hardware_missing", {"name": name})
        prices.append(listed.price_usd)
    names = ", ".join(name for name, _ in found)
    # an integrated unit is sold with the computer around it, and the catalogue prices the largest
    return HardwarePrice(sum(prices), names, dearest=any(card.integrated for card in cards))


def catalogue_draw(machine: Machine, devices: Sequence[CatalogueDevice]) -> Draw | None:
    """The most that all cards may draw; None when one is not known, or there is none."""
    if machine.cards_unknown:
        return None
    found = [_listed(card, devices) for card in counted_cards(machine.accelerators)]
    known = [d.power_w for d in found if d is not None and d.power_w is not None]
    return Draw(sum(known), "catalogue") if known and len(known) == len(found) else None


def _listed(card: Accelerator, devices: Sequence[CatalogueDevice]) -> CatalogueDevice | None:
    return find_device(
        card.name, devices, card.memory_bytes, vendor=card.vendor, gpu_cores=card.gpu_cores
    )
