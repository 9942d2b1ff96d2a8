"""A measured speed without the download: which files to rehearse with, and what follows from them.

A file with a few layers and one with more differ by layers only: what one more costs is measured,
and the whole model's time follows in proportion to the bytes that a token reads. What lies outside
the layers (output matrix, fixed costs) is in both files at its full size. Small models are
rehearsed whole. The weights are random, so nothing but the time is meant by it: no result.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, stdev
from typing import Final

from desktop.errors import GramError
from desktop.estimate.residuals import Span
from desktop.estimate.sizes import weights_of
from desktop.records.model import Attention, Model, Quant
from desktop.rules.short_models import blocks_of
from desktop.rules.tensor_shapes import layers_of

MAX_FILE_BYTES: Final = 3_500_000_000
"""Of one file: more would take minutes to write, load and read."""
WANTED_BYTES: Final = 400_000_000
"""Of layers that a token reads in the deeper file: then a layer shows above the noise, and the
caches hold next to nothing of it."""
_LEAST_BLOCKS: Final = 2
_NINETY_FIVE: Final = 1.96
_MISFIT: Final = 0.04
"""Relative standard deviation of a real build's time around its rehearsal's: other weights, another
file."""
_LEAST_SPREAD: Final = 0.01


@dataclass(frozen=True, slots=True)
class Depth:
    """One file of a rehearsal."""

    picked: tuple[int, ...]
    """The model's layers that are in it."""
    active_bytes: int
    """That a token reads of it."""
    file_bytes: int


@dataclass(frozen=True, slots=True)
class RehearsalPlan:
    """What is made and measured."""

    model: Model
    quant: Quant
    file_type: str
    active_bytes: int
    """Of the whole model."""
    depths: tuple[Depth, ...]
    """Shallow and deep; one where the whole model is small enough."""


def plan_rehearsal(model: Model, quant: Quant, room_bytes: int) -> RehearsalPlan:
    """Choose the layers.

    Args:
        model: of the catalogue, or a header's.
        quant: one of llama.cpp's file types.
        room_bytes: for both files together, on the disk and in memory.

    Raises:
        GramError: `rehearsal_unknown` where the model's tensors are not known or the quantization
            is not llama.cpp's; `rehearsal_too_large` where not even two layers fit.
    """
    sizes = _sizes(model, quant)
    limit = min(MAX_FILE_BYTES, room_bytes)
    whole = sizes.depth(tuple(range(model.layers)))
    blocks = blocks_of(model)
    if whole.file_bytes <= limit and (blocks is None or whole.active_bytes <= 2 * WANTED_BYTES):
        depths: tuple[Depth, ...] = (whole,)
    elif blocks is None:
        raise _too_large(model, quant, whole.file_bytes, limit)
    else:
        depths = _depths(model, quant, sizes, limit)
    return RehearsalPlan(model, quant, sizes.file_type, whole.active_bytes, depths)


def whole_seconds(plan: RehearsalPlan, seconds: Sequence[Sequence[float]]) -> Span:
    """A token's time of the whole model, with bounds that hold it in 95 of 100 cases.

    Args:
        plan: that was measured.
        seconds: of a token, each repetition's, for each of the plan's depths.

    Raises:
        GramError: `rehearsal_noisy` when the deeper file was not slower.
    """
    middles = [median(values) for values in seconds]
    errors = [middle * _spread(values) for middle, values in zip(middles, seconds, strict=True)]
    if len(plan.depths) == 1:
        time_s, error_s = middles[0], errors[0]
    else:
        shallow, deep = plan.depths
        factor = (plan.active_bytes - shallow.active_bytes) / (
            deep.active_bytes - shallow.active_bytes
        )
        if middles[1] <= middles[0]:
            raise GramError("rehearsal_noisy", name=f"{plan.model.id}:{plan.quant.label}")
        time_s = middles[0] + factor * (middles[1] - middles[0])
        error_s = math.hypot((1 - factor) * errors[0], factor * errors[1])
    # what is foretold is another run, which will differ as these repetitions did
    again = max(_scatter(values) for values in seconds)
    half = _NINETY_FIVE * math.hypot(error_s / time_s, again, _MISFIT)
    return Span(time_s * math.exp(-half), time_s, time_s * math.exp(half))


@dataclass(frozen=True, slots=True)
class _Sizes:
    file_type: str
    held: Counter[int | None]
    """Bytes by layer; None: outside the layers."""
    read: Counter[int | None]

    def depth(self, picked: tuple[int, ...]) -> Depth:
        layers = (None, *picked)
        return Depth(picked, *(sum(of[i] for i in layers) for of in (self.read, self.held)))


def _sizes(model: Model, quant: Quant) -> _Sizes:
    weights = weights_of(model, quant)
    held: Counter[int | None] = Counter()
    read: Counter[int | None] = Counter()
    for part in weights.parts:
        held[part.layer] += part.bytes
        read[part.layer] += part.active_bytes
    if quant.file_type is None or len(held) <= 1 or layers_of(model) is None:
        raise GramError("rehearsal_unknown", name=f"{model.id}:{quant.label}")
    return _Sizes(quant.file_type, held, read)


def _depths(model: Model, quant: Quant, sizes: _Sizes, limit: int) -> tuple[Depth, ...]:
    lead, *blocks = blocks_of(model) or ((),)
    found: list[Depth] = []
    for count in range(1, len(blocks) + 1):
        depth = sizes.depth(_picked(model, lead, blocks, count))
        if depth.file_bytes > limit and len(found) >= _LEAST_BLOCKS:
            break
        if found and depth.active_bytes <= found[-1].active_bytes:
            continue
        found.append(depth)
        if len(found) >= _LEAST_BLOCKS and depth.active_bytes - sizes.read[None] >= WANTED_BYTES:
            break
    if len(found) < _LEAST_BLOCKS or found[-1].file_bytes > limit:
        raise _too_large(model, quant, found[-1].file_bytes, limit)
    shallow = found[(len(found) - 1) // 2] if len(found) > _LEAST_BLOCKS else found[0]
    return (shallow, found[-1])


def _picked(
    model: Model, lead: Sequence[int], blocks: Sequence[Sequence[int]], count: int
) -> tuple[int, ...]:
    """`count` blocks, evenly spread, behind the first layers; with one of each sort of attention.

    Without a sort that the model has, the engine misses its measures, or a part of its memory.
    """
    chosen = [blocks[(2 * i + 1) * len(blocks) // (2 * count)] for i in range(count)]
    picked = {*lead, *(layer for block in chosen for layer in block)}
    sorts: dict[Attention, list[int]] = {}
    for i, group in enumerate(layers_of(model) or ()):
        sorts.setdefault(group.attention, []).append(i)
    missing = (layers for layers in sorts.values() if not picked & set(layers))
    return tuple(sorted(picked.union(layers[len(layers) // 2] for layers in missing)))


def _spread(values: Sequence[float]) -> float:
    """Relative standard deviation of the middle of `values`."""
    return max(_LEAST_SPREAD, _scatter(values) / math.sqrt(len(values)))


def _scatter(values: Sequence[float]) -> float:
    """Relative standard deviation of `values`; one alone has none, and gets twice the least."""
    return stdev(values) / median(values) if len(values) > 1 else 2 * _LEAST_SPREAD


def _too_large(model: Model, quant: Quant, needed: int, limit: int) -> GramError:
    return GramError(
        "rehearsal_too_large",
        name=f"{model.id}:{quant.label}",
        need_gb=round(needed / 1e9, 1),
        free_gb=round(max(0, limit) / 1e9, 1),
    )
