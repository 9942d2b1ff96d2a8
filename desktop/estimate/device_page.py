"""A configuration's own page: every quantization on it, bytes by layer group, the arithmetic."""

from dataclasses import dataclass

from desktop.errors import GramError, Reason
from desktop.estimate import reasons
from desktop.estimate.assess import option_estimate
from desktop.estimate.layer_bytes import LayerBytes, by_layer_group
from desktop.estimate.ranking import Choice, Option, choose, options
from desktop.estimate.sheet import Sheet
from desktop.estimate.written import arithmetic
from desktop.estimate.written_line import Line
from desktop.records.estimate import Configuration, Estimate
from desktop.records.model import Quant, Weights


@dataclass(frozen=True, slots=True)
class QuantRow:
    """One quantization on the device."""

    quant: Quant
    weights: Weights
    option: Option | None
    """None where no back end of the device has it."""
    estimate: Estimate | None
    reason: Reason | None
    """Why there is no range."""


@dataclass(frozen=True, slots=True)
class DevicePage:
    """One model on one device."""

    configuration: Configuration
    choice: Choice
    """What the device would run: the best in quality that fits."""
    quants: tuple[QuantRow, ...]
    """All of the profile, the best quality first."""
    shown: Quant | None
    """Of which bytes and arithmetic are: the one that was asked for, else the recommended one, else
    the one that needs least, so that it can be seen why it does not fit. None: nothing runs."""
    layers: tuple[LayerBytes, ...]
    arithmetic: tuple[Line, ...]
    """Weights, cache and memory, and the range where there is one."""


def device_page_of(
    sheet: Sheet, configuration: Configuration, wanted: Quant | None = None
) -> DevicePage:
    """The page of one device; bytes and arithmetic are of `wanted` or as `DevicePage.shown` says.

    Raises:
        GramError: as `sheet.sheet_of`.
    """
    choice = choose(sheet, configuration)
    rows = _quant_rows(sheet, configuration)
    shown = _shown(rows, choice, wanted)
    return DevicePage(
        configuration=configuration,
        choice=choice,
        quants=rows,
        shown=shown.quant if shown else None,
        layers=by_layer_group(sheet, shown.weights) if shown else (),
        arithmetic=_arithmetic(sheet, configuration, shown),
    )


def _quant_rows(sheet: Sheet, configuration: Configuration) -> tuple[QuantRow, ...]:
    try:
        found = {option.quant.id: option for option in options(sheet, configuration)}
    except GramError as e:
        return tuple(QuantRow(q, w, None, None, e.reason) for q, w in sheet.weights)
    return tuple(
        _quant_row(sheet, configuration, row, found.get(row[0].id)) for row in sheet.weights
    )


def _quant_row(
    sheet: Sheet, configuration: Configuration, row: tuple[Quant, Weights], option: Option | None
) -> QuantRow:
    quant, weights = row
    if option is None:
        missing = not sheet.profile.counting.runs(quant, configuration)
        why = reasons.no_arithmetic if missing else reasons.no_target
        return QuantRow(quant, weights, None, None, why(quant, configuration))
    estimate = option_estimate(sheet, configuration, option)
    reason = None if estimate.decode else estimate.reasons[0]
    return QuantRow(quant, weights, option, estimate, reason)


def _shown(rows: tuple[QuantRow, ...], choice: Choice, wanted: Quant | None) -> QuantRow | None:
    quant = wanted or (choice.best.quant if choice.best else _least(rows))
    return next((row for row in rows if quant and row.quant.id == quant.id), None)


def _least(rows: tuple[QuantRow, ...]) -> Quant | None:
    """Of those that a back end has the one that needs least memory."""
    offered = (row.option for row in rows if row.option)
    least = min(offered, key=lambda option: option.need_bytes, default=None)
    return least.quant if least else None


def _arithmetic(
    sheet: Sheet, configuration: Configuration, shown: QuantRow | None
) -> tuple[Line, ...]:
    if shown is None or shown.option is None or shown.estimate is None:
        return ()
    return arithmetic(sheet, configuration, shown.option, shown.estimate.decode)
