"""Speeds and fits of all models in all quantizations on all devices at once, in arrays.

Rates are those of a device's own page (`device_page`), and stand wherever it offers the
quantization: the same law, the same back end, the same rules of what is offered. Memory is counted
more coarsely: weights, the cache and the back end's own, without the graph's scratch and the
logits, which take milliseconds a model to plan; and an embedding that a card leaves to the host
counts, one that is also the output counts once. So `fits` is a first answer: it differs from the
page's in fewer than one of a hundred, all of them near the limit (docs/adr/0012-estimates.md).
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from desktop.errors import GramError
from desktop.estimate.architectures import TRAITS
from desktop.estimate.cache import cache_bytes, cache_read_bytes
from desktop.estimate.offered import computes, target_with
from desktop.estimate.sizes import SizeTable, active_elements, size_table
from desktop.estimate.targets import targets_for
from desktop.estimate.use import check_use
from desktop.estimate.work import (
    EXPERTS,
    LATENT,
    STATE,
    extra_layers,
    flop_per_cache_byte,
    layer_units,
    states_bytes,
)
from desktop.records.estimate import Configuration, Efficiency, Interval, Target, Use
from desktop.records.model import Model, Quant
from desktop.rules.quant_mix import FILE_TYPES_COVERED

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
KINDS: Final = (EXPERTS, STATE, LATENT)
_NONE: Final = Interval(0.0, 0.0)
_ENDS: Final = 2


@dataclass(frozen=True, slots=True)
class Bulk:
    """Of each model (first axis), quantization (second) and configuration (third)."""

    low_tok_s: Floats
    """nan where there is no estimate: no target, no bandwidth, a cache that cannot be counted, a
    context that the model is not trained for, a quantization that is not offered there. Whether it
    fits is not asked."""
    high_tok_s: Floats
    ceiling_tok_s: Floats
    needed_bytes: Floats
    """Weights, cache, what the caller adds for each model, and the back end's own; nan where
    nothing runs it."""
    fits: Flags
    """Whether that is usable; False where nothing runs it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What does not depend on the context: computed once for a catalogue."""

    models: tuple[Model, ...]
    quants: tuple[Quant, ...]
    capacity_bytes: Floats
    """Of each model (rows) in each quantization (columns); so are the next two. nan where the
    quantization is not made for such models."""
    active_bytes: Floats
    weights: Floats
    layers: Floats
    """Of each model (rows): all as `work.layer_units`, then of each kind that costs more."""
    attention: Floats
    """Of each model (rows): operations for a byte of the cache, and bytes that are no such."""


def asked(models: Sequence[Model], quants: Sequence[Quant]) -> Asked:
    """Count the bytes and weights of all models in all quantizations."""
    sizes = size_table(models, quants)
    offered = np.array([[quant.suits(model) for quant in quants] for model in models])
    return Asked(
        models=tuple(models),
        quants=tuple(quants),
        capacity_bytes=np.where(offered, sizes.capacity, math.nan),
        active_bytes=np.where(offered, sizes.active, math.nan),
        weights=_weights(models, quants, sizes),
        layers=np.array([_layers(model) for model in models]),
        attention=np.array([_attention(model) for model in models]),
    )


def bulk(
    what: Asked,
    configurations: Sequence[Configuration],
    targets: Sequence[Target],
    use: Use,
    extra_bytes: Sequence[float] | None = None,
) -> Bulk:
    """Estimate everything, by the first target of each device that has the quantization.

    Args:
        what: models and quantizations.
        configurations: one device each.
        targets: the table.
        use: the context that memory has room for, and the depth that tokens are generated at.
        extra_bytes: of each model, what memory must hold besides weights and cache. None: nothing.

    Raises:
        GramError: `bad_number` for a depth or context out of range.
    """
    check_use(use)
    shape = len(what.models), len(what.quants), len(configurations)
    low, high, ceiling, needed = (np.full(shape, np.nan) for _ in range(4))
    read, kept = np.array([_cache_of(model, use) for model in what.models]).reshape(-1, 2).T
    added = np.zeros(len(what.models)) if extra_bytes is None else np.asarray(extra_bytes)
    held = what.capacity_bytes + (kept + added)[:, None]
    for numbers in _by_class(configurations).values():
        here = [configurations[i] for i in numbers]
        there = targets_for(here[0], targets)
        found = [target_with(quant, there) for quant in what.quants]
        slow, fast, best = _speeds(what, read, [e[1] if e else None for e in found], here)
        low[:, :, numbers], high[:, :, numbers], ceiling[:, :, numbers] = slow, fast, best
        own = np.array([e[0].overhead_bytes if e else math.nan for e in found])
        needed[:, :, numbers] = (held + own)[:, :, None]
    lacking = np.array([[not computes(q, c) for c in configurations] for q in what.quants])
    for told in (low, high, ceiling, needed):
        told[:, lacking] = math.nan
    usable = np.array([c.usable_bytes for c in configurations], np.float64)
    return Bulk(low, high, ceiling, needed, needed <= usable)


def _by_class(configurations: Sequence[Configuration]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for i, configuration in enumerate(configurations):
        found[configuration.device_class].append(i)
    return found


def _speeds(
    what: Asked,
    cache: Floats,
    efficiencies: Sequence[Efficiency | None],
    here: Sequence[Configuration],
) -> tuple[Floats, Floats, Floats]:
    """Low, high and ceiling rates on devices of one class; the law is that of `speed`."""
    constants = np.array([_constants(e) for e in efficiencies]).transpose(1, 0, 2)
    flop_byte, states = what.attention.T
    attended = np.maximum(0.0, cache - states) * flop_byte
    bandwidth = np.array([c.bandwidth_bytes_s or math.nan for c in here])
    usual = np.array([e.flop_per_byte or math.nan if e else math.nan for e in efficiencies])
    known = np.array([c.shader_flops or math.nan for c in here])
    rate = np.where(np.isnan(known), usual[:, None] * bandwidth, known)
    rate[[e is not None and not _needs_rate(e) for e in efficiencies]] = 1.0
    rates = []
    for end in range(_ENDS):
        share, flop, attention, token, *costs = (column[:, end] for column in constants)
        read = (what.active_bytes + cache[:, None]) / share
        shaders = what.weights * flop + attended[:, None] * attention
        fixed = what.layers @ np.array(costs) + token
        # in place: the arrays are large, and passing over memory is what this costs
        seconds = np.multiply.outer(read, 1 / bandwidth)
        seconds += shaders[:, :, None] / rate
        seconds += fixed[:, :, None]
        rates.append(np.reciprocal(seconds, out=seconds))
    ceiling = np.multiply.outer(1 / (what.active_bytes + cache[:, None]), bandwidth)
    ceiling[np.isnan(rates[0])] = math.nan
    return rates[0], rates[1], ceiling


def _constants(efficiency: Efficiency | None) -> list[tuple[float, float]]:
    """Share, work, 1 ÷ attention share, and costs: at the low rate, at the high rate."""
    if efficiency is None:
        return [(math.nan, math.nan)] * (5 + len(KINDS))
    share, attention = efficiency.bandwidth_share, efficiency.attention_share
    extra = dict(efficiency.extra_layer_s)
    costs = (efficiency.token_s, efficiency.layer_s, *(extra.get(kind, _NONE) for kind in KINDS))
    flop = efficiency.weight_flop or _NONE
    return [
        (share.low, share.high),
        (flop.high, flop.low),
        (1 / attention.low, 1 / attention.high) if attention else (0.0, 0.0),
        *((cost.high, cost.low) for cost in costs),
    ]


def _needs_rate(efficiency: Efficiency) -> bool:
    return efficiency.weight_flop is not None or efficiency.attention_share is not None


def _layers(model: Model) -> list[float]:
    extra = dict(extra_layers(model.groups))
    return [layer_units(model.groups), *(extra.get(kind, 0.0) for kind in KINDS)]


def _attention(model: Model) -> tuple[float, float]:
    try:
        return flop_per_cache_byte(model), states_bytes(model)
    except GramError:
        # nor can its cache be counted
        return math.nan, math.nan


def _cache_of(model: Model, use: Use) -> tuple[float, float]:
    """Bytes that a token reads, and bytes that memory holds; nan where nothing can be told."""
    unknown = model.architecture not in TRAITS
    if unknown or use.context > (model.context_trained or use.context):
        return math.nan, math.nan
    try:
        return float(cache_read_bytes(model, use)), float(cache_bytes(model, use))
    except GramError as e:
        if e.code == "bad_number":
            raise
        return math.nan, math.nan


def _weights(models: Sequence[Model], quants: Sequence[Quant], sizes: SizeTable) -> Floats:
    """As `work.active_weights`: by the tensors, or by the average size of all of a model's."""
    parameters = np.array([float(model.parameters) for model in models])
    elements = np.array([active_elements(model) or math.nan for model in models], np.float64)
    by_bits = sizes.active / sizes.capacity * parameters[:, None]
    typed = np.array([quant.file_type in FILE_TYPES_COVERED for quant in quants])
    known = typed & ~np.isnan(elements)[:, None]
    return np.where(known, elements[:, None], by_bits)
