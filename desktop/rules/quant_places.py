"""Where each tensor of a model stands, in the eyes of llama.cpp's quantizer.

The type that a tensor gets depends on its role, on where it stands among the tensors of that role,
and on a few facts of the model: all of it is told here; the choice itself is `quant_mix`. Source:
src/llama-quant.cpp, as of llama-cpp-python 0.3.36.
"""

from collections import Counter
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final, NamedTuple

from desktop.records.model import Attention, LayerGroup, Model
from desktop.rules.quant_table import ALWAYS_F32, WHOLE
from desktop.rules.tensor_shapes import Tensor, layers_of, plan_of

_MODELS_KEPT: Final = 512
_BLOCK_SIZES: Final = (256, 32)
_EXPERTS_OF_MIXTRAL: Final = 8
_LAYERS_OF_70B: Final = {"llama": 80, "qwen2": 80, "deci": 80}
"""Where so many layers make llama.cpp call the model a 70B one."""
_ONE_HEAD_COUNT: Final = frozenset({"qwen3next", "qwen35", "qwen35moe"})
"""Hybrids whose header tells one number of heads for all layers, recurrent ones too."""


class Role(StrEnum):
    """What the quantizer takes a tensor for."""

    HEAD = "head"
    """The output matrix; the embedding where tied."""
    LOOKUP = "look"
    """The embedding of an untied model."""
    VALUE = "v"
    """`attn_v`, `attn_qkv`, `attn_kv_b`."""
    KEY = "k"
    QUERY = "q"
    OUT = "out"
    UP = "up"
    GATE = "gate"
    DOWN = "down"
    OTHER = "other"
    F32 = "f32"
    """Not quantized: F32 in every file."""
    KEPT = "kept"
    """Not quantized: as in the file it was made of, F16 or BF16."""
    NATIVE = "native"
    """Experts that were published in MXFP4: no quantizer touches them."""


class Place(NamedTuple):
    """All that the choice of a tensor's type depends on."""

    role: Role
    row_blocks: int
    """The largest of 256, 32 and 1 that divides a row."""
    conditions: frozenset[str]


class Places(NamedTuple):
    """Where each tensor of a `Plan` stands."""

    outside: tuple[Place, ...]
    layers: tuple[tuple[Place, ...], ...]
    """Of each layer; equal ones are one object."""


_COUNTED: Final = frozenset({Role.VALUE, Role.DOWN, Role.GATE, Role.UP})
"""Roles whose type depends on the layer."""


@lru_cache(_MODELS_KEPT)
def places_of(model: Model) -> Places | None:
    """Where each tensor of `plan_of(model)` stands; None where the model is not covered."""
    plan, layers = plan_of(model), layers_of(model)
    if plan is None or not layers:
        return None
    facts = _facts(model, layers)
    outside = tuple(_place(model, tensor, facts) for tensor in plan.outside)
    kinds = [tuple(_place(model, tensor, facts) for tensor in kind) for kind in plan.kinds]
    values = sum(_count(kinds[number], Role.VALUE) for number in plan.layers)
    seen: dict[tuple[Place, ...], tuple[Place, ...]] = {}
    found, counts = [], Counter[Role]()
    for i, number in enumerate(plan.layers):
        standing = _Standing(i if model.is_mixture else None, len(layers) + model.predict_layers)
        places = tuple(_standing_place(p, counts, values, standing) for p in kinds[number])
        found.append(seen.setdefault(places, places))
    return Places(outside, tuple(found))


def _count(places: tuple[Place, ...], role: Role) -> int:
    return sum(place.role is role for place in places)


def _place(model: Model, tensor: Tensor, facts: frozenset[str]) -> Place:
    name, shape = tensor
    stacked = len(shape) > 2  # noqa: PLR2004 - a matrix for each expert or head
    conditions = facts | {"stacked"} if stacked else facts
    return Place(_role(model, name, len(shape)), _row_blocks(shape[0]), conditions)


class _Standing(NamedTuple):
    layer: int | None
    """Where layers are told by their names; None where tensors are counted."""
    layers: int


def _standing_place(place: Place, counts: Counter[Role], values: int, standing: _Standing) -> Place:
    """The place with the conditions of its layer; counts it."""
    role = place.role
    if role not in _COUNTED:
        return place
    counted = counts[role]
    counts[role] += 1
    if role is Role.VALUE:
        return _with(place, _value_standing(counted, values))
    layer = counted if standing.layer is None else standing.layer
    return _with(place, _standing(layer, counted, standing.layers))


@cache
def _with(place: Place, told: frozenset[str]) -> Place:
    return place._replace(conditions=place.conditions | told)


def _facts(model: Model, layers: tuple[LayerGroup, ...]) -> frozenset[str]:
    experts = max((group.experts or 0 for group in layers), default=0)
    grouped = _queries_per_key(model, layers)
    told = {
        "experts4": experts >= 4,  # noqa: PLR2004 - as the quantizer asks
        "experts8": experts == _EXPERTS_OF_MIXTRAL,
        "gqa4": grouped >= 4,  # noqa: PLR2004
        "big": experts != _EXPERTS_OF_MIXTRAL
        and len(layers) == _LAYERS_OF_70B.get(model.architecture)
        and (grouped > 1 or model.architecture != "llama"),
    }
    return frozenset(name for name, holds in told.items() if holds)


def _queries_per_key(model: Model, layers: tuple[LayerGroup, ...]) -> int:
    """Heads ÷ K/V heads of the first layer; 0 where that one has no attention."""
    first = layers[0]
    if model.architecture in _ONE_HEAD_COUNT:
        first = next((group for group in layers if group.kv_heads), first)
    if first.attention is Attention.LATENT:
        return first.heads or 0
    if first.attention in {Attention.RECURRENT, Attention.NONE} and not first.kv_heads:
        return 0
    return (first.heads or 0) // (first.kv_heads or first.heads or 1)


def _role(model: Model, name: str, dimensions: int) -> Role:
    if dimensions < 2:  # noqa: PLR2004 - a vector
        return Role.F32
    role = _named_role(name)
    if role is Role.LOOKUP and model.tied:
        return Role.HEAD
    if model.native_precision == "mxfp4" and name.endswith("_exps.weight"):
        return Role.NATIVE
    return role


@cache
def _named_role(name: str) -> Role:
    """The role by the name without its layer."""
    if not name.endswith("weight") or any(part in name for part in ALWAYS_F32):
        return Role.F32
    if any(part in name for part in WHOLE):
        return Role.KEPT
    return next((role for part, role in _ROLES if part in name), Role.OTHER)


_ROLES: Final = (
    ("token_embd.weight", Role.LOOKUP),  # the per-layer one too
    ("attn_qkv.weight", Role.VALUE),
    ("attn_kv_b.weight", Role.VALUE),
    ("attn_v.weight", Role.VALUE),
    ("attn_k.weight", Role.KEY),
    ("attn_q.weight", Role.QUERY),
    ("attn_output.weight", Role.OUT),
    ("output.weight", Role.HEAD),
    ("ffn_up", Role.UP),
    ("ffn_gate", Role.GATE),
    ("ffn_down", Role.DOWN),
)


@cache
def _value_standing(i: int, n: int) -> frozenset[str]:
    told = {"v2": i < 2, "v4": i < 4, "more": _more(i, n)}  # noqa: PLR2004 - as the quantizer asks
    return frozenset(name for name, holds in told.items() if holds)


@cache
def _standing(layer: int, counted: int, n: int) -> frozenset[str]:
    told = {
        "first8": layer < n // 8,
        "first16": layer < n // 16,
        "middle": n // 8 <= layer < 7 * n // 8,
        "more": _more(layer, n),
        "counted8": counted < n // 8,
    }
    return frozenset(name for name, holds in told.items() if holds)


def _more(i: int, n: int) -> bool:
    """The first and the last eighth, and every third between."""
    return i < n // 8 or i >= 7 * n // 8 or (i - n // 8) % 3 == 2  # noqa: PLR2004


def _row_blocks(row: int) -> int:
    return next((size for size in _BLOCK_SIZES if row % size == 0), 1)
