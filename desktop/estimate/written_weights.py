"""The arithmetic of weights, written out: what is held, and what a token reads."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from desktop.estimate.facts import active_parameters
from desktop.estimate.page_words import Said
from desktop.estimate.written_line import BYTES, MINUS, OVER, Line, line, number, times, total
from desktop.records.model import Model, Quant, SizeBasis, Weights, WeightUse
from desktop.rules.ggml_types import BLOCKS

_ALL: Final = (Said("written.weights"),)
_UNREAD: Final = {
    WeightUse.EMBEDDING: "written.unread.embedding",
    WeightUse.EXPERTS: "written.unread.experts",
}


def weight_lines(model: Model, quant: Quant, weights: Weights) -> tuple[Line, ...]:
    """Among them one that comes to all bytes, `written.weights`; the last is what a token reads."""
    if weights.basis is SizeBasis.BITS:
        return tuple(_by_bits(model, quant, weights))
    return (*_by_type(weights), *_read(weights))


def _by_bits(model: Model, quant: Quant, weights: Weights) -> Iterator[Line]:
    bits = quant.bits_per_weight
    yield line("written.weights", _bits(bits, model.parameters), weights.capacity_bytes)
    active = _bits(bits, active_parameters(model))
    if any(part.use is WeightUse.EMBEDDING and not part.active_bytes for part in weights.parts):
        active += MINUS + _bits(bits, model.vocabulary, model.hidden)
    yield line("written.read", active, weights.active_bytes)


def _bits(bits: float, *factors: int) -> str:
    return f"{times(*factors, bits)}{OVER}8"


def _by_type(weights: Weights) -> Iterator[Line]:
    """Of each of ggml's types the weights in its blocks."""
    lines = []
    for kind in dict.fromkeys(part.type for part in weights.parts):
        held = sum(part.bytes for part in weights.parts if part.type == kind)
        block = BLOCKS[kind]
        count = number(held // block.block_bytes * block.block_elements)
        expression = f"{count}{OVER}{times(block.block_elements, block.block_bytes)}"
        lines.append(Line((Said("written.type", {"type": kind}),), expression, held, BYTES))
    if len(lines) > 1:
        yield from lines
    yield total("written.weights", lines) if len(lines) > 1 else replace(lines[0], what=_ALL)


def _read(weights: Weights) -> Iterator[Line]:
    """All, without the rows of lookups and the experts that a token does not use."""
    expression = number(weights.capacity_bytes)
    for use in WeightUse:
        held = sum(part.bytes for part in weights.parts if part.use is use)
        read = sum(part.active_bytes for part in weights.parts if part.use is use)
        if held == read:
            continue
        unread = f"{number(held)}{MINUS}{number(read)}"
        yield line(_UNREAD.get(use, "written.unread.other"), unread, held - read)
        expression += f"{MINUS}{number(held - read)}"
    yield line("written.read", expression, weights.active_bytes)
