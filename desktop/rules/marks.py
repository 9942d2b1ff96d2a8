"""Marks at single figures, which say that they should be read with care."""

from collections.abc import Iterable, Mapping
from typing import Final

from desktop.records.run import Note

SIGNS: Final[Mapping[Note, str]] = {Note.SPREAD: "!", Note.FEW: "?", Note.CACHED: "c"}
"""Of the notes that stand at a figure; a line near it says what each means."""


def marks_of(spread: float | None, target_spread: float) -> tuple[Note, ...]:
    """What to say of a median.

    Args:
        spread: 95 % half-width of the median ÷ the median; None below six repetitions.
        target_spread: at which the plan would have stopped.
    """
    if spread is None:
        return (Note.FEW,)
    return (Note.SPREAD,) if spread > target_spread else ()


def signs(marks: Iterable[Note]) -> str:
    """`!c`; empty where there is nothing to say."""
    return "".join(SIGNS[mark] for mark in marks)
