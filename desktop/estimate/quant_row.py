"""One row of the table of quantizations."""

from typing import Final

from desktop.records.model import Quant
from desktop.rules.table_rows import Row, chosen, filled, number

QUALITIES: Final = ("excellent", "good", "acceptable", "degraded")
"""Best first."""
DECENT: Final = QUALITIES[:3]
"""Good enough to be proposed to who did not ask for less."""
MIXTURES: Final = "mixtures"
"""The models that a quantization is made for, where it is not made for all."""
COLUMNS: Final = (
    "id", "label", "family", "bits_per_weight", "bits_source", "quality", "rank", "file_type",
    "source",
)  # fmt: skip
"""Of the table of quantizations."""
MIN_BITS: Final = 0.5
MAX_BITS: Final = 32
MAX_RANK: Final = 100


def quant_of_row(row: Row) -> Quant:
    """The quantization of a row of `resources/catalogue/quants.csv`.

    Raises:
        ValueError: a value is missing or out of range, or the row names no source.
    """
    for column in ("source", "bits_source"):
        filled(row, column)
    return Quant(
        id=filled(row, "id"),
        label=filled(row, "label"),
        family=filled(row, "family"),
        bits_per_weight=_bits(row),
        quality=chosen(row, "quality", QUALITIES),
        rank=_rank(row),
        file_type=row["file_type"] or None,
        mixtures_only=_mixtures_only(row),
    )


def _bits(row: Row) -> float:
    bits = number("bits_per_weight", row["bits_per_weight"], most=MAX_BITS)
    if bits < MIN_BITS:
        raise ValueError(f"bits_per_weight is {bits:g}, less than {MIN_BITS}")
    return bits


def _rank(row: Row) -> int:
    rank = number("rank", row["rank"], most=MAX_RANK)
    if not rank.is_integer():
        raise ValueError(f"rank is {rank}, no whole number")
    return int(rank)


def _mixtures_only(row: Row) -> bool:
    """From a column that other tables of quantizations need not have."""
    return "models" in row and chosen(row, "models", ("", MIXTURES)) == MIXTURES
