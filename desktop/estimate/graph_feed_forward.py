"""What the feed-forward part of a layer has to have in memory at once."""

from desktop.estimate.graph import Graph
from desktop.estimate.graph_traits import (
    BIASED_ROUTERS,
    PAIRED,
    PAIRED_EXPERTS,
    PLAIN_ROUTERS,
    SHARED_GATE,
)
from desktop.estimate.scratch import Node
from desktop.records.model import LayerGroup, WeightUse

_DENSE = WeightUse.FEED_FORWARD
_EXPERTS = WeightUse.EXPERTS


def feed_forward(graph: Graph, group: LayerGroup, source: Node) -> Node:
    """The whole feed-forward part of a layer on the normed `source`."""
    dense = group.feed_forward
    if not group.experts:
        return _dense(graph, dense or 0, source, gated=group.gated)
    beside = group.shared_feed_forward
    if dense:
        first = _dense(graph, dense, source, gated=group.gated)
        return graph.in_place(graph.model.hidden, first, _mixture(graph, group, source))
    out = _mixture(graph, group, source)
    if not beside:
        return out
    shared = _dense(graph, beside, source, gated=group.gated)
    if graph.model.architecture in SHARED_GATE:
        gate = graph.in_place(1, graph.product(1, source, WeightUse.OTHER))
        shared = graph.in_place(graph.model.hidden, shared, gate)
    return graph.in_place(graph.model.hidden, out, shared)


def separately_normed(graph: Graph, group: LayerGroup, stream: Node) -> Node:
    """Gemma 4: a dense part and experts that read the stream through norms of their own."""
    hidden = graph.model.hidden
    source = graph.in_place(hidden, stream)
    dense = _dense(graph, group.feed_forward or 0, source, gated=group.gated)
    source, routed = graph.in_place(hidden, stream), graph.in_place(hidden, stream)
    experts = _mixture(graph, group, source, routed)
    return graph.in_place(hidden, graph.in_place(hidden, dense), graph.in_place(hidden, experts))


def _dense(graph: Graph, width: int, source: Node, *, gated: bool) -> Node:
    if graph.model.architecture in PAIRED:
        inner = graph.op(width, graph.product(2 * width, source, _DENSE))
    elif gated:
        gate = graph.product(width, source, _DENSE)
        inner = graph.op(width, gate, graph.product(width, source, _DENSE))
    else:
        inner = graph.in_place(width, graph.product(width, source, _DENSE))
    return graph.product(graph.model.hidden, inner, _DENSE)


def _mixture(graph: Graph, group: LayerGroup, source: Node, routed: Node | None = None) -> Node:
    """The chosen experts of each token, side by side, then summed up."""
    hidden, used = graph.model.hidden, group.experts_used or 1
    before = graph.model.architecture == "llama4"
    chosen, weights = _routed(graph, group, source if routed is None else routed)
    spread = graph.view(source)
    if before:
        spread = graph.in_place(hidden * used, graph.op(hidden * used, spread), weights)
    outs = _experts(graph, group, spread, chosen)
    if not before:
        outs = graph.in_place(hidden * used, outs, weights)
    graph.tape.expand(outs)
    parts = [graph.view(outs) for _ in range(used)]
    for part in parts:
        graph.tape.expand(part)
    total = parts[0]
    for part in parts[1:]:
        total = graph.in_place(hidden, total, part)
        graph.tape.expand(total)
    return total if used > 1 else graph.op(hidden, total)


def _routed(graph: Graph, group: LayerGroup, source: Node) -> tuple[Node, Node]:
    """Which experts each token takes, and with what weights."""
    experts, used = group.experts or 0, group.experts_used or 1
    scores = graph.in_place(experts, graph.product(experts, source, WeightUse.OTHER))
    biased = graph.model.architecture in BIASED_ROUTERS
    ranked = graph.op(experts, scores) if biased else scores
    chosen = graph.view(graph.op(experts, ranked))
    weights = graph.op(used, graph.view(scores), chosen)
    if graph.model.architecture not in PLAIN_ROUTERS:
        flat = graph.view(weights)
        sums = () if graph.model.architecture == "gpt-oss" else (graph.op(1, flat),)
        weights = graph.op(used, flat, *sums)
    graph.tape.expand(weights)
    return chosen, graph.view(weights)


def _experts(graph: Graph, group: LayerGroup, source: Node, chosen: Node) -> Node:
    used, hidden = group.experts_used or 1, graph.model.hidden
    width = used * (group.expert_feed_forward or 0)
    stack = hidden * (group.expert_feed_forward or 0) * (group.experts or 0)

    def product(width: int, source: Node, weights: int = stack) -> Node:
        return graph.product(width, source, _EXPERTS, chosen, weights=weights)

    if graph.model.architecture in PAIRED_EXPERTS:
        both = product(2 * width, source, 2 * stack)
        outs = product(hidden * used, graph.op(width, graph.view(both)))
        return graph.in_place(hidden * used, outs, _scales(graph, group, chosen))
    first = product(width, source)
    if group.gated:
        inner = graph.op(width, first, product(width, source))
    else:
        inner = graph.in_place(width, first)
    return product(hidden * used, inner)


def _scales(graph: Graph, group: LayerGroup, chosen: Node) -> Node:
    """A number for each expert, repeated for each token; then those of the chosen ones."""
    table = graph.tape.held(0, graph.place.compute)
    repeated = graph.op(group.experts or 0, table)
    return graph.view(graph.op(group.experts_used or 1, graph.view(repeated), chosen))
