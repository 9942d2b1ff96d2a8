"""Which layers of a model its graph needs: of many equal ones in a row a few tell what all do."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from desktop.estimate.scratch_rows import Row

FEWEST: Final = 3
"""Periods of a row: the first is what it is by what stands before the row, the next is the first
true one, and the third shows whether anything changes from one to the next."""
_LONGEST: Final = 16
"""Layers of a period: six, where sliding layers stand between full ones; few have more."""


class Chosen(NamedTuple):
    """The layers to record."""

    layers: tuple[int, ...]
    ends: frozenset[int]
    """Places among `layers` at which a period of a row ends."""
    rows: tuple[Row, ...]


def all_of(count: int) -> Chosen:
    """So many layers, and none left out."""
    return Chosen(tuple(range(count)), frozenset(), ())


def shortened(kinds: Sequence[int], kept: int) -> Chosen:
    """Leave equal periods out.

    Args:
        kinds: of each layer a number; layers of the same number are recorded alike.
        kept: periods that stay of each row, at least `FEWEST`; where it is more, one more stays if
            that leaves an even number out.
    """
    layers: list[int] = []
    ends: list[int] = []
    rows = []
    at = 0
    while at < len(kinds):
        period, repeats = _repetition(kinds, at)
        stay = kept if kept == FEWEST else kept + (repeats - kept) % 2
        if repeats <= stay:
            layers.append(at)
            at += 1
            continue
        even = (repeats - stay) % 2 == 0
        rows.append(Row(range(len(ends), len(ends) + stay), even=even))
        ends += (len(layers) + period * (i + 1) - 1 for i in range(stay))
        layers += range(at, at + period * stay)
        at += period * repeats
    return Chosen(tuple(layers), frozenset(ends), tuple(rows))


def _repetition(kinds: Sequence[int], at: int) -> tuple[int, int]:
    """The period from `at` on that is repeated over the most layers, and how often it is there."""
    found, most = (1, 1), 0
    for period in range(1, min(_LONGEST, (len(kinds) - at) // 2) + 1):
        first, end = kinds[at : at + period], at + period
        while kinds[end : end + period] == first:
            end += period
        if end - at - period > most:
            found, most = (period, (end - at) // period), end - at - period
    return found
