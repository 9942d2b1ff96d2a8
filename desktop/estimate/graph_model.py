"""The whole graph of a model: embedding, layers, output."""

from collections.abc import Sequence

from desktop.errors import GramError
from desktop.estimate.graph import Graph, Layer, Place
from desktop.estimate.graph_attention import attention
from desktop.estimate.graph_feed_forward import feed_forward, separately_normed
from desktop.estimate.graph_states import KINDS, recurrent
from desktop.estimate.graph_streams import through_streams
from desktop.estimate.graph_traits import (
    BARE,
    ENCODERS,
    LATE_ROWS,
    LAYER_NORMS,
    MANY_POSITIONS,
    PARALLEL,
    RESIDUAL_FIRST,
    RESIDUAL_FIRST_LATER,
    SANDWICHED,
    SCALED_EMBEDDING,
    SCALED_QUERIES,
    SEPARATELY_NORMED,
)
from desktop.estimate.scratch import Node, Tape
from desktop.records.model import Attention, LayerGroup, Model, WeightUse

_ATTENDING = frozenset({Attention.FULL, Attention.SLIDING, Attention.LATENT})


def record(graph: Graph, layers: Sequence[Layer]) -> Tape:
    """Record the graph of one micro-batch.

    Args:
        graph: the graph to fill, its place that of the output matrix.
        layers: the layers, each with its devices.

    Raises:
        GramError: `layers_unclear` for a layer that the architecture's graph cannot have.
    """
    _check(graph.model, [layer.group for layer in layers])
    output, host, model = graph.place, graph.tape.host, graph.model
    graph.place = Place(host, host, host, host)
    first = layers[0].place
    stream = _embedded(graph, first)
    per_layer = _per_layer_inputs(graph, stream, first) if model.per_layer_embedding else None
    _prepare(graph, tuple(layer.group for layer in layers))
    if model.architecture == "gemma3n" and per_layer is not None:
        stream = through_streams(graph, layers, stream, per_layer, output)
    else:
        stream = _through(graph, layers, stream, per_layer)
    graph.place = output
    _output(graph, stream)
    return graph.tape


def _check(model: Model, layers: Sequence[LayerGroup]) -> None:
    """Some graphs attend in every layer; and states come in so many kinds."""
    always = model.architecture in ENCODERS or model.architecture == "gemma3n"
    if always and any(group.attention not in _ATTENDING for group in layers):
        detail = "a layer has no attention"
        raise GramError("layers_unclear", name=model.name, detail=detail)
    unknown = [g.recurrent.kind for g in layers if g.recurrent and g.recurrent.kind not in KINDS]
    if unknown:
        detail = f"a state of the kind {unknown[0]} is not known"
        raise GramError("layers_unclear", name=model.name, detail=detail)


def _through(graph: Graph, layers: Sequence[Layer], stream: Node, per_layer: Node | None) -> Node:
    for i, layer in enumerate(layers):
        graph.place = layer.place
        last = i == len(layers) - 1 and graph.model.architecture not in LATE_ROWS
        stream = _layer(graph, layer.group, stream, last=last)
        if per_layer is not None:
            stream = _with_per_layer_input(graph, stream, per_layer)
        if layer.ends:
            graph.tape.mark()
    return stream


def _per_layer_inputs(graph: Graph, stream: Node, first: Place) -> Node:
    """Gemma's per-layer embeddings: a lookup and a projection, mixed, for all layers at once."""
    width = (graph.model.per_layer_embedding or 0) * graph.model.layers
    looked_up = graph.op(width, graph.tape.input(4 * graph.tokens))
    home, graph.place = graph.place, first
    looked_up = graph.in_place(width, graph.view(looked_up))
    graph.tape.expand(looked_up)
    projected = graph.product(width, stream, WeightUse.OTHER)
    mixed = graph.in_place(width, graph.op(width, graph.view(projected)), looked_up)
    turned = graph.op(width, graph.view(mixed))
    graph.place = home
    return turned


def _with_per_layer_input(graph: Graph, stream: Node, inputs: Node) -> Node:
    """What a layer adds of its own input."""
    hidden, width = graph.model.hidden, graph.model.per_layer_embedding or 0
    gate = graph.in_place(width, graph.product(width, stream, WeightUse.OTHER))
    gated = graph.in_place(width, gate, graph.tape.view(inputs, 4 * width * graph.tokens))
    return graph.in_place(
        hidden, stream, _norm(graph, graph.product(hidden, gated, WeightUse.OTHER))
    )


def _prepare(graph: Graph, kinds: tuple[LayerGroup, ...]) -> None:
    """Make the inputs that layers of these kinds read."""
    model = graph.model
    if any(group.attention in _ATTENDING for group in kinds):
        positions = 4 if model.architecture in MANY_POSITIONS else 1
        graph.positions = graph.tape.input(4 * graph.tokens * positions)
        graph.prepare_masks(kinds)
        graph.scales = (
            graph.tape.input(4 * graph.tokens) if model.architecture in SCALED_QUERIES else None
        )
        graph.indexed_layers = sum(g.layers for g in model.groups if g.indexer_size)
    if any(group.recurrent for group in kinds):
        states = graph.tape.input(4 * graph.use.sequences)
        graph.states = graph.view(states), graph.tape.view(states, 0)
    graph.rows = graph.tape.input(4 * graph.tokens)


def _embedded(graph: Graph, first: Place) -> Node:
    """The lookup; and room for embeddings that are given instead. Scaled where `first` is."""
    hidden = graph.model.hidden
    stream = graph.op(hidden, graph.tape.input(4 * graph.tokens))
    graph.tape.expand(stream)
    graph.tape.expand(graph.tape.input(4 * hidden * graph.tokens))
    if graph.model.architecture in SCALED_EMBEDDING:
        home, graph.place = graph.place, first
        stream = graph.in_place(hidden, stream)
        graph.place = home
        if not graph.model.architecture.startswith("gemma"):  # which do it later
            graph.tape.expand(stream)
    return stream


def _layer(graph: Graph, group: LayerGroup, stream: Node, *, last: bool) -> Node:
    architecture = graph.model.architecture
    if architecture in ENCODERS:
        return _encoder_layer(graph, group, stream, last=last)
    normed = stream if architecture in BARE else _norm(graph, stream)
    mixed = _mixed(graph, group, normed, stream)
    if mixed is None:
        return graph.in_place(graph.model.hidden, feed_forward(graph, group, normed), stream)
    if architecture in PARALLEL:
        return _side_by_side(graph, group, (stream, normed, mixed), last=last)
    both = group.attention in _ATTENDING and group.recurrent is not None
    if last and not both:
        mixed, stream = _picked(graph, mixed), _picked(graph, stream)
    if architecture in SANDWICHED | BARE:
        mixed = _norm(graph, mixed)
    stream = _sum(graph, mixed, stream, first=RESIDUAL_FIRST)
    if last and both:
        stream = _picked(graph, stream)
    if not (group.feed_forward or group.experts):
        return stream
    if group.experts and architecture in SEPARATELY_NORMED:
        inner = separately_normed(graph, group, stream)
    else:
        source = stream if architecture in BARE else _norm(graph, stream)
        inner = feed_forward(graph, group, source)
    if architecture in SANDWICHED | BARE:
        inner = _norm(graph, inner)
    return _sum(graph, inner, stream, first=RESIDUAL_FIRST_LATER)


def _encoder_layer(graph: Graph, group: LayerGroup, stream: Node, *, last: bool) -> Node:
    hidden = graph.model.hidden
    mixed = attention(graph, group, stream)
    if last:
        mixed, stream = _picked(graph, mixed), _picked(graph, stream)
    stream = _norm(graph, graph.in_place(hidden, mixed, stream))
    return _norm(graph, graph.in_place(hidden, feed_forward(graph, group, stream), stream))


def _mixed(graph: Graph, group: LayerGroup, normed: Node, stream: Node) -> Node | None:
    """What a layer takes from other tokens; None where it has no such part."""
    out: Node | None = None
    if group.attention in _ATTENDING:
        out = attention(graph, group, normed)
    if group.recurrent:
        if out is not None:
            normed = _norm(graph, stream)
        state = recurrent(graph, group.recurrent, normed)
        out = state if out is None else graph.in_place(graph.model.hidden, out, state)
    return out


def _side_by_side(
    graph: Graph, group: LayerGroup, nodes: tuple[Node, Node, Node], *, last: bool
) -> Node:
    """Attention and the feed-forward part of the same norm, added to the stream."""
    if last:
        stream, normed, mixed = (_picked(graph, node) for node in nodes)
    else:
        stream, normed, mixed = nodes
    hidden = graph.model.hidden
    total = graph.in_place(hidden, feed_forward(graph, group, normed), stream)
    return graph.in_place(hidden, total, mixed)


def _norm(graph: Graph, source: Node) -> Node:
    """A norm. Where the next card takes over, the one before still computes the first step."""
    hidden = graph.model.hidden
    before = graph.tape.tensors[source].on
    if before not in {graph.place.compute, graph.tape.host}:
        size = graph.tape.tensors[source].size
        source = graph.tape.op(size, before, source)
    reuses = graph.model.architecture not in LAYER_NORMS
    return graph.scaled(hidden, graph.op(hidden, source, reuses=reuses), hidden)


def _sum(graph: Graph, new: Node, stream: Node, *, first: frozenset[str]) -> Node:
    pair = (stream, new) if graph.model.architecture in first else (new, stream)
    return graph.in_place(graph.model.hidden, *pair)


def _picked(graph: Graph, source: Node) -> Node:
    """The rows that give outputs: in the largest micro-batch all."""
    rows = () if graph.rows is None else (graph.rows,)
    return graph.op(graph.model.hidden, source, *rows)


def _output(graph: Graph, stream: Node) -> None:
    """The last norm and the logits stay until the next micro-batch."""
    if graph.model.architecture in ENCODERS:
        graph.tape.tensors[stream].stays = True
        graph.tape.expand(stream)
        return
    normed = _norm(graph, stream)
    graph.tape.tensors[normed].stays = True
    if graph.model.architecture in LATE_ROWS:
        normed = _picked(graph, normed)
        graph.tape.tensors[normed].stays = True
    logits = graph.product(graph.model.vocabulary, normed, WeightUse.OUTPUT)
    graph.tape.tensors[logits].stays = True
    graph.tape.expand(logits)
