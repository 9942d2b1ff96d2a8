"""Bytes of a model's weights in a quantization: what memory holds, what a token reads.

By the best basis there is: the file itself, the model's tensors under llama.cpp's rule of which
gets which type, or parameters x bits per weight.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from desktop.errors import GramError
from desktop.estimate.piles import Piles, Summary, piles_of, summary_of
from desktop.records.build import Header
from desktop.records.model import Model, Quant, SizeBasis, WeightPart, Weights, WeightUse
from desktop.rules.ggml_types import BLOCKS, size_bytes
from desktop.rules.quant_mix import FILE_TYPES_COVERED, type_at
from desktop.rules.quant_table import NEED_MATRIX
from desktop.rules.weight_parts import parts_of_header

Bytes: TypeAlias = npt.NDArray[np.int64]

_WEIGHTS_KEPT: Final = 256
_BITS_A_BYTE: Final = 8
_SIZES_ALIKE: Final = 0.03
"""A file is of a quantization where their sizes differ by less. llama.cpp's rule gives the tensors
to the byte; its versions and importance matrices change some tensors' types, and less than it takes
to make one mix the next (Q4_K_S and Q4_K_M differ by 4 %)."""
_OUTPUT_TYPE: Final = "Q8_0"
"""The largest that mixes give the output, but for files that are not quantized."""
_HEADER_BYTES: Final = 64
"""A file is larger than its tensors by at most so much for each word of the vocabulary: its text,
kind and score, and the merges."""


@dataclass(frozen=True, slots=True)
class SizeTable:
    """Bytes of each model (rows) in each quantization (columns)."""

    capacity: Bytes
    active: Bytes


def bits_weights(model: Model, quant: Quant) -> Weights:
    """Parameters x bits per weight ÷ 8: all of them held, the active ones read for each token.

    The rule of the published estimator pages: the embedding lookup counts as read.
    """
    active = model.parameters if model.active_parameters is None else model.active_parameters
    held, read = _bits(model.parameters, quant), _bits(active, quant)
    part = WeightPart(WeightUse.OTHER, None, quant.label, held, read)
    return Weights(quant.id, SizeBasis.BITS, (part,))


def weights_of(
    model: Model, quant: Quant, *, header: Header | None = None, file_bytes: int | None = None
) -> Weights:
    """The weights of `model` in `quant`: from the file's header where there is one.

    With `file_bytes` alone the parts are those of the rule, in proportion; the header of the file
    (some megabytes) is counted with them.

    Raises:
        GramError: `mixture_unclear` when a header does not tell how many experts are used,
            `bad_number` for a file of no bytes.
    """
    if header is not None:
        return replace(from_header(header), quant=quant.id)
    weights = _by_rule(model, quant)
    return weights if file_bytes is None else _scaled(weights, file_bytes)


def from_header(header: Header) -> Weights:
    """The weights of the file with that header; `quant` is empty.

    Raises:
        GramError: `mixture_unclear` when it does not tell how many experts are used.
    """
    parts = parts_of_header(header)
    if parts is None:
        raise GramError("mixture_unclear")
    return Weights("", SizeBasis.EXACT, parts)


def is_size_of(file_bytes: int, model: Model, weights: Weights) -> bool:
    """Whether a file of so many bytes may hold those weights of `model`."""
    near = _SIZES_ALIKE * weights.capacity_bytes
    more = file_bytes - weights.capacity_bytes
    return -near <= more <= near + _HEADER_BYTES * model.vocabulary


def may_hold(file_bytes: int, model: Model, quant: Quant) -> bool:
    """Whether a file of so many bytes may be `model` in `quant`, as far as its size tells.

    Wider than `is_size_of` by one matrix: where a model's output is tied to its embedding, some
    packagers' files have it twice (Qwen's own of Qwen2.5 0.5B, a quarter of the file).
    """
    counted, _ = totals(model, quant)
    near = _SIZES_ALIKE * counted
    output = model.vocabulary * model.hidden if model.tied else 0
    again = max(size_bytes(_OUTPUT_TYPE, output), _bits(output, quant))
    return -near <= file_bytes - counted <= near + again + _HEADER_BYTES * model.vocabulary


def size_table(models: Sequence[Model], quants: Sequence[Quant]) -> SizeTable:
    """Capacity and active bytes of all of them, by `weights_of` without a file."""
    capacity = np.zeros((len(models), len(quants)), np.int64)
    active = np.zeros_like(capacity)
    for row, model in enumerate(models):
        summary = summary_of(model)
        for column, quant in enumerate(quants):
            sizes = totals(model, quant) if summary is None else _totals(summary, quant)
            capacity[row, column], active[row, column] = sizes
    return SizeTable(capacity, active)


def active_elements(model: Model) -> int | None:
    """Weights, not bytes, that a generated token reads; None where the tensors are not known."""
    summary = summary_of(model)
    return None if summary is None else sum(active for _, _, active in summary)


def totals(model: Model, quant: Quant) -> tuple[int, int]:
    """Capacity and active bytes of `weights_of(model, quant)`, without its parts: fast."""
    summary = summary_of(model)
    if summary is not None:
        return _totals(summary, quant)
    weights = _by_rule(model, quant)
    return weights.capacity_bytes, weights.active_bytes


def _totals(summary: Summary, quant: Quant) -> tuple[int, int]:
    file_type = quant.file_type
    if file_type is None or file_type not in FILE_TYPES_COVERED:
        held = sum(elements for _, elements, _ in summary)
        read = sum(active for _, _, active in summary)
        return _bits(held, quant), _bits(read, quant)
    matrix = file_type in NEED_MATRIX
    held = read = 0
    for place, elements, active in summary:
        kind = BLOCKS[type_at(place, file_type, matrix)]
        held += elements // kind.block_elements * kind.block_bytes
        read += active // kind.block_elements * kind.block_bytes
    return held, read


@lru_cache(_WEIGHTS_KEPT)
def _by_rule(model: Model, quant: Quant) -> Weights:
    piles = piles_of(model)
    if piles is None:
        return _by_bits_alone(model, quant)
    if quant.file_type is None or quant.file_type not in FILE_TYPES_COVERED:
        return _by_bits(quant, piles)
    return Weights(quant.id, SizeBasis.TENSORS, tuple(_typed(piles, quant.file_type)))


def _typed(all_piles: tuple[Piles, ...], file_type: str) -> Iterator[WeightPart]:
    matrix = file_type in NEED_MATRIX
    for layers, piles in all_piles:
        held: Counter[tuple[WeightUse, str]] = Counter()
        read = held.copy()
        for use, place, elements, active in piles:
            kind = type_at(place, file_type, matrix)
            held[use, kind] += size_bytes(kind, elements)
            read[use, kind] += size_bytes(kind, active)
        for (use, kind), size in held.items():
            part = read[use, kind]
            yield from (WeightPart(use, layer, kind, size, part) for layer in layers)


def _by_bits(quant: Quant, all_piles: tuple[Piles, ...]) -> Weights:
    """The model's parts, each at the same bits per weight; the sums are rounded, not the parts."""
    held, read = _Rounded(quant), _Rounded(quant)
    parts = []
    for layers, piles in all_piles:
        elements: Counter[WeightUse] = Counter()
        active: Counter[WeightUse] = Counter()
        for pile in piles:
            elements[pile.use] += pile.elements
            active[pile.use] += pile.active_elements
        for use, count in elements.items():
            for layer in layers:
                sizes = held.next(count), read.next(active[use])
                parts.append(WeightPart(use, layer, quant.label, *sizes))
    return Weights(quant.id, SizeBasis.BITS, tuple(parts))


@dataclass(slots=True)
class _Rounded:
    """Turns elements into whole bytes so that they add up to what all elements take."""

    quant: Quant
    elements: int = 0

    def next(self, elements: int) -> int:
        before = _bits(self.elements, self.quant)
        self.elements += elements
        return _bits(self.elements, self.quant) - before


def _by_bits_alone(model: Model, quant: Quant) -> Weights:
    """Without tensors: the embedding, the output, and the rest evenly over the layers.

    The lookup of an untied embedding is held and not read.
    """
    active = min(model.active_parameters or model.parameters, model.parameters)
    matrix = min(model.vocabulary * model.hidden, active // (1 if model.tied else 2))
    ends = matrix if model.tied else 2 * matrix
    output = _bits(matrix, quant)
    held = _even(_bits(model.parameters - ends, quant), model.layers)
    read = _even(_bits(active - ends, quant), model.layers)
    lookup = WeightPart(WeightUse.EMBEDDING, None, quant.label, output, 0)
    parts = (
        *(() if model.tied else (lookup,)),
        WeightPart(WeightUse.OUTPUT, None, quant.label, output, output),
        *(
            WeightPart(WeightUse.OTHER, i, quant.label, *sizes)
            for i, sizes in enumerate(zip(held, read, strict=True))
        ),
    )
    return Weights(quant.id, SizeBasis.BITS, parts)


def _even(total: int, count: int) -> list[int]:
    """`total` in `count` whole parts that differ by one at most."""
    return [(i + 1) * total // count - i * total // count for i in range(count)]


def _scaled(weights: Weights, file_bytes: int) -> Weights:
    """The parts in proportion, so that all of them are as large as the file."""
    if file_bytes <= 0:
        raise GramError("bad_number", name="file size", low=1, high="∞", found=file_bytes)
    whole = weights.capacity_bytes
    ends = [end * file_bytes // whole for end in accumulate(p.bytes for p in weights.parts)]
    sizes = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    parts = tuple(
        replace(part, bytes=size, active_bytes=part.active_bytes * size // part.bytes)
        for part, size in zip(weights.parts, sizes, strict=True)
        if part.bytes
    )
    return Weights(weights.quant, SizeBasis.EXACT, parts)


def _bits(parameters: int, quant: Quant) -> int:
    return round(parameters * quant.bits_per_weight / _BITS_A_BYTE)
