"""A graph as a tape of tensors in the order in which they are computed, and cut into pieces.

The scheduler cuts the tape where the device changes, and copies what a piece needs from elsewhere
at its start. Where the tensors then lie is worked out in `scratch_plan`.
Source: `ggml_backend_sched_split_graph` of ggml-backend.cpp of the llama.cpp inside
llama-cpp-python 0.3.36.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

Node: TypeAlias = int
"""A tensor's place on the tape."""


class Mark(NamedTuple):
    """A place on the tape at which one of several equal periods of layers ends."""

    tensors: int
    """So many were recorded before."""
    inputs: int
    """So many were met before."""


class Crossing(NamedTuple):
    """The cutter's state at a mark."""

    on: int | None
    """The device of the piece at hand."""
    arrives: bool
    """Whether it begins with copies."""
    copies: int
    """So many were made before."""


@dataclass(slots=True)
class Tensor:
    """One tensor on the tape."""

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


@dataclass(slots=True)
class Tape:
    """Records a graph.

    Devices are numbers from 0, by the scheduler's priority; the host is the last. A tensor comes
    into the graph when it, or one that is computed from it, is asked for; what it is computed from
    comes before it, first source first. Sizes are bytes.
    """

    host: int
    tensors: list[Tensor] = field(default_factory=list)
    inputs: list[Node] = field(default_factory=list)
    """What the host fills in, in the order in which it is met."""
    order: list[Node] = field(default_factory=list)
    """What is computed; mark i among it as ~i."""
    met: set[Node] = field(default_factory=set)
    packed: dict[Node, tuple[int, Hashable]] = field(default_factory=dict)
    """Weights whose packing is told later: how many, and their kind."""
    marks: list[Mark] = field(default_factory=list)

    def input(self, size: int) -> Node:
        """What the host fills in before the graph runs."""
        return self.add(Tensor(size, self.host))

    def held(self, size: int, on: int) -> Node:
        """A weight or a cache on device `on`. Another device that reads it copies it."""
        return self.add(Tensor(size, on, held=True))

    def held_packed(self, elements: int, kind: Hashable, on: int) -> Node:
        """So many weights on device `on`; how many bytes one of their kind takes is told later."""
        node = self.held(1 if elements else 0, on)
        if elements:
            self.packed[node] = elements, kind
        return node

    def op(
        self, size: int, on: int, *sources: Node, reuses: bool = False, stays: bool = False
    ) -> Node:
        """A tensor computed on device `on`."""
        return self.add(Tensor(size, on, sources, reuses, stays=stays))

    def view(self, source: Node, size: int | None = None) -> Node:
        """Another look at `source`, or at `size` bytes of it."""
        seen = self.tensors[source]
        root = source if seen.root is None else seen.root
        return self.add(Tensor(seen.size if size is None else size, seen.on, (source,), root=root))

    def store(self, on: int, *sources: Node) -> None:
        """Write into a cache on device `on`, now."""
        self.expand(self.add(Tensor(0, on, sources, held=True)))

    def expand(self, node: Node) -> None:
        """Ask for a tensor: it and all that it needs come next, unless they are there.

        Without recursion: layers that ask for nothing in between make long chains.
        """
        waiting = [node]
        while waiting:
            current = waiting.pop()
            if current < 0:  # all that it needs is there
                self._settle(~current)
            elif current not in self.met:
                self.met.add(current)
                waiting.append(~current)
                waiting += reversed(self.tensors[current].sources)

    def _settle(self, node: Node) -> None:
        tensor = self.tensors[node]
        if tensor.sources:
            self.order.append(node)
        elif not tensor.held:
            self.inputs.append(node)

    def mark(self) -> None:
        """Here ends one of several equal periods of layers."""
        self.order.append(~len(self.marks))
        self.marks.append(Mark(len(self.tensors), len(self.inputs)))

    def add(self, tensor: Tensor) -> Node:
        """A place on the tape for `tensor`."""
        self.tensors.append(tensor)
        return len(self.tensors) - 1


@dataclass(slots=True)
class Pieces:
    """A tape cut into pieces of one device each."""

    tape: Tape
    copies: dict[tuple[Node, int], Node] = field(default_factory=dict)
    """Of a tensor on another device; they are tensors of the tape."""
    steps: list[Node] = field(default_factory=list)
    """All of them, each piece led by the copies that it needs; marks as on the tape."""
    crossings: list[Crossing] = field(default_factory=list)
    """Of each mark."""
    early: set[int] = field(default_factory=set)
    """Stretches between marks (the first one 0) that need copies made before they begin."""
    _piece: list[Node] = field(default_factory=list)
    _arrivals: list[Node] = field(default_factory=list)
    _on: int | None = None
    _begun: int = 0
    """The stretch in which the piece at hand began."""

    def add(self, node: Node) -> None:
        """Add a step to the piece at hand, or begin a new one."""
        if node < 0:
            crossing = Crossing(self._on, bool(self._arrivals), len(self.copies))
            self.crossings.append(crossing)
            self._piece.append(node)
            return
        tensors, tensor = self.tape.tensors, self.tape.tensors[node]
        if tensor.root is None:
            foreign = [s for s in tensor.sources if tensors[s].on != tensor.on]
            # a weight that has to come over begins a piece, so that its place is free again after
            heavy = self._arrivals and any(tensors[s].held and tensors[s].size for s in foreign)
            if tensor.on != self._on or heavy:
                self.finish()
                self._on, self._begun = tensor.on, len(self.crossings)
            if foreign:
                for source in foreign:
                    self._bring(source, tensor.on)
                found = (self.copies.get((s, tensor.on), s) for s in tensor.sources)
                tensor.sources = tuple(found)
        self._piece.append(node)

    def _bring(self, source: Node, on: int) -> None:
        """Copy `source` to device `on` at the start of this piece, unless it is there."""
        if (source, on) in self.copies:
            return
        if self._begun != len(self.crossings):
            self.early.add(len(self.crossings))
        copy = self.tape.add(Tensor(self.tape.tensors[source].size, on))
        reading = self.tape.add(Tensor(0, on, (source,), held=True))
        self.copies[source, on] = copy
        self._arrivals += (reading, copy)

    def finish(self) -> None:
        """End the piece at hand."""
        self.steps += (*self._arrivals, *self._piece)
        self._arrivals.clear()
        self._piece.clear()


def cut(tape: Tape) -> Pieces:
    """Cut a tape into pieces. Uses the tape up."""
    pieces = Pieces(tape)
    if tape.host:
        for node in tape.order:
            pieces.add(node)
        pieces.finish()
    else:
        pieces.steps = tape.order
        pieces.crossings = [Crossing(0, arrives=False, copies=0) for _ in tape.marks]
    return pieces
