"""A model's page: everything that can be told of it without measuring, as data."""

from collections.abc import Sequence
from dataclasses import dataclass

from desktop.errors import Reason
from desktop.estimate import reasons
from desktop.estimate.callouts import Start, start_of
from desktop.estimate.page_row import NoResult, PageRow, rows_of
from desktop.estimate.profile import Profile
from desktop.estimate.related import related_to
from desktop.estimate.sheet import Sheet, sheet_of
from desktop.records.model import Model, Quant, Weights

POSITION: int = 1024
"""Tokens in the cache while one is generated, where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class SizeRow:
    """A model's weights in one quantization."""

    quant: Quant
    weights: Weights


@dataclass(frozen=True, slots=True)
class ModelPage:
    """One model under one profile at one depth."""

    profile: Profile
    model: Model
    sheet: Sheet
    """The bytes that the rows rest on; `sheet.use.depth` is the depth."""
    full_context: int
    """Tokens of the model's whole context; where it is not told, those of this page."""
    sizes: tuple[SizeRow, ...]
    """The best quality first."""
    rows: tuple[PageRow, ...]
    """The fastest first."""
    without: tuple[NoResult, ...]
    start: Start
    decent_only: bool
    """Whether quantizations that are degraded were left out of `start`."""
    meanings: tuple[Reason, ...]
    """One of each reason that a row has, by the alphabet of their labels."""
    related: tuple[Model, ...]


def page_of(
    model: Model,
    profile: Profile,
    models: Sequence[Model] = (),
    position: int | None = None,
    quants: tuple[Quant, ...] | None = None,
) -> ModelPage:
    """The page of `model`.

    Args:
        model: of the catalogue.
        profile: whose tables and rules.
        models: the whole catalogue, for related models.
        position: tokens in the cache while one is generated; None: 1,024, or what the model has.
        quants: only these are offered; None: all of the profile.

    Raises:
        GramError: as `sheet_of`.
    """
    at = position_of(model, position)
    sheet = sheet_of(model, profile, at, quants)
    full = sheet_of(model, profile, model.context_trained or at, quants)
    rows, without = rows_of(sheet, full, profile.configurations)
    # who names a quantization has decided on its quality
    qualities = profile.start_qualities if quants is None else None
    given = tuple(reason for row in rows for reason in row.estimate.reasons)
    return ModelPage(
        profile=profile,
        model=model,
        sheet=sheet,
        full_context=full.use.context,
        sizes=tuple(SizeRow(quant, weights) for quant, weights in sheet.weights),
        rows=rows,
        without=without,
        start=start_of(rows, qualities),
        decent_only=qualities is not None,
        meanings=reasons.meanings(given),
        related=related_to(model, models),
    )


def position_of(model: Model, position: int | None) -> int:
    """What is asked for; else 1,024 tokens, or as many as the model is trained for."""
    if position is not None:
        return position
    return min(POSITION, model.context_trained or POSITION)
