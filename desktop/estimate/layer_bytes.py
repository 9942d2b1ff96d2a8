"""A model's bytes by layer group: what is held, and what a token reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from desktop.estimate.cache import cache_read_bytes
from desktop.estimate.facts import group_words
from desktop.estimate.layers import layers_of
from desktop.estimate.page_words import Said
from desktop.estimate.sheet import Sheet
from desktop.records.estimate import Use
from desktop.records.model import LayerGroup, Model, WeightPart, Weights, WeightUse


@dataclass(frozen=True, slots=True)
class LayerBytes:
    """One line: a layer group, or what lies outside the layers."""

    what: tuple[Said, ...]
    group: LayerGroup | None
    """None outside the layers."""
    weight_bytes: int | None
    """None where the weights are not known by layer: then the line of the whole has them."""
    read_bytes: int | None
    """Weights read for a token."""
    cache_bytes: int = 0
    """That memory must hold."""
    cache_read_bytes: int = 0
    """Read for a token at `Use.depth`."""


def by_layer_group(sheet: Sheet, weights: Weights) -> tuple[LayerBytes, ...]:
    """What lies outside the layers, then the groups in their order.

    Raises:
        GramError: as `cache.cache_bytes`.
    """
    return (*_outside(weights.parts), *_groups(sheet, weights.parts))


def group_read_bytes(model: Model, group: LayerGroup, use: Use) -> int:
    """Bytes of keys, values and state that a token reads in one group.

    Raises:
        GramError: as `cache.cache_bytes`.
    """
    return cache_read_bytes(replace(model, groups=(replace(group, indices=()),)), use)


def _outside(parts: Sequence[WeightPart]) -> Iterator[LayerBytes]:
    whole = all(part.layer is None for part in parts)
    for use in WeightUse:
        found = [part for part in parts if part.layer is None and part.use is use]
        if found:
            code = "bytes.whole" if whole and use is WeightUse.OTHER else f"bytes.{use}"
            yield LayerBytes((Said(code),), None, *_sums(found))


def _groups(sheet: Sheet, parts: Sequence[WeightPart]) -> Iterator[LayerBytes]:
    layers = layers_of(sheet.model)
    held = sheet.profile.counting.layer_cache(sheet.model, sheet.use)
    known = any(part.layer is not None for part in parts)
    for group in sheet.model.groups:
        mine = {index for index, layer in enumerate(layers) if layer is group}
        found = [part for part in parts if part.layer in mine]
        weight_bytes, read_bytes = _sums(found) if known else (None, None)
        yield LayerBytes(
            group_words(group),
            group,
            weight_bytes,
            read_bytes,
            sum(held[index] for index in mine),
            group_read_bytes(sheet.model, group, sheet.use),
        )


def _sums(parts: Sequence[WeightPart]) -> tuple[int, int]:
    return sum(part.bytes for part in parts), sum(part.active_bytes for part in parts)
