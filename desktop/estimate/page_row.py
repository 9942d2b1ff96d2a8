"""The rows of a model's page: devices with an estimate, and devices without one."""

from dataclasses import dataclass

from desktop.errors import Reason
from desktop.estimate.assess import ceiling_of_weights, estimate_of
from desktop.estimate.ranking import Choice, Option, choose, price_and_id
from desktop.estimate.sheet import Sheet
from desktop.records.estimate import Configuration, Estimate, Speed


@dataclass(frozen=True, slots=True)
class PageRow:
    """One device with an estimate."""

    configuration: Configuration
    best: Option
    runner_up: Option | None
    at_full_context: Choice
    """The same choice with the model's whole context in the cache."""
    estimate: Estimate
    speed: Speed
    """The estimate's decode range."""
    weights_ceiling_tok_s: float
    """Bandwidth ÷ active weights alone."""


@dataclass(frozen=True, slots=True)
class NoResult:
    """One device without an estimate."""

    configuration: Configuration
    reason: Reason


def rows_of(
    sheet: Sheet, full: Sheet, configurations: tuple[Configuration, ...]
) -> tuple[tuple[PageRow, ...], tuple[NoResult, ...]]:
    """Devices by the high end of their range, and those without one by id.

    Equal ranges are ordered by the memory that is needed, then price, then id.

    Args:
        sheet: the model at the depth that is asked about.
        full: the model at its full context.
        configurations: which devices.
    """
    found = [_row(sheet, full, configuration) for configuration in configurations]
    rows = sorted((row for row in found if isinstance(row, PageRow)), key=_order)
    without = (row for row in found if isinstance(row, NoResult))
    return tuple(rows), tuple(sorted(without, key=lambda row: row.configuration.id))


def _row(sheet: Sheet, full: Sheet, configuration: Configuration) -> PageRow | NoResult:
    choice = choose(sheet, configuration)
    estimate = estimate_of(sheet, configuration, choice)
    best = choice.best
    if best is None or estimate.decode is None:
        return NoResult(configuration, estimate.reasons[0])
    return PageRow(
        configuration=configuration,
        best=best,
        runner_up=choice.runner_up,
        at_full_context=choose(full, configuration),
        estimate=estimate,
        speed=estimate.decode,
        weights_ceiling_tok_s=ceiling_of_weights(sheet, configuration, best),
    )


def _order(row: PageRow) -> tuple[float, int, float, str]:
    need = row.best.need_bytes
    return (-row.speed.high_tok_s, need, *price_and_id(row.configuration))
