"""Gemma 3n: four streams instead of one, a small side path, and sparse first layers.

Source: src/models/gemma3n.cpp of the llama.cpp inside llama-cpp-python 0.3.36.
"""

from collections.abc import Sequence
from typing import Final

from desktop.estimate.graph import Graph, Layer, Place
from desktop.estimate.graph_attention import attention
from desktop.estimate.scratch import Node
from desktop.records.model import LayerGroup, WeightUse

_STREAMS: Final = 4
_SIDE_RANK: Final = 64
SPARSE_LAYERS: Final = 10
"""So many layers, the first ones, are sparse."""
_DENSE: Final = WeightUse.FEED_FORWARD
_OTHER: Final = WeightUse.OTHER


def through_streams(
    graph: Graph,
    layers: Sequence[Layer],
    stream: Node,
    inputs: Node,
    output: Place,
) -> Node:
    """All layers, from the embedding to the rows that give outputs.

    Args:
        graph: the graph.
        layers: the layers, each with its devices; the early ones are sparse.
        stream: the embedding.
        inputs: the per-layer embeddings of all layers.
        output: where what is outside the layers lies.
    """
    graph.place = output
    streams = _opened(graph, stream)
    for layer in layers:
        graph.place = layer.place
        streams = _layer(graph, layer.group, streams, inputs, sparse=layer.early)
        if layer.ends:
            graph.tape.mark()
    graph.place = output
    rows = () if graph.rows is None else (graph.rows,)
    return graph.op(graph.model.hidden, _merged(graph, streams), *rows)


def _opened(graph: Graph, stream: Node) -> Node:
    """All streams from the first one."""
    others = (_STREAMS - 1) * graph.model.hidden
    square = graph.model.hidden * others
    added = graph.product(others, graph.op(others, stream), _OTHER, weights=square)
    even = _evened(graph, added, _magnitude(graph, 1, stream))
    return graph.op(_STREAMS * graph.model.hidden, stream, even)


def _merged(graph: Graph, streams: Node) -> Node:
    """One stream from all."""
    hidden = graph.model.hidden
    target = _magnitude(graph, 1, graph.view(streams))
    width = (_STREAMS - 1) * hidden
    others = graph.product(width, graph.view(streams), _OTHER, weights=hidden * width)
    even = _evened(graph, others, target)
    total = graph.view(streams)
    for _ in range(_STREAMS - 1):
        total = graph.in_place(hidden, total, graph.view(even))
    return total


def _layer(graph: Graph, group: LayerGroup, streams: Node, inputs: Node, *, sparse: bool) -> Node:
    hidden = graph.model.hidden
    foretold = _foretold(graph, streams)
    active = graph.view(foretold)
    normed = graph.op(hidden, active)
    out = graph.in_place(hidden, attention(graph, group, normed))
    out = graph.in_place(hidden, out, active)
    side = graph.product(hidden, graph.product(_SIDE_RANK, normed, _OTHER), _OTHER)
    mixed = graph.in_place(hidden, out, graph.in_place(hidden, side, normed))
    inner = _feed_forward(graph, group, graph.in_place(hidden, mixed), sparse=sparse)
    done = graph.in_place(hidden, inner, mixed)
    right = _corrected(graph, foretold, done)
    first = _with_input(graph, graph.view(right), inputs)
    others = graph.op((_STREAMS - 1) * hidden, graph.view(right), first)
    return graph.op(_STREAMS * hidden, graph.view(right), others)


def _magnitude(graph: Graph, streams: int, vectors: Node) -> Node:
    """One number a token and stream; it is first squared."""
    return graph.op(streams, graph.in_place(streams * graph.model.hidden, vectors))


def _evened(graph: Graph, others: Node, target: Node) -> Node:
    """Streams of the magnitude of the first one."""
    width = (_STREAMS - 1) * graph.model.hidden
    scaled = graph.in_place(width, others, target)
    return graph.in_place(width, scaled, _magnitude(graph, _STREAMS - 1, others))


def _weighed(graph: Graph, vector: Node) -> Node:
    """How much each stream counts for a token."""
    normed = graph.in_place(graph.model.hidden, vector)
    return graph.product(_STREAMS, normed, _OTHER, weights=_STREAMS * graph.model.hidden)


def _foretold(graph: Graph, streams: Node) -> Node:
    """What the streams become, as a mixture of themselves."""
    all_streams = _STREAMS * graph.model.hidden
    turned = graph.op(all_streams, graph.view(streams))
    shares = graph.product(_STREAMS**2, _weighed(graph, graph.view(streams)), _OTHER)
    mixed = graph.op(all_streams, turned, graph.view(shares))
    return graph.in_place(all_streams, graph.op(all_streams, graph.view(mixed)), streams)


def _corrected(graph: Graph, foretold: Node, done: Node) -> Node:
    """The streams, by how far the layer's result is from what was foretold."""
    all_streams = _STREAMS * graph.model.hidden
    new = graph.in_place(graph.model.hidden, done, graph.view(foretold))
    repeated = graph.op(all_streams, new)
    shares = graph.product(_STREAMS, _weighed(graph, done), _OTHER)
    shares = graph.op(_STREAMS, graph.view(shares))
    return graph.in_place(all_streams, graph.in_place(all_streams, repeated, shares), foretold)


def _feed_forward(graph: Graph, group: LayerGroup, source: Node, *, sparse: bool) -> Node:
    width = group.feed_forward or 0
    up, gate = graph.product(width, source, _DENSE), graph.product(width, source, _DENSE)
    if sparse:
        mean = graph.op(1, gate)
        apart = graph.op(1, graph.in_place(width, gate, mean))
        gate = graph.in_place(width, gate, graph.in_place(1, mean, apart))
    inner = graph.in_place(width, up, gate)
    return graph.in_place(graph.model.hidden, graph.product(graph.model.hidden, inner, _DENSE))


def _with_input(graph: Graph, first: Node, inputs: Node) -> Node:
    """What the layer's own embedding adds."""
    hidden, width = graph.model.hidden, graph.model.per_layer_embedding or 0
    gate = graph.product(width, graph.in_place(hidden, first), _OTHER)
    gated = graph.in_place(width, gate, graph.tape.view(inputs, 4 * width * graph.tokens))
    return graph.in_place(hidden, graph.product(hidden, gated, _OTHER))
