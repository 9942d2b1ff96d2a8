"""What attention has to have in memory at once: full, sliding and latent."""

from typing import Final, TypeAlias

from desktop.estimate.graph import Graph
from desktop.estimate.graph_indexer import indexed_mask
from desktop.estimate.graph_traits import (
    BIASED_HEADS,
    FUSED,
    GATED_QUERIES,
    GATED_VALUES,
    HEAD_NORMS,
    UNROTATED,
    UNROTATED_WHERE_FULL,
    VALUE_NORMS,
    WIDE_NORMS,
)
from desktop.estimate.scratch import Node
from desktop.records.model import Attention, LayerGroup, WeightUse
from desktop.rules.ggml_types import size_bytes

_ATTENTION: Final = WeightUse.ATTENTION
_Pair: TypeAlias = tuple[Node, Node]
"""Keys and values."""


def attention(graph: Graph, group: LayerGroup, source: Node) -> Node:
    """A layer's attention on the normed `source`, with its output matrix."""
    if group.attention is Attention.LATENT:
        return _latent(graph, group, source)
    if group.latent_size:
        return _unfolded(graph, group, source)
    if graph.model.architecture in FUSED:
        return _fused(graph, group, source)
    query, gate = _query(graph, group, source)
    if group.shares_cache:
        graph.tape.expand(query)
        pair = _kept(graph, group)
    else:
        pair = _new_pair(graph, group, query, source)
    out = _scores(graph, group, query, pair)
    width = (group.heads or 0) * (group.key_size or 0)
    if graph.model.architecture in GATED_VALUES:
        gate = graph.product(width, source, _ATTENTION)
    if gate is not None:
        out = graph.in_place(width, out, graph.in_place(width, gate))
    return graph.product(graph.model.hidden, out, _ATTENTION)


def _query(graph: Graph, group: LayerGroup, source: Node) -> tuple[Node, Node | None]:
    """Queries, and the gate that comes with them where one does."""
    width, gate = (group.heads or 0) * (group.key_size or 0), None
    if graph.model.architecture in GATED_QUERIES:
        query = graph.product(2 * width, source, _ATTENTION)
        gate = graph.op(width, graph.view(query))
    else:
        query = graph.product(width, source, _ATTENTION)
    query = _rotated(graph, group, width, _biased(graph, width, query))
    if graph.scales is not None and group.attention is Attention.FULL:
        query = graph.op(width, graph.view(query), graph.scales)
    return _turned_key(graph, group, width, query), gate


def _fused(graph: Graph, group: LayerGroup, source: Node) -> Node:
    """Attention whose queries, keys and values are parts of one product."""
    keys = (group.kv_heads or 0) * (group.key_size or 0)
    queries, values = (
        (group.heads or 0) * (group.key_size or 0),
        (group.kv_heads or 0) * (group.value_size or 0),
    )
    all_three = graph.product(queries + keys + values, source, _ATTENTION)
    parts = [graph.view(all_three) for _ in range(3)]
    query = _turned_key(graph, group, queries, _rotated(graph, group, queries, parts[0]))
    key = _turned_key(graph, group, keys, _rotated(graph, group, keys, parts[1]))
    value = _turned_value(graph, group, values, parts[2])
    out = _scores(graph, group, query, _seen(graph, group, query, (key, value)))
    return graph.product(graph.model.hidden, out, _ATTENTION)


def _new_pair(graph: Graph, group: LayerGroup, query: Node, source: Node) -> _Pair:
    """Compute a layer's new keys and values; what the heads then see."""
    kv_heads = group.kv_heads or 0
    keys, values = kv_heads * (group.key_size or 0), kv_heads * (group.value_size or 0)
    first = graph.product(keys, source, _ATTENTION)
    second = first if _keys_only(graph, group) else graph.product(values, source, _ATTENTION)
    second = _biased(graph, values, second)
    if graph.model.architecture in VALUE_NORMS:
        second = graph.op(values, graph.view(second))
    first = _biased(graph, keys, first)
    key = _turned_key(graph, group, keys, _rotated(graph, group, keys, first))
    return _seen(graph, group, query, (key, _turned_value(graph, group, values, second)))


def _biased(graph: Graph, width: int, vectors: Node) -> Node:
    biased = graph.model.architecture in BIASED_HEADS
    return graph.scaled(width, vectors, width) if biased else vectors


def _keys_only(graph: Graph, group: LayerGroup) -> bool:
    """Gemma 4's full layers take their keys as values, but in its models for phones."""
    model = graph.model
    full = group.attention is Attention.FULL
    return model.architecture == "gemma4" and full and not model.per_layer_embedding


def _seen(graph: Graph, group: LayerGroup, query: Node, pair: _Pair) -> _Pair:
    """Ask for all three, and write keys and values into the cache where there is one."""
    key, value = pair
    for node in (query, *(pair if True in graph.masks or graph.cacheless else (value, key))):
        graph.tape.expand(node)
    if graph.cacheless:
        return _cast(graph, key), _cast(graph, value)
    mask = graph.mask(group)
    graph.tape.store(graph.place.cache, graph.view(key), mask.keys)
    narrow = (group.kv_heads or 0) * (group.value_size or 0) < graph.widest_value
    if narrow and not graph.use.flash_attention:
        value = graph.op(graph.widest_value, graph.view(value))
    graph.tape.store(graph.place.cache, graph.view(value), mask.values)
    return _kept(graph, group)


def _cast(graph: Graph, vectors: Node) -> Node:
    """Flash attention reads f16; without it, values are turned by a copy."""
    size = graph.tape.tensors[vectors].size
    half = size // 2 if graph.use.flash_attention else size
    return graph.sized(half, graph.view(vectors))


def _kept(graph: Graph, group: LayerGroup) -> _Pair:
    """Keys and values of all cells."""
    use, mask, kv_heads = graph.use, graph.mask(group), group.kv_heads or 0
    sizes = (
        size_bytes(use.cache_key_type, kv_heads * (group.key_size or 0)),
        size_bytes(use.cache_value_type, kv_heads * (group.value_size or 0)),
    )
    keys, values = (graph.tape.held(size * mask.cells, graph.place.cache) for size in sizes)
    return keys, values


def _rotated(graph: Graph, group: LayerGroup, width: int, vectors: Node) -> Node:
    """Norms and rotation. A view has no place of its own that they could take."""
    architecture = graph.model.architecture
    if architecture in WIDE_NORMS:
        vectors = graph.scaled(width, graph.in_place(width, vectors), width)
    normed = architecture in HEAD_NORMS
    if normed:
        vectors = graph.op(width, graph.view(vectors))
        vectors = graph.scaled(width, vectors, group.key_size or 0)
    still = architecture in UNROTATED_WHERE_FULL and group.attention is Attention.FULL
    if still or architecture in UNROTATED or graph.positions is None:
        return vectors
    return graph.in_place(width, vectors if normed else graph.view(vectors), graph.positions)


def _turned_key(graph: Graph, group: LayerGroup, width: int, vectors: Node) -> Node:
    turn = graph.mask(group).key_turn
    return vectors if turn is None else graph.op(width, graph.view(vectors), turn)


def _turned_value(graph: Graph, group: LayerGroup, width: int, vectors: Node) -> Node:
    turn = graph.mask(group).value_turn
    return vectors if turn is None else graph.op(width, graph.view(vectors), turn)


def _scores(graph: Graph, group: LayerGroup, query: Node, pair: _Pair) -> Node:
    """What the heads take from the tokens that they see."""
    heads, width = group.heads or 0, (group.heads or 0) * (group.value_size or 0)
    mask, (keys, values) = graph.mask(group), pair
    if not graph.use.flash_attention:
        size = 4 * mask.cells * graph.tokens * heads
        score = graph.sized(size, keys, graph.view(query))
        score = graph.sized(size, score, mask.mask, reuses=True)
        out = graph.op(width, graph.view(graph.op(width, values, score)))
        graph.tape.expand(out)
        return out
    out = graph.op(width, graph.view(query), keys, values, mask.mask)
    graph.tape.expand(out)
    return graph.view(_turned_value(graph, group, width, out))


def _query_base(graph: Graph, group: LayerGroup, source: Node) -> Node:
    """What queries of latent attention are made of: a compressed vector where there is one."""
    if not group.query_latent_size:
        return source
    vector = graph.product(group.query_latent_size, source, _ATTENTION)
    vector = graph.in_place(group.query_latent_size, vector)
    return graph.scaled(group.query_latent_size, vector, group.query_latent_size)


def _latent(graph: Graph, group: LayerGroup, source: Node) -> Node:
    """Attention on the compressed vectors themselves: their matrix is folded into the queries."""
    heads, latent, rope = group.heads or 0, group.latent_size or 0, group.rope_size or 0
    base = _query_base(graph, group, source)
    mask = graph.mask(group).mask
    if group.indexer_size:
        mask = indexed_mask(graph, group, source, base)
    queries = graph.product(heads * (group.key_size or 0), base, _ATTENTION)
    kept = heads * ((group.key_size or 0) - rope) * latent
    folded = graph.product(heads * latent, graph.view(queries), _ATTENTION, weights=kept)
    turned = _part_rotated(graph, heads * rope, queries)
    query = graph.op(heads * (latent + rope), graph.view(folded), turned)
    both = graph.product(latent + rope, source, _ATTENTION)
    vector = graph.scaled(latent, graph.op(latent, graph.view(both)), latent)
    key = graph.op(latent + rope, graph.view(vector), _part_rotated(graph, rope, both))
    for node in (query, vector, key):
        graph.tape.expand(node)
    graph.tape.store(graph.place.cache, graph.view(key), graph.mask(group).keys)
    out = _latent_scores(graph, group, query, mask)
    return graph.product(graph.model.hidden, graph.view(out), _ATTENTION)


def _part_rotated(graph: Graph, width: int, vectors: Node) -> Node:
    """The part of `vectors` that is rotated."""
    if graph.positions is None or graph.model.architecture in UNROTATED:
        return graph.view(vectors)
    return graph.op(width, graph.view(vectors), graph.positions)


def _latent_scores(graph: Graph, group: LayerGroup, query: Node, mask: Node) -> Node:
    heads, latent, count = group.heads or 0, group.latent_size or 0, graph.mask(group).cells
    width = heads * (group.value_size or 0)
    row = size_bytes(graph.use.cache_key_type, latent + (group.rope_size or 0))
    vectors, values = (graph.tape.held(row * count, graph.place.cache) for _ in range(2))
    if graph.use.flash_attention:
        out = graph.op(heads * latent, graph.view(query), vectors, values, mask)
        out = graph.product(width, graph.view(out), _ATTENTION, weights=width * latent)
    else:
        size = 4 * count * graph.tokens * heads
        score = graph.sized(size, vectors, graph.view(query))
        score = graph.sized(size, score, mask, reuses=True)
        turned = graph.sized(2 * count * latent, values)
        mixed = graph.op(heads * latent, turned, score)
        out = graph.product(width, mixed, _ATTENTION, weights=width * latent)
    out = graph.op(width, graph.view(out))
    graph.tape.expand(out)
    return out


def _unfolded(graph: Graph, group: LayerGroup, source: Node) -> Node:
    """Latent attention whose keys and values are written out before they are kept."""
    heads, key_size, value_size = group.heads or 0, group.key_size or 0, group.value_size or 0
    rope = group.rope_size or 0
    base = _query_base(graph, group, source)
    queries = graph.product(heads * key_size, base, _ATTENTION)
    query = _part_rotated(graph, heads * key_size, queries)
    both = graph.product((group.latent_size or 0) + rope, source, _ATTENTION)
    vector = graph.op(group.latent_size or 0, graph.view(both))
    written = graph.product(heads * (key_size - rope + value_size), vector, _ATTENTION)
    value = graph.op(heads * value_size, graph.view(written))
    repeated = graph.op(heads * rope, _part_rotated(graph, rope, both))
    key = graph.op(heads * key_size, graph.view(written), repeated)
    query = _turned_key(graph, group, heads * key_size, query)
    pair = _seen(graph, group, query, (key, value))
    return graph.product(graph.model.hidden, _scores(graph, group, query, pair), _ATTENTION)
