"""The places of one device's scratch, given and taken back as ggml's allocator does it.

Source: ggml-alloc.c of the llama.cpp inside llama-cpp-python 0.3.36.
"""

from dataclasses import dataclass, field
from typing import Final

_ENDLESS: Final = 1 << 62


@dataclass(slots=True)
class Arena:
    """Best fit among the holes; the last one has no end."""

    alignment: int
    """Bytes."""
    holes: list[list[int]] = field(default_factory=lambda: [[0, _ENDLESS]])
    """Offset and bytes of each, in their order."""
    peak: int = 0

    def take(self, size: int) -> int:
        """The offset of `size` bytes."""
        size = -(-size // self.alignment) * self.alignment
        holes = self.holes
        best, smallest = holes[-1], _ENDLESS
        if len(holes) > 1:
            for hole in holes[:-1]:
                if size <= hole[1] <= smallest:
                    best, smallest = hole, hole[1]
        offset = best[0]
        best[0] += size
        best[1] -= size
        if not best[1]:
            holes.remove(best)
        self.peak = max(self.peak, offset + size)
        return offset

    def give_back(self, offset: int, size: int) -> None:
        """Take `size` bytes at `offset` back and join them to a hole beside them.

        As sloppily as ggml: nothing may be given back inside a hole, and then splits what is later
        given back around it.
        """
        size = -(-size // self.alignment) * self.alignment
        for i, hole in enumerate(self.holes):
            if hole[0] + hole[1] == offset:
                hole[1] += size
                self._join(i)
                return
            if offset + size == hole[0]:
                hole[0], hole[1] = offset, hole[1] + size
                self._join(i - 1)
                return
        beyond = (i for i, hole in enumerate(self.holes) if hole[0] >= offset)
        at = next(beyond, len(self.holes))
        self.holes.insert(at, [offset, size])

    def _join(self, i: int) -> None:
        """Join hole `i` to the next one, if they touch."""
        if 0 <= i < len(self.holes) - 1 and sum(self.holes[i]) == self.holes[i + 1][0]:
            self.holes[i][1] += self.holes.pop(i + 1)[1]
