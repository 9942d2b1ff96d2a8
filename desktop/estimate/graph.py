"""The graph of a prompt's micro-batch, as far as the sizes and lifetimes of its tensors go.

Not what is computed but what has to lie in memory at once. Source: llama-graph.cpp and src/models
of the llama.cpp inside llama-cpp-python 0.3.36. Operations that work in place are left out.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from desktop.estimate.cache import CACHELESS
from desktop.estimate.scratch import Node, Tape
from desktop.estimate.use import BLOCK_ELEMENTS, batch_tokens, cells, window_cells
from desktop.records.estimate import Use
from desktop.records.model import Attention, LayerGroup, Model, WeightUse

_TURNED: Final = 64
_WITHOUT_MASK: Final = frozenset({Attention.RECURRENT, Attention.NONE})


class Place(NamedTuple):
    """Devices of a layer: where it is computed, and where its weights, experts and cache lie."""

    compute: int
    weights: int
    experts: int
    cache: int


class Layer(NamedTuple):
    """A layer to record."""

    group: LayerGroup
    place: Place
    early: bool = False
    """Among the first, where a model's first layers differ in what no group tells."""
    ends: bool = False
    """One of several equal periods of layers ends with it."""


class Mask(NamedTuple):
    """What attention is told of one cache: which cells count, and where new ones go."""

    cells: int
    mask: Node
    keys: Node
    values: Node
    key_turn: Node | None
    """Packed caches rotate keys and values before they store them."""
    value_turn: Node | None


@dataclass(slots=True)
class Graph:
    """A graph under construction."""

    tape: Tape
    model: Model
    use: Use
    place: Place
    packed: frozenset[WeightUse] = frozenset()
    """Uses whose weights have a size: a device that does not hold a matrix copies it."""
    positions: Node | None = None
    scales: Node | None = None
    """Of the queries of full layers, by position."""
    masks: dict[bool, Mask] = field(default_factory=dict)
    """Of full and (True) of sliding layers."""
    widest_value: int = 0
    """Elements of the widest layer's values of one token."""
    states: tuple[Node, Node] | None = None
    """Which sequences' states are meant, and which are left as they are: none."""
    indexed_layers: int = 0
    """Layers with an indexer in the whole model."""
    index_mask: Node | None = None
    zeros: Node | None = None
    """What their masks are opened with."""
    rows: Node | None = None
    """Which tokens give outputs."""
    tokens: int = field(init=False)
    """Of the micro-batch, a whole number for each sequence."""

    def __post_init__(self) -> None:
        sequences = self.use.sequences
        self.tokens = -(-batch_tokens(self.use) // sequences) * sequences

    @property
    def cacheless(self) -> bool:
        """Whether tokens see only those of their own micro-batch."""
        return self.model.architecture in CACHELESS

    def op(self, width: int, *sources: Node, reuses: bool = False) -> Node:
        """A tensor of `width` f32 numbers for each token."""
        size = 4 * width * self.tokens
        return self.tape.op(size, self.place.compute, *sources, reuses=reuses)

    def sized(self, size: int, *sources: Node, reuses: bool = False) -> Node:
        """A tensor of `size` bytes."""
        return self.tape.op(size, self.place.compute, *sources, reuses=reuses)

    def product(
        self, width: int, source: Node, use: WeightUse, *chosen: Node, weights: int | None = None
    ) -> Node:
        """A product with a matrix; with experts' matrices, the `chosen` ones.

        Args:
            width: elements for each token.
            source: what is multiplied.
            use: the matrix's.
            chosen: which experts.
            weights: the matrix's; by default it turns all of `source` into `width` elements.
        """
        at = self.place.experts if use is WeightUse.EXPERTS else self.place.weights
        if at == self.place.compute:
            return self.op(width, source, *chosen)
        if weights is None:
            weights = self.tape.tensors[source].size // (4 * self.tokens) * width
        matrix = self.tape.held_packed(weights if use in self.packed else 0, use, at)
        return self.op(width, matrix, source, *chosen)

    def vector(self, numbers: int) -> tuple[Node, ...]:
        """So many f32 numbers, where they have to be copied; else nothing."""
        if self.place.weights == self.place.compute:
            return ()
        return (self.tape.held(4 * numbers, self.place.weights),)

    def scaled(self, width: int, source: Node, numbers: int) -> Node:
        """`source` times, or plus, a vector. It is in place: only a copied vector shows."""
        vector = self.vector(numbers)
        return self.in_place(width, source, *vector) if vector else source

    def in_place(self, width: int, *sources: Node) -> Node:
        """A tensor that takes the place of the first source that nobody else needs."""
        return self.op(width, *sources, reuses=True)

    def view(self, source: Node) -> Node:
        """Another look at `source`."""
        return self.tape.view(source)

    def mask(self, group: LayerGroup) -> Mask:
        """The mask of a layer with attention."""
        return self.masks[group.attention is Attention.SLIDING]

    def prepare_masks(self, layers: tuple[LayerGroup, ...]) -> None:
        """Make the inputs of attention: one set for full layers, one for sliding ones."""
        for slides in (False, True):
            attending = [g for g in layers if g.attention not in _WITHOUT_MASK]
            kinds = [g for g in attending if (g.attention is Attention.SLIDING) is slides]
            if kinds:
                self.masks[slides] = self._mask(kinds)

    def _mask(self, layers: list[LayerGroup]) -> Mask:
        """Indices are i64; without flash attention each element of a value has one."""
        flash, window = self.use.flash_attention, layers[-1].window
        slides = layers[-1].attention is Attention.SLIDING
        count = window_cells(self.use, window or 0) if slides else cells(self.use)
        count = self.tokens if self.cacheless else count
        mask = self.tape.input((2 if flash else 4) * count * self.tokens)
        places = self.tokens * (1 if flash else self.widest_value)
        key = self._turn(self.use.cache_key_type, {g.key_size for g in layers})
        value = self._turn(self.use.cache_value_type, {g.value_size for g in layers}, _TURNED)
        keys, values = self.tape.input(8 * self.tokens), self.tape.input(8 * places)
        return Mask(count, mask, keys, values, key, value)

    def _turn(self, kind: str, sizes: set[int | None], most: int | None = None) -> Node | None:
        """A rotation, where the cache is packed and all heads are one multiple of 64 elements."""
        size = sizes.pop() if len(sizes) == 1 else None
        if BLOCK_ELEMENTS[kind] == 1 or not size or size % _TURNED:
            return None
        side = most or size & -size
        return self.tape.input(4 * side * side)
