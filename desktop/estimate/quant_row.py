"""One row of the table of quantizations."""

from collections.abc import Mapping
from typing import Final

from desktop.records.model import Quant

QUALITIES: Final = ("excellent", "good", "acceptable", "degraded")
"""Best first."""
DECENT: Final = QUALITIES[:3]
"""Good enough to be proposed to who did not ask for less."""
MIXTURES: Final = "mixtures"
"""The models that a quantization is made for, where it is not made for all."""
MAX_BITS: Final = 32
MAX_RANK: Final = 100


def quant_of_row(row: Mapping[str, str]) -> Quant:
    """The quantization of a row of `resources/catalogue/quants.csv`.

    Raises:
        ValueError: a value is missing or out of range, or the row names no source.
        KeyError: a column is missing.
    """
    empty = [c for c in ("id", "label", "family", "source", "bits_source") if not row[c].strip()]
    if empty:
        raise ValueError(f"{row['id']}: {empty[0]} is missing")
    return Quant(
        id=row["id"],
        label=row["label"],
        family=row["family"],
        bits_per_weight=_between(row, "bits_per_weight", 0.5, MAX_BITS),
        quality=_quality(row),
        rank=int(_between(row, "rank", 0, MAX_RANK)),
        file_type=row["file_type"] or None,
        mixtures_only=_mixtures_only(row),
    )


def _between(row: Mapping[str, str], column: str, low: float, high: float) -> float:
    value = float(row[column])
    if not low <= value <= high:
        raise ValueError(f"{row['id']}: {column} is {row[column]}")
    return value


def _mixtures_only(row: Mapping[str, str]) -> bool:
    """From a column that other tables of quantizations need not have."""
    models = row.get("models") or ""
    if models not in {"", MIXTURES}:
        raise ValueError(f"{row['id']}: models is {models}")
    return models == MIXTURES


def _quality(row: Mapping[str, str]) -> str:
    if row["quality"] not in QUALITIES:
        raise ValueError(f"{row['id']}: quality is {row['quality']}")
    return row["quality"]
