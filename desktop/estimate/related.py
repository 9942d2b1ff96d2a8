"""Which other models' pages are worth a look from a model's page."""

import math
from collections.abc import Iterable
from typing import Final

from desktop.records.model import Model

MOST: Final = 8


def related_to(model: Model, models: Iterable[Model]) -> tuple[Model, ...]:
    """Up to eight others: of its family first, then of its size; the nearest in size first."""
    others = (other for other in models if other.id != model.id)
    return tuple(sorted(others, key=lambda other: _distance(model, other))[:MOST])


def _distance(model: Model, other: Model) -> tuple[bool, float, str]:
    kin = model.family is not None and other.family == model.family
    return (not kin, abs(math.log(other.parameters / model.parameters)), other.id)
