"""The type of each tensor of a model in a kind of file, as llama.cpp's quantizer chooses it.

The rules are data (`quant_table`), and what they ask for is told by `quant_places`. Which files of
others were made with an importance matrix, or with types of the maker's own choice, no rule tells.
"""

from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Final, TypeAlias

from desktop.records.model import Model
from desktop.rules.ggml_types import BLOCKS
from desktop.rules.quant_places import Place, Role, places_of
from desktop.rules.quant_table import FALLBACKS, MIXES, NEED_MATRIX

Rule: TypeAlias = tuple[frozenset[str], frozenset[str], str]
"""Conditions that must hold, those that must not, and the type."""

FILE_TYPES_COVERED: Final = frozenset(
    line.split()[0] for line in MIXES.splitlines() if line[:1].strip()
)


def types_of(model: Model, file_type: str, *, matrix: bool | None = None) -> tuple[str, ...] | None:
    """The type of each of `tensors_of(model)`; None where model or file type are not covered.

    `matrix` tells whether an importance matrix was used; None: only where there must be one.
    """
    places = places_of(model)
    if places is None or file_type not in FILE_TYPES_COVERED:
        return None
    if matrix is None:
        matrix = file_type in NEED_MATRIX
    all_places = chain(places.outside, *places.layers)
    return tuple(type_at(place, file_type, matrix) for place in all_places)


@cache
def type_at(place: Place, file_type: str, matrix: bool) -> str:  # noqa: FBT001 - a part of the key
    """The type of a tensor at `place` in a file of the covered type `file_type`."""
    if place.role is Role.F32:
        return "F32"
    if place.role is Role.KEPT:
        return file_type if file_type in {"F32", "F16"} else "BF16"
    if place.role is Role.NATIVE:
        return "MXFP4"
    default, rules = _mixes()[file_type]
    holding = place.conditions | {"matrix"} if matrix else place.conditions
    chosen = _first(rules.get(place.role, ()), holding) or default
    if place.role is Role.HEAD and place.row_blocks % BLOCKS[default].block_elements:
        chosen = "Q8_0"
    return _fitting(chosen, place.row_blocks)


def _first(rules: tuple[Rule, ...], holding: frozenset[str]) -> str | None:
    return next(
        (kind for must, not_, kind in rules if must <= holding and not not_ & holding), None
    )


def _fitting(kind: str, row_blocks: int) -> str:
    if row_blocks % BLOCKS[kind].block_elements == 0:
        return kind
    kind = FALLBACKS.get(kind, kind)
    return kind if row_blocks % BLOCKS[kind].block_elements == 0 else "F16"


@cache
def _mixes() -> Mapping[str, tuple[str, Mapping[str, tuple[Rule, ...]]]]:
    """By file type its default, and the rules of each role."""
    joined = MIXES.replace("\n ", " ").split("\n")
    mixes = {}
    for name, default, *rules in (line.split() for line in joined if line):
        by_role: dict[str, tuple[Rule, ...]] = {}
        for left, kind in (rule.split("=") for rule in rules):
            role, _, conditions = left.partition(":")
            by_role[role] = (*by_role.get(role, ()), _rule(conditions, kind))
        mixes[name] = (default, by_role)
    return mixes


def _rule(conditions: str, kind: str) -> Rule:
    words = [word for word in conditions.split("+") if word]
    must = frozenset(word for word in words if not word.startswith("!"))
    return must, frozenset(word[1:] for word in words if word.startswith("!")), kind
