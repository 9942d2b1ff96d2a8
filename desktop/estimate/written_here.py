"""The arithmetic of an estimate of this machine, written out, as `written` does for devices.

What the catalogue tells (tier C) is written as on a device's page. By the machine's own parts (B)
and runs (A) a token takes the bytes of each type at that type's measured rate, and fixed times.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from desktop.errors import GramError
from desktop.estimate.calibration import Work, token_terms
from desktop.estimate.here import Here
from desktop.estimate.layer_bytes import LayerBytes, by_layer_group
from desktop.estimate.placed_work import placed_work
from desktop.estimate.placement import ON_HOST, Placement
from desktop.estimate.residuals import Span, Term
from desktop.estimate.sheet import Sheet
from desktop.estimate.token_work import HOST, Asked, device_works
from desktop.estimate.written_here_memory import here_need_lines
from desktop.estimate.written_line import Line
from desktop.estimate.written_memory import cache_lines
from desktop.estimate.written_rates import rate_lines
from desktop.estimate.written_speed import speed_lines
from desktop.estimate.written_weights import weight_lines
from desktop.records.estimate import Tier
from desktop.records.fits import Fit, FitRow
from desktop.records.model import Weights


@dataclass(frozen=True, slots=True)
class WrittenHere:
    """Of one quantization of a model on this machine."""

    layers: tuple[LayerBytes, ...]
    arithmetic: tuple[Line, ...]
    """Weights, cache and memory, and the range where there is one; empty where nothing can be
    counted."""


@dataclass(frozen=True, slots=True)
class _Case:
    row: FitRow
    asked: Asked
    works: tuple[Work, ...] = ()
    """Of an estimate by parts or runs."""


def written_here(
    here: Here, sheet: Sheet, rows: Sequence[FitRow], builds: Mapping[str, str]
) -> dict[str, WrittenHere]:
    """Of each row, by its quantization's id.

    Args:
        here: the machine.
        sheet: the model at the rows' depth.
        rows: of that model, as `rows_here` answers for the same machine.
        builds: the sha256 of a build that was measured here, by the quantization's id.
    """
    weights = {quant.id: found for quant, found in sheet.weights}
    cases = [
        _case(
            here,
            row,
            Asked(row.model, row.quant, weights[row.quant.id], builds.get(row.quant.id, "")),
        )
        for row in rows
        if row.quant.id in weights
    ]
    spans = iter(here.decode.spans([_terms(here, case) for case in cases if case.works]))
    return {
        case.row.quant.id: _written(here, sheet, case, next(spans) if case.works else None)
        for case in cases
    }


def _case(here: Here, row: FitRow, asked: Asked) -> _Case:
    if row.estimate.tier not in {Tier.A, Tier.B}:
        return _Case(row, asked)
    works = device_works(here.cards, asked, row.estimate.use, _placement(here, row))
    return _Case(row, asked, works)


def _terms(here: Here, case: _Case) -> tuple[str, Mapping[str, Term]]:
    return case.asked.build, token_terms(case.works, here.rates) or {}


def _placement(here: Here, row: FitRow) -> Placement:
    """Where the row was placed."""
    if row.fit is Fit.IN_MEMORY:
        return ON_HOST
    shares = tuple(float(size) for size in here.room.cards)
    return Placement(shares, gpu_layers=row.gpu_layers, experts_on_host=row.experts_on_host or 0)


def _written(here: Here, sheet: Sheet, case: _Case, span: Span | None) -> WrittenHere:
    try:
        layers = by_layer_group(sheet, case.asked.weights)
        return WrittenHere(layers, tuple(_arithmetic(here, sheet, case, span)))
    except GramError:
        # the row's own reason tells what cannot be counted
        return WrittenHere((), ())


def _arithmetic(here: Here, sheet: Sheet, case: _Case, span: Span | None) -> Iterator[Line]:
    row, weights = case.row, case.asked.weights
    if row.estimate.need is None:
        return
    yield from weight_lines(sheet.model, row.quant, weights)
    yield from cache_lines(sheet)
    yield from here_need_lines(sheet, here.room, row, weights)
    if row.estimate.decode is None:
        return
    if span is not None:
        yield from rate_lines(here, case.works, span, row.estimate.decode)
    else:
        yield from _by_catalogue(here, row, weights)


def _by_catalogue(here: Here, row: FitRow, weights: Weights) -> Iterator[Line]:
    sides, speed = here.sides.get(row.quant.family), row.estimate.decode
    if sides is None or speed is None:
        return
    placed = placed_work(row.model, weights, row.estimate.use, _placement(here, row), sides)
    names = [HOST if place is None else here.cards[place] for place in placed.places]
    yield from speed_lines(placed.decode, speed, ceiling_with_cache=True, names=names)
