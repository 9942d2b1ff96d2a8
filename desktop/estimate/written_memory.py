"""The arithmetic of cache and memory, written out."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from desktop.estimate import printed
from desktop.estimate.cache import state_bytes
from desktop.estimate.facts import group_words
from desktop.estimate.layer_bytes import group_read_bytes
from desktop.estimate.page_words import Said
from desktop.estimate.ranking import Option
from desktop.estimate.sheet import Sheet
from desktop.estimate.use import CONTEXT_STEP, batch_tokens, cells
from desktop.estimate.written_line import (
    BYTES,
    MINUS,
    OVER,
    PLUS,
    Line,
    line,
    number,
    times,
    total,
)
from desktop.records.estimate import Configuration, MemoryNeed
from desktop.records.model import Attention, LayerGroup, Weights

_F16_BYTES: Final = 2
Part: TypeAlias = tuple[Said, int]
"""What memory is for, and its bytes."""


def cache_lines(sheet: Sheet) -> tuple[Line, ...]:
    """Of each group what a token reads, and where there are several their sum."""
    lines = [line for group in sheet.model.groups for line in _group(sheet, group)]
    return (*lines, total("written.cache", lines)) if len(lines) > 1 else tuple(lines)


def need_lines(sheet: Sheet, option: Option) -> tuple[Line, ...]:
    """What the device's memory must hold, in bytes and in the unit that memory is told in."""
    bare, target = option.bare, option.target
    own = (Said("written.need.target", {"target": target.id}), target.overhead_bytes)
    less = "written.there.less"
    return (
        *placed_lines(sheet, option.weights, bare, less),
        *sum_lines((*need_parts(sheet, bare), own), sheet.profile.memory_unit_bytes),
    )


def need_parts(sheet: Sheet, need: MemoryNeed) -> tuple[Part, ...]:
    """What a build takes, by purpose; what takes nothing has 0 bytes."""
    tokens = {"tokens": f"{batch_tokens(sheet.use):,}"}
    return (
        (Said("written.need.weights"), need.weights_bytes),
        (Said("written.need.cache"), need.cache_bytes),
        (Said("written.need.scratch", tokens), need.compute_bytes),
        (Said("written.need.output"), need.output_bytes),
        (Said("written.need.extra"), need.extra_bytes),
    )


def sum_lines(parts: Sequence[Part], unit_bytes: int) -> tuple[Line, Line]:
    """All of it, in bytes and in the unit that memory is told in."""
    held = [(said, size) for said, size in parts if size]
    needed = sum(size for _, size in held)
    what = (Said("written.need"), *(said for said, _ in held))
    sums = Line(what, PLUS.join(number(size) for _, size in held), needed, BYTES)
    told = f"{number(needed)}{OVER}{number(unit_bytes)}"
    return sums, line("written.need.told", told, needed / unit_bytes, printed.unit_name(unit_bytes))


def placed_lines(sheet: Sheet, weights: Weights, need: MemoryNeed, less: str) -> Iterator[Line]:
    """What lies in memory, where it is not what the file has or a token reads.

    Args:
        sheet: the model at one depth.
        weights: in one quantization.
        need: what memory holds of them.
        less: the code of why memory holds less than all weights.
    """
    yield from _weights_there(weights.capacity_bytes, need.weights_bytes, less)
    yield from _cache_there(sheet, need.cache_bytes)


def _weights_there(whole: int, there: int, less: str) -> Iterator[Line]:
    """Where memory holds less than all weights, or some of them twice."""
    if there < whole:
        yield line(less, f"{number(whole)}{MINUS}{number(whole - there)}", there)
    elif there > whole:
        expression = f"{number(whole)}{PLUS}{number(there - whole)}"
        yield line("written.there.more", expression, there)


def _cache_there(sheet: Sheet, cache_bytes: int) -> Iterator[Line]:
    """The cache that is set aside, where that is more than a token reads."""
    read = sheet.cache_read_bytes
    if cache_bytes <= read:
        return
    told = {"room": f"{sheet.use.context:,}", "cells": f"{cells(sheet.use):,}"}
    what = Said("written.there.cache", {**told, "step": CONTEXT_STEP})
    sums = f"{number(read)}{PLUS}{number(cache_bytes - read)}"
    yield Line((what,), sums, cache_bytes, BYTES)


def usable_lines(configuration: Configuration, unit_bytes: int) -> Iterator[Line]:
    """The memory that is needed must be below it; nothing where nothing is held back."""
    held, usable = configuration.held_back_bytes, configuration.usable_bytes
    if not held:
        return
    told = f"({number(usable + held)}{MINUS}{number(held)}){OVER}{number(unit_bytes)}"
    what = Said("written.usable", {"held": printed.memory(held, unit_bytes)})
    yield Line((what,), told, usable / unit_bytes, printed.unit_name(unit_bytes))


def _group(sheet: Sheet, group: LayerGroup) -> Iterator[Line]:
    """Keys and values of all tokens that the layer sees, and its state."""
    parts = []
    if width := _width(group):
        parts.append(times(group.layers, width, _F16_BYTES, _tokens(sheet, group)))
    if group.recurrent is not None:
        parts.append(times(group.layers, state_bytes(sheet.model, group.recurrent)))
    if parts:
        read = group_read_bytes(sheet.model, group, sheet.use)
        yield Line((Said("written.group"), *group_words(group)), PLUS.join(parts), read, BYTES)


def _width(group: LayerGroup) -> str:
    """Elements of one token's keys and values in one layer, as an expression."""
    if group.attention is Attention.LATENT:
        kept = (group.latent_size, group.rope_size, group.indexer_size)
        return f"({PLUS.join(number(size) for size in kept if size)})"
    if group.attention not in {Attention.FULL, Attention.SLIDING} or not group.kv_heads:
        return ""
    sizes = f"({number(group.key_size or 0)}{PLUS}{number(group.value_size or 0)})"
    extra = f"{PLUS}{number(group.indexer_size)}" if group.indexer_size else ""
    product = times(group.kv_heads, sizes)
    return f"({product}{extra})" if extra else product


def _tokens(sheet: Sheet, group: LayerGroup) -> int:
    tokens = sheet.use.depth + 1
    slides = group.attention is Attention.SLIDING and group.window
    return min(tokens, group.window or tokens) if slides else tokens
