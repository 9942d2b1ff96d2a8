"""Speeds and fits of all models in all quantizations on all devices at once.

The numbers are those of `speed.decode_speed` with `work.device_work`, one at a time; here they are
computed in arrays, for tables that must follow a slider.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from desktop.errors import GramError
from desktop.estimate.cache import cache_read_bytes
from desktop.estimate.sizes import SizeTable, active_elements, size_table
from desktop.estimate.targets import efficiency_of, targets_for
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
    """nan where there is no estimate: no target, no bandwidth, a cache that cannot be counted."""
    high_tok_s: Floats
    ceiling_tok_s: Floats
    needed_bytes: Floats
    """Weights, what the caller adds for each model, and the back end's own."""
    fits: Flags


@dataclass(frozen=True, slots=True)
class Asked:
    """What does not depend on the context: computed once for a catalogue."""

    models: tuple[Model, ...]
    quants: tuple[Quant, ...]
    capacity_bytes: Floats
    """Of each model (rows) in each quantization (columns); so are the next two."""
    active_bytes: Floats
    weights: Floats
    layers: Floats
    """Of each model (rows): all as `work.layer_units`, then of each kind that costs more."""
    attention: Floats
    """Of each model (rows): operations for a byte of the cache, and bytes that are no such."""


def asked(models: Sequence[Model], quants: Sequence[Quant]) -> Asked:
    """Count the bytes and weights of all models in all quantizations."""
    sizes = size_table(models, quants)
    return Asked(
        models=tuple(models),
        quants=tuple(quants),
        capacity_bytes=sizes.capacity.astype(np.float64),
        active_bytes=sizes.active.astype(np.float64),
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
    """Estimate everything; the first target of each configuration is taken.

    Args:
        what: models and quantizations.
        configurations: one device each.
        targets: the table.
        use: the depth that tokens are generated at.
        extra_bytes: of each model, what memory must hold besides its weights. None: nothing.

    Raises:
        GramError: `bad_number` for a depth or context out of range.
    """
    shape = len(what.models), len(what.quants), len(configurations)
    low, high, ceiling = (np.full(shape, np.nan) for _ in range(3))
    needed = np.full(shape, np.nan)
    cache = _cache_bytes(what.models, use)
    held = what.capacity_bytes + np.asarray(extra_bytes or 0.0, np.float64).reshape(-1, 1)
    for target, numbers in _by_target(configurations, targets).items():
        here = [configurations[i] for i in numbers]
        slow, fast, best = _speeds(what, cache, target, here)
        low[:, :, numbers], high[:, :, numbers], ceiling[:, :, numbers] = slow, fast, best
        needed[:, :, numbers] = held[:, :, None] + target.overhead_bytes
    usable = np.array([c.usable_bytes for c in configurations], np.float64)
    return Bulk(low, high, ceiling, needed, needed <= usable)


def _by_target(
    configurations: Sequence[Configuration], targets: Sequence[Target]
) -> dict[Target, list[int]]:
    firsts = {c.device_class: next(iter(targets_for(c, targets)), None) for c in configurations}
    found: dict[Target, list[int]] = defaultdict(list)
    for i, configuration in enumerate(configurations):
        target = firsts[configuration.device_class]
        if target is not None:
            found[target].append(i)
    return found


def _speeds(
    what: Asked, cache: Floats, target: Target, here: Sequence[Configuration]
) -> tuple[Floats, Floats, Floats]:
    """Low, high and ceiling rates; the law is that of `speed`, over three axes."""
    efficiencies = [efficiency_of(target, quant) for quant in what.quants]
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


def _cache_bytes(models: Sequence[Model], use: Use) -> Floats:
    return np.array([_cache_of(model, use) for model in models])


def _cache_of(model: Model, use: Use) -> float:
    try:
        return float(cache_read_bytes(model, use))
    except GramError as e:
        if e.code == "bad_number":
            raise
        return math.nan


def _weights(models: Sequence[Model], quants: Sequence[Quant], sizes: SizeTable) -> Floats:
    """As `work.active_weights`: by the tensors, or by the average size of all of a model's."""
    parameters = np.array([float(model.parameters) for model in models])
    elements = np.array([active_elements(model) or math.nan for model in models], np.float64)
    by_bits = sizes.active / sizes.capacity * parameters[:, None]
    typed = np.array([quant.file_type in FILE_TYPES_COVERED for quant in quants])
    known = typed & ~np.isnan(elements)[:, None]
    return np.where(known, elements[:, None], by_bits)
