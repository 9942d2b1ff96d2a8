"""Rows of equal layers, of which a tape has only some: whether the rest would change anything.

A tape is placed step by step, and what happens next depends on what lies where, and on who reads it
still. Where at the end of a period all of that is as it was at the end of the one before, the next
equal period ends so again, and hundreds of them need no more than one. For that the periods have to
be equal also in what is asked for when, and in what is copied; that is looked at first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from desktop.estimate.scratch import Crossing, Mark, Node, Pieces, Tape

Lying: TypeAlias = dict[Node, int]
"""The offsets of what lies in the scratch."""
Copied: TypeAlias = Mapping[Node, tuple[Node, int]]
"""Of each copy what it is of, and the device that it is on."""
_Name: TypeAlias = tuple[int, int | None, int]


class Row(NamedTuple):
    """Equal periods of layers, the first ones of more."""

    marks: range
    """The numbers of the marks at their ends."""
    even: bool
    """Whether an even number is left out: then things may lie as they lay two marks before."""

    @property
    def watched(self) -> range:
        """The marks at which it matters how things lie.

        What is at the first one may still come from before the row.
        """
        return self.marks[1:][-4 if self.even else -3 :]

    @property
    def pairs(self) -> Iterator[tuple[int, int]]:
        """Marks that are a period apart, or two; if things lie alike at both, the row is settled.

        The last period may be unlike the others in what nobody reads after it. So it is enough
        where the one before it ended as another one had.
        """
        for step in (1, 2) if self.even else (1,):
            for mark in self.watched[step:]:
                yield mark - step, mark


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen at a mark."""

    mark: Mark
    crossing: Crossing
    holes: list[list[tuple[int, int]]]
    """Of each device."""
    lying: Lying

    def is_as(self, before: "Sight", copied: Copied) -> bool:
        """Whether all lies as it lay at the mark `before`, a period or two earlier."""
        if self.holes != before.holes or self.crossing[:2] != before.crossing[:2]:
            return False
        # what lies there at both marks belongs to no period
        new = self.lying.items() - before.lying.items()
        old = before.lying.items() - self.lying.items()
        return _named(new, self.mark, copied) == _named(old, before.mark, copied)


def _named(lying: Iterable[tuple[Node, int]], mark: Mark, copied: Copied) -> set[_Name]:
    """What lies where, by how long before the mark it was recorded."""
    found = set()
    for node, offset in lying:
        source, on = copied.get(node, (node, None))
        found.add((source - mark.tensors, on, offset))
    return found


def is_settled(row: Row, sights: Mapping[int, Sight], copied: Copied) -> bool:
    """Whether at one of the last marks of a row all is as at one before."""
    return any(sights[later].is_as(sights[earlier], copied) for earlier, later in row.pairs)


def are_regular(pieces: Pieces, rows: Sequence[Row], copies: int) -> bool:
    """Whether the periods of all rows are equal but for where things lie."""
    tape = pieces.tape
    late = _late(tape)
    for row in rows:
        first, last = row.marks[0], row.marks[-1]
        stretches = range(first + 1, last + 1)
        made = [pieces.crossings[mark].copies for mark in (first, last)]
        met = [tape.marks[mark].inputs for mark in (first, last)]
        everywhere = copies > 1 and made[0] != made[1]
        if everywhere or met[0] != met[1] or not pieces.early.isdisjoint(stretches):
            return False
        if any(stretch > first + 1 for stretch in late):
            return False
    return True


def _late(tape: Tape) -> set[int]:
    """Stretches that compute what was recorded before the last but one of the marks before them.

    The first stretch is 0. A period may leave its end to the next one, but not to the one after.
    """
    found, stretch, least = set(), 0, 0
    for node in tape.order:
        if node < 0:
            stretch += 1
            least = tape.marks[stretch - 2].tensors if stretch > 1 else 0
        elif node < least:
            found.add(stretch)
    return found
