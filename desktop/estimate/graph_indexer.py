"""The indexer of sparse attention (DeepSeek 3.2, GLM 5): it picks the cells that count."""

from typing import Final

from desktop.estimate.graph import Graph
from desktop.estimate.scratch import Node
from desktop.records.model import LayerGroup, WeightUse

_HEADS: Final = 64
"""Of the indexer, in all published models."""
_CHOSEN: Final = 2048
"""Cells that each token picks at most, in all published models."""
_ATTENTION: Final = WeightUse.ATTENTION


def indexed_mask(graph: Graph, group: LayerGroup, source: Node, base: Node) -> Node:
    """The mask of a layer with only the cells open that each token has picked."""
    mask, size = graph.mask(group), group.indexer_size or 0
    key = graph.op(size, graph.op(size, graph.product(size, source, _ATTENTION)))
    graph.tape.store(graph.place.cache, graph.view(graph.op(size, key)), mask.keys)
    query = graph.product(_HEADS * size, base, _ATTENTION)
    query = graph.op(_HEADS * size, graph.op(_HEADS * size, graph.view(query)))
    weights = graph.product(_HEADS, source, _ATTENTION)
    if graph.index_mask is None:
        graph.index_mask = graph.tape.input(2 * mask.cells * graph.tokens)
    sources = (graph.view(query), graph.view(weights), graph.index_mask)
    scores = graph.sized(4 * mask.cells * graph.tokens, *sources)
    picked = min(mask.cells, _CHOSEN)
    chosen = graph.op(picked, graph.op(picked, scores))
    room = graph.tape.tensors[mask.mask].size
    closed = graph.sized(room, mask.mask)
    if graph.zeros is None:
        # those of all layers lie there from the start
        graph.zeros = graph.tape.input(4 * picked * graph.tokens * graph.indexed_layers)
    opened = graph.op(0, graph.zeros, graph.view(chosen), graph.view(closed))
    return graph.sized(room, opened, graph.view(closed), mask.mask)
