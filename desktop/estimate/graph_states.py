"""What a recurrent layer has to have in memory at once."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from desktop.estimate.graph import Graph
from desktop.estimate.graph_traits import UNNORMED_STATES
from desktop.estimate.scratch import Node
from desktop.records.model import Recurrent, WeightUse

_RECURRENT = WeightUse.RECURRENT
_Layer: TypeAlias = Callable[[Graph, Recurrent, Node], Node]


def recurrent(graph: Graph, state: Recurrent, source: Node) -> Node:
    """A recurrent layer on the normed `source`, with its output matrix."""
    return _LAYERS[state.kind](graph, state, source)


def _taken(graph: Graph, elements: int) -> Node:
    """A state of each sequence, taken from the cache."""
    size = 4 * elements * graph.use.sequences
    kept = graph.tape.held(size, graph.place.cache)
    node = graph.tape.op(size, graph.place.cache, kept, *(graph.states or ())[:1])
    graph.tape.expand(node)
    _rest(graph, kept)
    return node


def _rest(graph: Graph, kept: Node) -> None:
    """Keep the states of all other sequences, of which there are none: that, too, has a place."""
    home = graph.place.cache
    graph.tape.store(home, graph.tape.op(0, home, kept, *(graph.states or ())[1:]))


def _convolved(graph: Graph, width: int, kernel: int, past: Node, new: Node) -> Node:
    """A short convolution over the tokens before and the new ones; the last are kept."""
    size = 4 * width * (graph.tokens + (kernel - 1) * graph.use.sequences)
    line = graph.sized(size, past, graph.view(new))
    graph.tape.store(graph.place.cache, graph.view(line))
    return line


def _scanned(graph: Graph, inner: int, elements: int, *sources: Node) -> Node:
    """The outputs of all tokens and the new state, which is kept; a view of the outputs."""
    size = 4 * (inner * graph.tokens + elements * graph.use.sequences)
    return _stored(graph, inner, graph.sized(size, *sources))


def _scanned_in_cache(graph: Graph, inner: int, elements: int, *sources: Node) -> Node:
    """The same, of the state as it lies in the cache; cards do not take it over for the host."""
    kept = graph.tape.held(4 * elements * graph.use.sequences, graph.place.cache)
    size = 4 * (inner * graph.tokens + elements * graph.use.sequences)
    which = (graph.states or ())[:1]
    both = graph.tape.op(size, graph.place.weights, kept, *sources, *which)
    graph.tape.expand(both)
    _rest(graph, kept)
    return _stored(graph, inner, both)


def _stored(graph: Graph, inner: int, both: Node) -> Node:
    graph.tape.store(graph.place.cache, graph.view(both))
    return graph.tape.view(both, 4 * inner * graph.tokens)


def _delta(graph: Graph, state: Recurrent, source: Node) -> Node:
    """A gated delta net (Qwen 3 Next, Qwen 3.5)."""
    inner, size = state.inner_size or 0, state.state_size or 0
    heads, keys = state.time_step_rank or 0, (state.groups or 0) * size
    width, kernel = inner + 2 * keys, state.conv_kernel or 1
    graph.tape.expand(source)
    gate = graph.product(inner, source, _RECURRENT)
    mixed = graph.product(width, source, _RECURRENT)
    line = _convolved(graph, width, kernel, _taken(graph, (kernel - 1) * width), mixed)
    past = _taken(graph, size * inner)
    smooth = graph.in_place(width, graph.op(width, line, *graph.vector(kernel * width)))
    query, key = graph.op(keys, graph.view(smooth)), graph.op(keys, graph.view(smooth))
    decay = graph.scaled(heads, graph.product(heads, source, _RECURRENT), heads)
    decay = graph.scaled(heads, graph.in_place(heads, decay), heads)
    strength = graph.in_place(heads, graph.product(heads, source, _RECURRENT))
    value = graph.view(smooth)
    out = _scanned(graph, inner, size * inner, query, key, value, decay, strength, past)
    out = graph.scaled(inner, graph.op(inner, out), size)
    out = graph.in_place(inner, out, graph.op(inner, graph.view(gate)))
    return graph.view(graph.product(graph.model.hidden, graph.view(out), _RECURRENT))


def _kimi(graph: Graph, state: Recurrent, source: Node) -> Node:
    """Kimi's delta attention."""
    heads, size, kernel = state.time_step_rank or 0, state.head_size or 0, state.conv_kernel or 1
    inner = heads * size
    graph.tape.expand(source)
    pasts = _taken(graph, 3 * (kernel - 1) * inner)
    parts = []
    for _ in range(3):
        new = graph.product(inner, source, _RECURRENT)
        line = _convolved(graph, inner, kernel, graph.view(pasts), new)
        parts.append(graph.in_place(inner, graph.op(inner, line)))
    decay = graph.product(inner, graph.product(size, source, _RECURRENT), _RECURRENT)
    strength = graph.product(heads, source, _RECURRENT)
    past = _taken(graph, size * inner)
    query, key = graph.op(inner, graph.view(parts[0])), graph.op(inner, graph.view(parts[1]))
    out = _scanned(graph, inner, size * inner, query, key, parts[2], decay, strength, past)
    out = graph.op(inner, out)
    gate = graph.product(inner, graph.product(size, source, _RECURRENT), _RECURRENT)
    out = graph.in_place(inner, graph.op(inner, graph.view(out)), graph.op(inner, graph.view(gate)))
    return graph.product(graph.model.hidden, graph.op(inner, out), _RECURRENT)


def _mamba(graph: Graph, state: Recurrent, source: Node) -> Node:
    inner, size, kernel = state.inner_size or 0, state.state_size or 0, state.conv_kernel or 1
    rank = state.time_step_rank or 0
    past = _taken(graph, (kernel - 1) * inner)
    both = graph.product(2 * inner, graph.view(source), _RECURRENT)
    smooth = _smoothed(graph, inner, kernel, past, both)
    parts = graph.product(rank + 2 * size, smooth, _RECURRENT)
    step = graph.op(rank, graph.view(parts))
    step = graph.scaled(inner, graph.product(inner, step, _RECURRENT), inner)
    step = graph.in_place(inner, step)
    sources = (graph.view(smooth), step, graph.view(parts), graph.view(parts))
    out = _scanned_in_cache(graph, inner, size * inner, *sources)
    past = graph.in_place(inner, smooth, *graph.vector(inner))
    out = _gated(graph, inner, (out, past), both)
    return graph.view(graph.product(graph.model.hidden, out, _RECURRENT))


def _mamba2(graph: Graph, state: Recurrent, source: Node) -> Node:
    inner, size, kernel = state.inner_size or 0, state.state_size or 0, state.conv_kernel or 1
    heads, groups = state.time_step_rank or 0, state.groups or 0
    width = inner + 2 * groups * size
    past = _taken(graph, (kernel - 1) * width)
    both = graph.product(inner + width + heads, source, _RECURRENT)
    smooth = _smoothed(graph, width, kernel, past, both)
    step = graph.scaled(heads, graph.op(heads, graph.view(both)), heads)
    sources = (graph.view(smooth), step, graph.view(smooth), graph.view(smooth))
    out = _scanned_in_cache(graph, inner, size * inner, *sources)
    past = graph.op(inner, graph.view(smooth), *graph.vector(heads))
    gated = graph.view(_gated(graph, inner, (out, past), both))
    if graph.model.architecture not in UNNORMED_STATES:
        gated = graph.view(graph.scaled(inner, graph.op(inner, gated), inner))
    return graph.product(graph.model.hidden, gated, _RECURRENT)


def _smoothed(graph: Graph, width: int, kernel: int, past: Node, new: Node) -> Node:
    """The convolution, its bias and what follows in place."""
    line = _convolved(graph, width, kernel, past, new)
    smooth = graph.op(width, line, *graph.vector(kernel * width))
    return graph.in_place(width, graph.scaled(width, smooth, width))


def _gated(graph: Graph, inner: int, parts: tuple[Node, Node], both: Node) -> Node:
    """The scan's outputs and what goes past it, times the gate."""
    total = graph.in_place(inner, *parts)
    return graph.op(inner, graph.op(inner, graph.view(both)), total)


def _short(graph: Graph, state: Recurrent, source: Node) -> Node:
    """A gated short convolution (LFM2)."""
    hidden, kernel = graph.model.hidden, state.conv_kernel or 1
    parts = graph.product(3 * hidden, graph.view(source), _RECURRENT)
    new = graph.op(hidden, graph.view(parts), graph.view(parts))
    past = _taken(graph, (kernel - 1) * hidden)
    line = _convolved(graph, hidden, kernel, past, new)
    smooth = graph.op(hidden, line, *graph.vector(kernel * hidden))
    out = graph.in_place(hidden, graph.view(parts), smooth)
    return graph.product(hidden, out, _RECURRENT)


def _rwkv(graph: Graph, state: Recurrent, source: Node) -> Node:
    """RWKV's time mixing: about eight vectors of the hidden size side by side."""
    hidden, size = graph.model.hidden, state.head_size or 0
    shifted = graph.op(hidden, source, _taken(graph, (state.shifts or 0) * hidden))
    parts = [graph.product(hidden, shifted, _RECURRENT) for _ in range(6)]
    out = _scanned(graph, hidden, size * hidden, *parts, _taken(graph, size * hidden))
    return graph.product(hidden, graph.op(hidden, out), _RECURRENT)


def _lightning(graph: Graph, state: Recurrent, source: Node) -> Node:
    """MiniMax's lightning attention: queries, keys, values and a gate."""
    size, heads = state.head_size or 0, state.time_step_rank or 0
    inner = size * heads
    parts = graph.in_place(3 * inner, graph.product(3 * inner, source, _RECURRENT))
    views = (graph.op(inner, graph.view(parts)) for _ in range(3))
    out = _scanned(graph, inner, size * inner, *views, _taken(graph, size * inner))
    gate = graph.in_place(inner, graph.product(inner, source, _RECURRENT))
    out = graph.in_place(inner, graph.op(inner, out), gate)
    return graph.product(graph.model.hidden, out, _RECURRENT)


_LAYERS: Final[Mapping[str, _Layer]] = MappingProxyType(
    {
        "gated_delta_net": _delta,
        "kimi_delta": _kimi,
        "lightning": _lightning,
        "mamba": _mamba,
        "mamba2": _mamba2,
        "rwkv": _rwkv,
        "short_conv": _short,
    }
)
KINDS: Final = frozenset(_LAYERS)
"""Of `Recurrent`."""
