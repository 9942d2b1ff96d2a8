"""How much scratch a graph needs: ggml's plan of where its tensors lie, followed step by step.

A graph is a tape of tensors in the order in which they are computed. The scheduler cuts it where
the device changes, and copies what a piece needs from elsewhere at its start; the allocator gives
each tensor the best fitting hole and takes it back after its last reader.
Source: `ggml_backend_sched_split_graph` of ggml-backend.cpp and ggml-alloc.c of the llama.cpp
inside llama-cpp-python 0.3.36.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Node: TypeAlias = int
"""A tensor's place on the tape."""
_ENDLESS: Final = 1 << 62
_HOST_ALIGNMENT: Final = 32
_CARD_ALIGNMENT: Final = 128
"""Bytes, of the back ends' buffers."""


@dataclass(slots=True)
class _Tensor:
    size: int
    on: int
    sources: tuple[Node, ...] = ()
    reuses: bool = False
    """May take the place of a source that nobody else reads."""
    root: Node | None = None
    """Of a view the tensor that it looks into."""
    held: bool = False
    """Lies in a buffer of its own: weights and caches."""
    stays: bool = False
    """Never taken back: outputs."""
    readers: int = 0
    views: int = 0
    offset: int | None = None
    """Where in the scratch it lies; None: not there."""


@dataclass(slots=True)
class Tape:
    """Records a graph.

    Devices are numbers from 0, by the scheduler's priority; the host is the last. A tensor comes
    into the graph when it, or one that is computed from it, is asked for; what it is computed from
    comes before it, first source first. Sizes are bytes.
    """

    host: int
    tensors: list[_Tensor] = field(default_factory=list)
    inputs: list[Node] = field(default_factory=list)
    """What the host fills in, in the order in which it is met."""
    order: list[Node] = field(default_factory=list)
    met: set[Node] = field(default_factory=set)

    def input(self, size: int) -> Node:
        """What the host fills in before the graph runs."""
        return self.add(_Tensor(size, self.host))

    def held(self, size: int, on: int) -> Node:
        """A weight or a cache on device `on`. Another device that reads it copies it."""
        return self.add(_Tensor(size, on, held=True))

    def op(
        self, size: int, on: int, *sources: Node, reuses: bool = False, stays: bool = False
    ) -> Node:
        """A tensor computed on device `on`."""
        return self.add(_Tensor(size, on, sources, reuses, stays=stays))

    def view(self, source: Node, size: int | None = None) -> Node:
        """Another look at `source`, or at `size` bytes of it."""
        seen = self.tensors[source]
        root = source if seen.root is None else seen.root
        return self.add(_Tensor(seen.size if size is None else size, seen.on, (source,), root=root))

    def store(self, on: int, *sources: Node) -> None:
        """Write into a cache on device `on`, now."""
        self.expand(self.add(_Tensor(0, on, sources, held=True)))

    def expand(self, node: Node) -> None:
        """Ask for a tensor: it and all that it needs come next, unless they are there."""
        if node in self.met:
            return
        self.met.add(node)
        tensor = self.tensors[node]
        for source in tensor.sources:
            self.expand(source)
        if tensor.sources:
            self.order.append(node)
        elif not tensor.held:
            self.inputs.append(node)

    def add(self, tensor: _Tensor) -> Node:
        """A place on the tape for `tensor`."""
        self.tensors.append(tensor)
        return len(self.tensors) - 1


def peaks(tape: Tape, *, copies: int = 1) -> tuple[int, ...]:
    """Bytes of scratch on each device, the host last. Uses the tape up.

    Args:
        tape: the graph.
        copies: how often what pieces start with exists: 4 where cards work in a pipeline.
    """
    steps, arrived = _pieces(tape)
    plan = _Plan(
        tape.tensors,
        [*(_Arena(_CARD_ALIGNMENT) for _ in range(tape.host)), _Arena(_HOST_ALIGNMENT)],
    )
    plan.count(steps)
    first = tape.inputs if copies == 1 else [*tape.inputs, *arrived]
    for node in first:
        plan.place(node)
        for _ in range(copies - 1):
            plan.arenas[tape.tensors[node].on].take(tape.tensors[node].size)
        tape.tensors[node].stays |= copies > 1
    for node in steps:
        plan.place(node)
        for source in tape.tensors[node].sources:
            plan.leave(source)
    return tuple(arena.peak for arena in plan.arenas)


def _pieces(tape: Tape) -> tuple[list[Node], list[Node]]:
    """All steps, each piece led by the copies that it needs; and those copies."""
    if not tape.host:
        return tape.order, []
    cutter = _Cutter(tape)
    for node in tape.order:
        cutter.add(node)
    cutter.finish()
    return cutter.steps, list(cutter.copies.values())


@dataclass(slots=True)
class _Cutter:
    """Cuts a tape into pieces of one device each."""

    tape: Tape
    copies: dict[tuple[Node, int], Node] = field(default_factory=dict)
    steps: list[Node] = field(default_factory=list)
    piece: list[Node] = field(default_factory=list)
    arrivals: list[Node] = field(default_factory=list)
    on: int | None = None

    def add(self, node: Node) -> None:
        """Add a step to the piece at hand, or begin a new one."""
        tensors, tensor = self.tape.tensors, self.tape.tensors[node]
        if tensor.root is None:
            foreign = [s for s in tensor.sources if tensors[s].on != tensor.on]
            # a weight that has to come over begins a piece, so that its place is free again after
            heavy = any(tensors[s].held and tensors[s].size for s in foreign)
            if tensor.on != self.on or (heavy and self.arrivals):
                self.finish()
                self.on = tensor.on
            for source in foreign:
                self.bring(source, tensor.on)
            tensor.sources = tuple(self.copies.get((s, tensor.on), s) for s in tensor.sources)
        self.piece.append(node)

    def bring(self, source: Node, on: int) -> None:
        """Copy `source` to device `on` at the start of this piece, unless it is there."""
        if (source, on) in self.copies:
            return
        copy = self.tape.add(_Tensor(self.tape.tensors[source].size, on))
        reading = self.tape.add(_Tensor(0, on, (source,), held=True))
        self.copies[source, on] = copy
        self.arrivals += (reading, copy)

    def finish(self) -> None:
        """End the piece at hand."""
        self.steps += (*self.arrivals, *self.piece)
        self.arrivals.clear()
        self.piece.clear()


@dataclass(slots=True)
class _Arena:
    """Best fit among the holes; the last one has no end."""

    alignment: int
    holes: list[list[int]] = field(default_factory=lambda: [[0, _ENDLESS]])
    peak: int = 0

    def take(self, size: int) -> int:
        """The offset of `size` bytes."""
        size = self.rounded(size)
        best, smallest = self.holes[-1], _ENDLESS
        for hole in self.holes[:-1]:
            if size <= hole[1] <= smallest:
                best, smallest = hole, hole[1]
        offset = best[0]
        best[0] += size
        best[1] -= size
        if not best[1]:
            self.holes.remove(best)
        self.peak = max(self.peak, offset + size)
        return offset

    def give_back(self, offset: int, size: int) -> None:
        """Take `size` bytes at `offset` back and join them to a hole beside them.

        As sloppily as ggml: nothing may be given back inside a hole, and then splits what is later
        given back around it.
        """
        size = self.rounded(size)
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

    def rounded(self, size: int) -> int:
        """Up to the alignment."""
        return -(-size // self.alignment) * self.alignment


@dataclass(slots=True)
class _Plan:
    """Places tensors and takes them back."""

    tensors: list[_Tensor]
    arenas: list[_Arena]

    def count(self, steps: Iterable[Node]) -> None:
        """Who reads what, before the first step."""
        for node in steps:
            tensor = self.tensors[node]
            if tensor.root is not None:
                self.tensors[tensor.root].views += 1
            for source in tensor.sources:
                self.tensors[source].readers += 1

    def place(self, node: Node) -> None:
        """Give a tensor its place: that of a source it may reuse, else a hole."""
        tensor = self.tensors[node]
        if tensor.held or tensor.root is not None or tensor.offset is not None:
            return
        if tensor.reuses:
            for source in tensor.sources:
                if self._reuse(tensor, self.tensors[source]):
                    return
        tensor.offset = self.arenas[tensor.on].take(tensor.size)

    def leave(self, node: Node) -> None:
        """A reader is done with a tensor; after the last one its place is free."""
        tensor = self.tensors[node]
        tensor.readers -= 1
        if tensor.readers or tensor.views:
            return
        if tensor.root is not None:
            tensor = self.tensors[tensor.root]
            tensor.views -= 1
        if not (tensor.readers or tensor.views or tensor.stays or tensor.offset is None):
            self.arenas[tensor.on].give_back(tensor.offset, tensor.size)
            tensor.offset = None

    def _reuse(self, tensor: _Tensor, source: _Tensor) -> bool:
        """Take the place of `source`. Views have none: their readers get a place of their own."""
        alone = source.readers == 1 and not source.views and not source.stays
        fits = source.on == tensor.on and source.size == tensor.size
        if source.offset is None or not (alone and fits):
            return False
        tensor.offset, source.offset = source.offset, None
        return True
