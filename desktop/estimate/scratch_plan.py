"""How much scratch a graph needs: ggml's plan of where its tensors lie, followed step by step.

The allocator gives each tensor the best fitting hole and takes it back after its last reader. A
tape is cut and counted once, and then placed as often as its weights are packed differently.
Source: ggml-alloc.c of the llama.cpp inside llama-cpp-python 0.3.36.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from desktop.estimate.arena import Arena
from desktop.estimate.scratch import Node, Pieces, Tape, Tensor, cut
from desktop.estimate.scratch_rows import Copied, Row, Sight, are_regular, is_settled

_CARD_ALIGNMENT: Final = 128
_HOST_ALIGNMENT: Final = 32
"""Bytes, of the back ends' buffers."""
_NOT_THERE: Final = -1
"""The offset of what does not lie in the scratch."""


@dataclass(slots=True)
class Plan:
    """A tape, ready to be placed."""

    pieces: Pieces
    copies: int
    """How often what pieces start with exists."""
    rows: Sequence[Row]
    regular: bool
    """False where nothing follows from the periods that are there, however things lie."""
    copied: Copied
    readers: list[int]
    """Of each tensor, how often it is read."""
    views: list[int]

    def peaks(self, packing: Mapping[Hashable, float]) -> tuple[int, ...] | None:
        """Bytes of scratch on each device, the host last.

        None where the tape has only some periods of a row, and it is not sure that the others would
        not change anything.

        Args:
            packing: bytes of one weight of each kind.
        """
        if not self.regular:
            return None
        placing = _Placing(self, self._sizes(packing), self.readers.copy(), self.views.copy())
        placing.begin()
        return tuple(arena.peak for arena in placing.arenas) if placing.go_through() else None

    def _sizes(self, packing: Mapping[Hashable, float]) -> list[int]:
        tape = self.pieces.tape
        sizes = [tensor.size for tensor in tape.tensors]
        for node, (elements, kind) in tape.packed.items():
            sizes[node] = round(elements * packing[kind])
        for copy, (source, _) in self.copied.items():
            sizes[copy] = sizes[source]
        return sizes


def plan_of(tape: Tape, *, copies: int = 1, rows: Sequence[Row] = ()) -> Plan:
    """Cut a tape and count who reads what. Uses the tape up.

    Args:
        tape: the graph.
        copies: how often what pieces start with exists: 4 where cards work in a pipeline.
        rows: rows of equal periods of which only the first ones are on the tape.
    """
    pieces = cut(tape)
    readers, views = _counted(tape.tensors, pieces.steps)
    if copies > 1:
        for node in (*tape.inputs, *pieces.copies.values()):
            tape.tensors[node].stays = True
    return Plan(
        pieces=pieces,
        copies=copies,
        rows=rows,
        regular=are_regular(pieces, rows, copies),
        copied={copy: of for of, copy in pieces.copies.items()},
        readers=readers,
        views=views,
    )


def peaks(tape: Tape, *, copies: int = 1) -> tuple[int, ...]:
    """Bytes of scratch on each device, the host last, of a whole graph. Uses the tape up.

    Args:
        tape: the graph; no weights on it are `packed`.
        copies: as `plan_of`.
    """
    return plan_of(tape, copies=copies).peaks({}) or ()


def _counted(tensors: Sequence[Tensor], steps: Sequence[Node]) -> tuple[list[int], list[int]]:
    """Who reads what, and looks into what, before the first step."""
    readers, views = [0] * len(tensors), [0] * len(tensors)
    for node in steps:
        if node < 0:
            continue
        tensor = tensors[node]
        if tensor.root is not None:
            views[tensor.root] += 1
        for source in tensor.sources:
            readers[source] += 1
    return readers, views


@dataclass(slots=True)
class _Placing:
    """Places tensors and takes them back."""

    plan: Plan
    sizes: Sequence[int]
    readers: list[int]
    """That are still to come."""
    views: list[int]
    tensors: Sequence[Tensor] = field(init=False)
    arenas: list[Arena] = field(init=False)
    offsets: list[int] = field(init=False)
    sights: dict[int, Sight] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tape = self.plan.pieces.tape
        self.tensors = tape.tensors
        self.arenas = [*(Arena(_CARD_ALIGNMENT) for _ in range(tape.host)), Arena(_HOST_ALIGNMENT)]
        self.offsets = [_NOT_THERE] * len(self.tensors)

    def begin(self) -> None:
        """Place what has its place before the first step."""
        pieces, copies = self.plan.pieces, self.plan.copies
        arrived = pieces.copies.values() if copies > 1 else ()
        for node in (*pieces.tape.inputs, *arrived):
            self._place(node)
            for _ in range(copies - 1):
                self.arenas[self.tensors[node].on].take(self.sizes[node])

    def go_through(self) -> bool:
        """Take all steps; False where a row is not settled."""
        for node in self.plan.pieces.steps:
            if node < 0:
                if not self._pass(~node):
                    return False
                continue
            self._place(node)
            for source in self.tensors[node].sources:
                self.readers[source] -= 1
                if not (self.readers[source] or self.views[source]):
                    self._leave(source)
        return True

    def _place(self, node: Node) -> None:
        """Give a tensor its place: that of a source it may reuse, else a hole."""
        tensor = self.tensors[node]
        if tensor.held or tensor.root is not None or self.offsets[node] != _NOT_THERE:
            return
        if tensor.reuses:
            for source in tensor.sources:
                if self._is_reused(source, node):
                    self.offsets[node] = self.offsets[source]
                    self.offsets[source] = _NOT_THERE
                    return
        self.offsets[node] = self.arenas[tensor.on].take(self.sizes[node])

    def _is_reused(self, source: Node, node: Node) -> bool:
        """Whether the place of `source` is free. Views have none: their readers get their own."""
        if self.readers[source] != 1 or self.views[source] or self.offsets[source] == _NOT_THERE:
            return False
        old, new = self.tensors[source], self.tensors[node]
        return not old.stays and old.on == new.on and self.sizes[source] == self.sizes[node]

    def _leave(self, node: Node) -> None:
        """Take a tensor's place back after its last reader, unless others look into it still."""
        root = self.tensors[node].root
        if root is not None:
            node = root
            self.views[node] -= 1
            if self.readers[node] or self.views[node]:
                return
        tensor = self.tensors[node]
        if not tensor.stays and self.offsets[node] != _NOT_THERE:
            self.arenas[tensor.on].give_back(self.offsets[node], self.sizes[node])
            self.offsets[node] = _NOT_THERE

    def _pass(self, mark: int) -> bool:
        """Pass a mark; False where it ends what is there of a row, and the row is not settled."""
        row = next(row for row in self.plan.rows if mark in row.marks)
        if mark in row.watched:
            self.sights[mark] = self._sight(mark)
        if mark != row.marks[-1]:
            return True
        return is_settled(row, self.sights, self.plan.copied)

    def _sight(self, mark: int) -> Sight:
        pieces = self.plan.pieces
        return Sight(
            mark=pieces.tape.marks[mark],
            crossing=pieces.crossings[mark],
            holes=[[(start, size) for start, size in arena.holes] for arena in self.arenas],
            lying={node: at for node, at in enumerate(self.offsets) if at != _NOT_THERE},
        )
