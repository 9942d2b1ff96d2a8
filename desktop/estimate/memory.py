"""What running a build holds in memory, on each card and on the host: the one place that says so.

An estimate, never a measurement: weights, the cache, the graph's scratch and the logits are counted
as llama.cpp allocates them (checked against the engine's own accounting, docs/benchmarks.md). What
a back end holds for itself on each device is data of the target and comes on top.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from desktop.errors import GramError
from desktop.estimate.architectures import TRAITS
from desktop.estimate.compute import Packing, compute_bytes
from desktop.estimate.header_model import model_of
from desktop.estimate.held import held_by_layers, where_lies
from desktop.estimate.placement import ON_HOST, Placement
from desktop.estimate.same import Same
from desktop.estimate.sizes import from_header
from desktop.estimate.use import check_use
from desktop.records.build import Header
from desktop.records.estimate import MemoryNeed, Use
from desktop.records.model import Model, Weights, WeightUse
from desktop.rules.ggml_types import BLOCKS

_LOGIT_BYTES: Final = 4
PROCESS_BYTES: Final = 64 << 20
"""An allowance for the engine's code and vocabulary, where the process itself is counted."""
_KEPT: Final = 4096
_PACKINGS_KEPT: Final = 64
_EQUAL_MATRICES: Final = frozenset({WeightUse.FEED_FORWARD, WeightUse.EXPERTS})


@dataclass(frozen=True, slots=True)
class Needs:
    """What each card of a placement, in its order, and the host have to hold."""

    cards: tuple[MemoryNeed, ...]
    host: MemoryNeed

    @property
    def total_bytes(self) -> int:
        """Everywhere together: what one memory has to hold that cards and host share."""
        return sum(need.total_bytes for need in (*self.cards, self.host))


def needs(
    model: Model,
    weights: Weights,
    use: Use,
    placement: Placement,
    beside: Sequence[Needs] = (),
) -> Needs:
    """Bytes that running `model` takes, by device and purpose.

    Args:
        model: the model, from the catalogue or a header.
        weights: its weights in one quantization.
        use: context, cache types, micro-batch.
        placement: what lies where; without cards, all on the host.
        beside: what else is loaded with it, a draft model or a projector: their totals are
            `extra_bytes`.

    Raises:
        GramError: `architecture_unknown`, `layers_unclear`, `bad_number`, `cache_type`,
            `cache_rows`, `header_lacks`, `placement_bad`.
    """
    alone = _needs(model, weights, use, placement)
    for other in beside:
        alone = _with(alone, other)
    return alone


def host_bytes(header: Header, use: Use) -> int:
    """Bytes that running the file of that header takes where the processor alone runs it.

    Of an architecture that is not known, or a header that does not tell enough, the weights and the
    process: a lower bound.

    Raises:
        GramError: `bad_number` for a context, depth or batch that nobody can mean.
    """
    check_use(use)
    try:
        needed = needs(model_of(header), from_header(header), use, ON_HOST)
    except GramError:
        return sum(tensor.size_bytes for tensor in header.tensors) + PROCESS_BYTES
    return needed.total_bytes + PROCESS_BYTES


def _needs(model: Model, weights: Weights, use: Use, placement: Placement) -> Needs:
    if model.architecture not in TRAITS:
        raise GramError("architecture_unknown", architecture=model.architecture)
    where = where_lies(model, placement)
    host = len(placement.shares)
    held, cache = held_by_layers(model, weights, use).on_devices(placement, where)
    whole = not host or (None not in where.layers and not placement.experts_on_host)
    packing = () if whole else _packing(Same(model), Same(weights))
    scratch = _scratch(Same(model), use, placement, packing)
    found = [MemoryNeed(*sizes) for sizes in zip(held, cache, scratch, strict=True)]
    logits = use.sequences * model.vocabulary * _LOGIT_BYTES
    return Needs(tuple(found[:host]), replace(found[host], output_bytes=logits))


@lru_cache(_KEPT)
def _scratch(
    model: Same[Model], use: Use, placement: Placement, packing: Packing
) -> tuple[int, ...]:
    """Scratch depends on no quantization unless weights are copied: it is worked out once."""
    return compute_bytes(model.it, use, placement, packing)


@lru_cache(_PACKINGS_KEPT)
def _packing(of_model: Same[Model], of_weights: Same[Weights]) -> Packing:
    """Bytes of one weight of each use.

    Of the feed-forward parts, whose matrices are equally large, the one packed least counts; of the
    others their average. Where types are not told, all weights are alike.
    """
    model, weights = of_model.it, of_weights.it
    plain = weights.capacity_bytes / max(1, model.parameters)
    sizes: dict[WeightUse, list[tuple[int, float]]] = {}
    for part in weights.parts:
        sizes.setdefault(part.use, []).append((part.bytes, _density(part.type) or plain))
    found = []
    for use, parts in sizes.items():
        count = sum(size / density for size, density in parts)
        average = sum(size for size, _ in parts) / count if count else 0.0
        density = max(d for _, d in parts) if use in _EQUAL_MATRICES else average
        found.append((use, density))
    return tuple(found)


def _density(kind_name: str) -> float | None:
    """Bytes of one weight of a type; None of one that is not ggml's."""
    kind = BLOCKS.get(kind_name)
    return None if kind is None else kind.block_bytes / kind.block_elements


def _with(needed: Needs, other: Needs) -> Needs:
    cards = _paired(needed.cards, other.cards)
    return Needs(tuple(_more(a, b) for a, b in cards), _more(needed.host, other.host))


def _paired(
    cards: Sequence[MemoryNeed], others: Sequence[MemoryNeed]
) -> Iterable[tuple[MemoryNeed, MemoryNeed]]:
    if len(others) > len(cards):
        raise GramError("placement_bad", detail="what runs beside it is on cards it is not on")
    nothing = MemoryNeed(0, 0, 0)
    return zip(cards, [*others, *[nothing] * (len(cards) - len(others))], strict=True)


def _more(need: MemoryNeed, other: MemoryNeed) -> MemoryNeed:
    return replace(need, extra_bytes=need.extra_bytes + other.total_bytes)
