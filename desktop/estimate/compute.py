"""Scratch of the graph on each card and on the host."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from desktop.estimate.cache import value_width
from desktop.estimate.graph import Graph, Layer, Place
from desktop.estimate.graph_model import record
from desktop.estimate.graph_rows import FEWEST, Chosen, all_of, shortened
from desktop.estimate.graph_streams import SPARSE_LAYERS
from desktop.estimate.layers import layers_of
from desktop.estimate.placement import Placement, Spread, spread
from desktop.estimate.same import Same
from desktop.estimate.scratch import Tape
from desktop.estimate.scratch_plan import Plan, plan_of
from desktop.estimate.scratch_rows import Row
from desktop.estimate.use import batch_tokens, check_use
from desktop.records.estimate import Use
from desktop.records.model import LayerGroup, Model, WeightUse

PIPELINE_COPIES: Final = 4
"""ggml's `GGML_SCHED_MAX_COPIES`: several cards that hold the whole model work in a pipeline."""
OFFLOADED_TOKENS: Final = 32
"""From that many tokens on, cards compute with the host's weights (`offload_op` of back ends)."""
_KEPT_PERIODS: Final = (FEWEST, 6)
_KEPT_WITH_COPIES: Final = (6,)
"""Where weights are copied, two layers often change places by turns, and only after some."""
_PLANS_KEPT: Final = 32
"""Some hundred kilobytes each; what is asked next is mostly another quantization or placement."""
_PEAKS_KEPT: Final = 4096
Packing: TypeAlias = tuple[tuple[WeightUse, float], ...]
"""Bytes of one weight of each use."""


class _Kind(NamedTuple):
    """All that tells a layer from another when it is recorded."""

    group: int
    place: Place
    early: bool
    ends: bool = False


class _Layout(NamedTuple):
    """What is recorded: with other numbers of equal layers it would be the same."""

    layers: tuple[_Kind, ...]
    output: Place
    host: int
    copies: int
    rows: tuple[Row, ...]


def compute_bytes(
    model: Model,
    use: Use,
    placement: Placement,
    packing: Packing = (),
    *,
    kept_periods: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Bytes of scratch on each card of `placement`, and on the host, which is the last.

    Args:
        model: the model.
        use: how it is run.
        placement: what lies where.
        packing: bytes of one weight of each use: a card that computes with weights of the host
            copies them. Without, such copies are not counted.
        kept_periods: how many of many equal layers are recorded, tried in this order; where these
            do not tell all, all are. It changes nothing but the time.

    Raises:
        GramError: `bad_number`, `cache_type`, `layers_unclear`, `placement_bad`.
    """
    check_use(use)
    where, groups = spread(model, placement), layers_of(model)
    kinds = _kinds(model, use, placement, where, groups)
    output = _place(use, placement, where.output, len(placement.shares), len(groups))
    numbers = _numbered(kinds)
    if kept_periods is None:
        kept_periods = _KEPT_WITH_COPIES if packing else _KEPT_PERIODS
    for kept in kept_periods:
        chosen = shortened(numbers, kept)
        layout = _layout(kinds, chosen, output, placement, where)
        found = _peaks(Same(model), use, layout, packing)
        if found is not None:
            return found
    layout = _layout(kinds, all_of(len(kinds)), output, placement, where)
    return _peaks(Same(model), use, layout, packing) or ()


@lru_cache(_PEAKS_KEPT)
def _peaks(
    model: Same[Model], use: Use, layout: _Layout, packing: Packing
) -> tuple[int, ...] | None:
    """None where the layers of a layout do not tell what those left out would do."""
    packed = frozenset(weights for weights, size in packing if size)
    return _plan(model, use, layout, packed).peaks(dict(packing))


@lru_cache(_PLANS_KEPT)
def _plan(model: Same[Model], use: Use, layout: _Layout, packed: frozenset[WeightUse]) -> Plan:
    """A graph is recorded once for all quantizations."""
    widest = max(value_width(group) for group in layers_of(model.it))
    graph = Graph(Tape(layout.host), model.it, use, layout.output, packed, widest_value=widest)
    groups = model.it.groups
    layers = [Layer(groups[k.group], k.place, k.early, k.ends) for k in layout.layers]
    return plan_of(record(graph, layers), copies=layout.copies, rows=layout.rows)


def _layout(
    kinds: tuple[_Kind, ...], chosen: Chosen, output: Place, placement: Placement, where: Spread
) -> _Layout:
    host = len(placement.shares)
    layers = tuple(
        kinds[layer]._replace(ends=True) if at in chosen.ends else kinds[layer]
        for at, layer in enumerate(chosen.layers)
    )
    return _Layout(layers, output, host, _copies(placement, where), chosen.rows)


def _kinds(
    model: Model, use: Use, placement: Placement, where: Spread, groups: tuple[LayerGroup, ...]
) -> tuple[_Kind, ...]:
    host, numbers = len(placement.shares), {id(group): i for i, group in enumerate(model.groups)}
    early = SPARSE_LAYERS if model.architecture == "gemma3n" else 0
    pairs = enumerate(zip(groups, where.layers, strict=True))
    return tuple(
        _Kind(numbers[id(group)], _place(use, placement, card, host, i), i < early)
        for i, (group, card) in pairs
    )


def _numbered(kinds: tuple[_Kind, ...]) -> list[int]:
    """A number for each kind; the last layer is recorded unlike all others."""
    numbers: dict[_Kind, int] = {}
    found = [numbers.setdefault(kind, len(numbers)) for kind in kinds]
    return [*found[:-1], -1]


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
