"""Where to start: the smallest device that runs a model, and the cheapest that is fast enough."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from desktop.estimate.page_row import PageRow
from desktop.estimate.ranking import price_and_id

RATES_TOK_S: Final = (10, 20, 40)


@dataclass(frozen=True, slots=True)
class Cheapest:
    """The cheapest device whose whole range clears a rate."""

    rate_tok_s: int
    row: PageRow | None
    """None where no device with a price does."""


@dataclass(frozen=True, slots=True)
class Start:
    """Both callouts."""

    smallest: PageRow | None
    """By usable memory; None where nothing runs the model."""
    cheapest: tuple[Cheapest, ...]


def start_of(rows: Sequence[PageRow], qualities: Collection[str] | None = None) -> Start:
    """From the devices with an estimate; only those with a price can be the cheapest.

    Ties are broken by memory, then price, then id.

    Args:
        rows: with the quantization that each device takes.
        qualities: a device counts where that is of one of these; None: of any.
    """
    rows = [r for r in rows if qualities is None or r.best.quant.quality in qualities]
    by_memory = sorted(rows, key=lambda r: (_usable(r), *price_and_id(r.configuration)))
    cheapest = tuple(Cheapest(rate, _cheapest(rows, rate)) for rate in RATES_TOK_S)
    return Start(by_memory[0] if by_memory else None, cheapest)


def _cheapest(rows: Sequence[PageRow], rate_tok_s: float) -> PageRow | None:
    """The low end decides."""
    fast = [r for r in rows if r.configuration.price_usd and r.speed.low_tok_s >= rate_tok_s]
    return min(fast, key=_price_order, default=None)


def _price_order(row: PageRow) -> tuple[float, int, str]:
    price, key = price_and_id(row.configuration)
    return price, _usable(row), key


def _usable(row: PageRow) -> int:
    return row.configuration.usable_bytes
