"""Scratch of the graph on each card and on the host."""

from typing import Final

from desktop.estimate.cache import value_width
from desktop.estimate.graph import Graph, Place
from desktop.estimate.graph_model import record
from desktop.estimate.layers import layers_of
from desktop.estimate.placement import Placement, Spread, spread
from desktop.estimate.scratch import Tape, peaks
from desktop.estimate.use import batch_tokens, check_use
from desktop.records.estimate import Use
from desktop.records.model import Model, WeightUse

PIPELINE_COPIES: Final = 4
"""ggml's `GGML_SCHED_MAX_COPIES`: several cards that hold the whole model work in a pipeline."""
OFFLOADED_TOKENS: Final = 32
"""From that many tokens on, cards compute with the host's weights (`offload_op` of back ends)."""


def compute_bytes(
    model: Model,
    use: Use,
    placement: Placement,
    packing: tuple[tuple[WeightUse, float], ...] = (),
) -> tuple[int, ...]:
    """Bytes of scratch on each card of `placement`, and on the host, which is the last.

    Args:
        model: the model.
        use: how it is run.
        placement: what lies where.
        packing: bytes of one weight of each use: a card that computes with weights of the host
            copies them. Without, such copies are not counted.

    Raises:
        GramError: `bad_number`, `cache_type`, `layers_unclear`, `placement_bad`.
    """
    check_use(use)
    host, layers, where = len(placement.shares), layers_of(model), spread(model, placement)
    cards = (*where.layers, where.output)
    places = [_place(use, placement, card, host, i) for i, card in enumerate(cards)]
    widest = max(value_width(group) for group in layers)
    graph = Graph(Tape(host), model, use, places[-1], dict(packing), widest_value=widest)
    tape = record(graph, list(zip(layers, places[:-1], strict=True)))
    return peaks(tape, copies=_copies(placement, where))


def _place(use: Use, placement: Placement, card: int | None, host: int, layer: int) -> Place:
    """The devices of one layer. Cards compute for the host where there is enough to do."""
    weights = host if card is None else card
    helped = host > 0 and batch_tokens(use) >= OFFLOADED_TOKENS
    compute = 0 if card is None and helped else weights
    experts = host if layer < placement.experts_on_host else weights
    cache = host if placement.cache_on_host else weights
    return Place(compute, weights, experts, cache)


def _copies(placement: Placement, where: Spread) -> int:
    whole = where.output is not None and None not in where.layers
    moved = placement.experts_on_host or placement.cache_on_host
    cards = len(placement.shares)
    return PIPELINE_COPIES if cards > 1 and whole and not moved else 1
