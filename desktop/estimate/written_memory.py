"""The arithmetic of cache and memory, written out."""

from collections.abc import Iterator

from desktop.estimate.cache import state_bytes
from desktop.estimate.facts import group_words
from desktop.estimate.layer_bytes import group_read_bytes
from desktop.estimate.page_words import Said
from desktop.estimate.ranking import Option
from desktop.estimate.sheet import Sheet
from desktop.estimate.written_line import BYTES, PLUS, Line, line, number, times, total
from desktop.records.model import Attention, LayerGroup

_F16_BYTES = 2


def cache_lines(sheet: Sheet) -> tuple[Line, ...]:
    """Of each group what a token reads, and where there are several their sum."""
    lines = [line for group in sheet.model.groups for line in _group(sheet, group)]
    return (*lines, total("written.cache", lines)) if len(lines) > 1 else tuple(lines)


def need_line(option: Option) -> Line:
    """What the device's memory must hold; parts of no bytes are left out."""
    bare, overhead = option.need, option.target.overhead_bytes
    parts = (
        bare.weights_bytes,
        bare.cache_bytes,
        bare.compute_bytes - overhead,
        bare.output_bytes,
        bare.extra_bytes,
        overhead,
    )
    return line("written.need", PLUS.join(number(p) for p in parts if p), bare.total_bytes)


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
