"""What a tensor's bytes are charged to, and how many of them a token reads: one rule for all.

By the tensors' names, so it holds for any GGUF file, and for the tensors that a model's published
facts tell. A lookup table (the embedding of an untied model, the per-layer embeddings) is held and
counts as not read: of each a token reads one row, some kilobytes.
"""

import re
from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, TypeGuard

from desktop.records.build import Header, TensorInfo
from desktop.records.model import LayerGroup, Model, WeightPart, WeightUse
from desktop.rules.header_keys import SHARED_FROM, is_read
from desktop.rules.tensor_shapes import Shape, layers_of

_OUTPUT: Final = "output.weight"
_EMBEDDING: Final = "token_embd.weight"
_LOOKUPS: Final = frozenset(
    {"position_embd.weight", "token_types.weight", "per_layer_token_embd.weight"}
)
_LAYER: Final = re.compile(r"blk\.(\d{1,6})\.(.+)")
_EXPERT_NUMBER: Final = re.compile(r"ffn_(?:gate|up|down)\.\d+\.")
"""Mixtures of early 2024 have a tensor for each expert."""
_ONCE: Final = ("v.", "a.", "mm.", "enc.", "nextn.", "cls.", "dense_")
"""Not read for each token: a projector's tensors, encoders, drafting, what follows an embedding."""
_SHARED: Final = "attention.shared_kv_layers"
_OWN_CACHE: Final = ("attn_k.weight", "attn_v.weight", "attn_k_norm.weight")
_RECURRENT: Final = ("ssm_", "shortconv.", "time_mix_", "channel_mix_")
_VECTOR: Final = 1


@dataclass(frozen=True, slots=True)
class Reading:
    """What of a model decides which of its tensors a token reads."""

    tied: bool
    layers: int | None = None
    """That are loaded: as many as the header says, without those for drafting (MTP). None: all that
    are there."""
    experts: Mapping[int | None, tuple[int, int]] = field(default_factory=dict)
    """By layer, how many experts there are and how many are used; under None for all others."""
    cacheless: Container[int] = ()
    """Layers that read another's cache: they have keys and values and do not use them."""
    recurrent: Container[int] = ()
    """Layers without attention: their `attn_qkv` and `attn_gate` are the recurrent part's."""


@dataclass(frozen=True, slots=True)
class Charge:
    """A tensor's place in the account."""

    use: WeightUse
    layer: int | None
    elements: int
    active_elements: int
    """Read for one token, on average over tokens."""


def charge_of(name: str, shape: Shape, reading: Reading) -> Charge | None:
    """Charge a tensor; None for one that is not loaded.

    Raises:
        KeyError: it belongs to experts, and nothing tells how many are used.
    """
    match = _LAYER.fullmatch(name)
    layer, rest = (int(match[1]), match[2]) if match else (None, name)
    if layer is not None and reading.layers is not None and layer >= reading.layers:
        return None
    elements = _product(shape)
    use = use_of(rest, vector=len(shape) == _VECTOR, recurrent=layer in reading.recurrent)
    active = elements
    if layer is None:
        use, active = _outside(name, use, elements, tied=reading.tied)
    elif use is WeightUse.EXPERTS or "_exps." in rest:
        active = _of_the_used(elements, layer, reading)
    elif layer in reading.cacheless and rest in _OWN_CACHE:
        active = 0
    return Charge(use, layer, elements, active)


@cache
def use_of(name: str, *, vector: bool, recurrent: bool) -> WeightUse:
    """What a tensor of a layer is for, by its name without `blk.N.`."""
    if vector or name.startswith("ffn_gate_inp") or "_norm" in name:
        return WeightUse.OTHER
    if "_exps." in name or _EXPERT_NUMBER.match(name):
        return WeightUse.EXPERTS
    if name.startswith("ffn_"):
        return WeightUse.FEED_FORWARD
    if name.startswith(_RECURRENT) or (recurrent and name.startswith("attn_")):
        return WeightUse.RECURRENT
    return WeightUse.ATTENTION if name.startswith("attn_") else WeightUse.OTHER


def parts_of_header(header: Header) -> tuple[WeightPart, ...] | None:
    """The weights of a file, by use, layer and type; None where it does not tell what is read.

    That is a mixture that does not say how many of its experts are used, or says nonsense.
    """
    reading = _reading_of_header(header)
    if header.integer("expert_count") and not reading.experts:
        return None
    held: Counter[tuple[WeightUse, int | None, str]] = Counter()
    read = held.copy()
    try:
        for tensor in header.tensors:
            charge = charge_of(tensor.name, tensor.shape, reading)
            if charge is not None:
                place = (charge.use, charge.layer, tensor.type)
                held[place] += tensor.size_bytes
                read[place] += tensor.size_bytes * charge.active_elements // charge.elements
    except KeyError:
        return None
    return tuple(WeightPart(*place, size, read[place]) for place, size in held.items())


def reading_of_model(model: Model) -> Reading:
    """The same, from a model's facts."""
    layers = layers_of(model) or ()
    cacheless = frozenset(i for i, group in enumerate(layers) if group.shares_cache)
    experts: dict[int | None, tuple[int, int]] = {
        i: (group.experts, group.experts_used)
        for i, group in enumerate(layers)
        if group.experts and group.experts_used and group.experts_used <= group.experts
    }
    recurrent = frozenset(i for i, group in enumerate(layers) if _is_recurrent(group))
    return Reading(model.tied, len(layers), experts, cacheless, recurrent)


def _is_recurrent(group: LayerGroup) -> bool:
    return group.recurrent is not None and not (group.kv_heads or group.latent_size)


def _outside(name: str, use: WeightUse, elements: int, *, tied: bool) -> tuple[WeightUse, int]:
    if name == _EMBEDDING and not tied:
        return WeightUse.EMBEDDING, 0
    if name == _EMBEDDING or name.startswith("output"):
        return WeightUse.OUTPUT, elements
    if name in _LOOKUPS:
        return WeightUse.EMBEDDING, 0
    return (use, 0) if name.startswith(_ONCE) else (use, elements)


def _of_the_used(elements: int, layer: int, reading: Reading) -> int:
    told = reading.experts
    experts, used = told[layer] if layer in told else told[None]
    return elements * used // experts


def _reading_of_header(header: Header) -> Reading:
    blocks, drafting = header.integer("block_count"), header.integer("nextn_predict_layers")
    behind = drafting if blocks and drafting and 0 < drafting < blocks else 0
    layers = blocks - behind if blocks and blocks > 0 else None
    names = {tensor.name for tensor in header.tensors}
    told = is_read(header.architecture, _SHARED)
    shared = (header.integer(_SHARED) if told else None) or 0
    start = SHARED_FROM.get(header.architecture, (blocks or 0) - shared)
    return Reading(
        tied=_OUTPUT not in names,
        layers=layers,
        experts=_experts_of_header(header),
        cacheless=range(start, blocks or 0) if start > 0 else (),
        recurrent=_recurrent_layers(header.tensors),
    )


def _experts_of_header(header: Header) -> dict[int | None, tuple[int, int]]:
    experts = header.integer("expert_count")
    used = header.metadata.get(f"{header.architecture}.expert_used_count")
    by_layer = dict(enumerate(used)) if isinstance(used, tuple) else {None: used}
    return {
        layer: (experts, count)
        for layer, count in by_layer.items()
        if experts and _is_count(count) and 0 < count <= experts
    }


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _recurrent_layers(tensors: tuple[TensorInfo, ...]) -> frozenset[int]:
    """Layers that have a recurrent part and no keys."""
    recurrent, keyed = set(), set()
    for tensor in tensors:
        if match := _LAYER.fullmatch(tensor.name):
            if match[2].startswith(_RECURRENT):
                recurrent.add(int(match[1]))
            if match[2] in {"attn_k.weight", "attn_kv_a_mqa.weight"}:
                keyed.add(int(match[1]))
    return frozenset(recurrent - keyed)


def _product(shape: Shape) -> int:
    result = 1
    for size in shape:
        result *= size
    return result
