"""Which quantization of a model is proposed, among those that would run on this machine."""

from collections.abc import Sequence
from typing import Final

from desktop.estimate.quant_row import DECENT, QUALITIES
from desktop.records.fits import Fit, FitRow
from desktop.records.model import Quant

PLACES: Final = (Fit.ON_CARD, Fit.IN_MEMORY, Fit.WITH_OFFLOAD)
"""The best first: one that fits in a better place is proposed before all others of its quality."""
_GOOD: Final = QUALITIES[:2]
_USUAL: Final = frozenset(
    ("F16", "BF16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "Q3_K_M", "Q2_K", "MXFP4_MOE")
)
"""File types that most publishers make: one of them is proposed, all are there for who asks."""


def proposed(rows: Sequence[FitRow], at_least_tok_s: float) -> FitRow | None:
    """The build to take; None where none runs.

    Of the quantizations that most publishers make, where one of them runs; of all others else. Of
    those of acceptable quality or better, where there are such, in the best place: the best
    quality whose whole range is fast enough. Where none is: the fastest, or what is better in
    quality and has a range that overlaps the fastest's, as nobody can tell then which of them is
    faster. Where no rate is known: the smallest of good quality, which loses little and fits most
    machines; else the best quality.

    Args:
        rows: of one model.
        at_least_tok_s: what is fast enough.
    """
    all_running = [row for row in rows if row.runs]
    running = [row for row in all_running if is_usual(row.quant)] or all_running
    wanted = [row for row in running if is_decent(row)] or running
    for place in PLACES:
        there = [row for row in wanted if row.fit is place]
        if there:
            return _of_place(there, at_least_tok_s)
    return None


def is_usual(quant: Quant) -> bool:
    """Whether most publishers make it."""
    return quant.file_type in _USUAL


def is_decent(row: FitRow) -> bool:
    """Whether it is of acceptable quality or better."""
    return row.quant.quality in DECENT


def low_tok_s(row: FitRow) -> float:
    """The low end of its range; 0 where there is none."""
    return row.estimate.decode.low_tok_s if row.estimate.decode else 0.0


def high_tok_s(row: FitRow) -> float:
    """The high end of its range; 0 where there is none."""
    return row.estimate.decode.high_tok_s if row.estimate.decode else 0.0


def _of_place(rows: Sequence[FitRow], at_least_tok_s: float) -> FitRow:
    known = [row for row in rows if row.estimate.decode is not None]
    if not known:
        return _without_rates(rows)
    enough = [row for row in known if low_tok_s(row) >= at_least_tok_s]
    return max(enough or _as_fast_as_any(known), key=lambda row: row.quant.rank)


def _as_fast_as_any(rows: Sequence[FitRow]) -> list[FitRow]:
    least = max(map(low_tok_s, rows))
    return [row for row in rows if high_tok_s(row) >= least]


def _without_rates(rows: Sequence[FitRow]) -> FitRow:
    good = [row for row in rows if row.quant.quality in _GOOD]
    if good:
        return min(good, key=lambda row: (row.size_bytes, -row.quant.rank))
    return max(rows, key=lambda row: row.quant.rank)
