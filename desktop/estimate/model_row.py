"""One line of the table of models: a JSON object with the fields of `records.model.Model`.

Fields that are not there have the record's default. `indices` of a layer group are written as
ranges: `0-4,6-10` or, every sixth, `5-23:6`.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from desktop.estimate.graph_states import KINDS
from desktop.estimate.layers import MAX_LAYERS
from desktop.estimate.use import MAX_CONTEXT
from desktop.records.model import Attention, LayerGroup, Model, Recurrent
from desktop.rules.strict_json import parse_object
from desktop.rules.table_rows import shown

MAX_SIZE: Final = 1 << 24
"""Of any width, count of heads or vocabulary."""
MAX_PARAMETERS: Final = 10**14
_RANGE: Final = re.compile(r"(\d{1,4})(?:-(\d{1,4})(?::(\d{1,3}))?)?")
_REQUIRED: Final = ("family", "publisher", "released", "context_trained", "sources")
_TEXTS: Final = ("family", "publisher", "released", "license", "native_precision")
_LISTS: Final = ("sources", "repositories", "aliases")
_COUNTS: Final = {
    "active_parameters": MAX_PARAMETERS,
    "extra_parameters": MAX_PARAMETERS,
    "context_trained": MAX_CONTEXT,
    "per_layer_embedding": MAX_SIZE,
}
_TYPES: Final = ("fp32", "fp16", "bf16", "fp8", "mxfp4", "int4")
"""In which weights are published."""
_GROUP_COUNTS: Final = (
    "heads",
    "kv_heads",
    "key_size",
    "value_size",
    "window",
    "latent_size",
    "rope_size",
    "query_latent_size",
    "feed_forward",
    "experts",
    "experts_used",
    "expert_feed_forward",
    "shared_feed_forward",
)
_STATE_COUNTS: Final = ("conv_kernel", "inner_size", "state_size", "groups", "time_step_rank")


def model_of_row(line: str) -> Model:
    """The model of a line of `resources/catalogue/models.jsonl`.

    Raises:
        ValueError: not JSON, a field is missing, unknown or absurd, or layers do not add up.
    """
    row = parse_object(line)
    name = _text(row, "id")
    try:
        return _model(row)
    except ValueError as e:
        raise ValueError(f"{shown(name)}: {e}") from e


def layers_of(text: str) -> tuple[int, ...]:
    """The layers that ranges name: `0-3,5` → 0, 1, 2, 3, 5.

    Raises:
        ValueError: not ranges, or a layer is named twice or out of order.
    """
    found: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if not match:
            raise ValueError(f"indices {part!r} are not a range")
        first, last, step = match.groups()
        layers = range(int(first), int(last or first) + 1, int(step or 1))
        if not layers:
            raise ValueError(f"indices {part!r} are not a range")
        found += layers
    if found != sorted(set(found)):
        raise ValueError(f"indices {text!r} are not in order")
    return tuple(found)


def _model(row: Mapping[str, Any]) -> Model:
    _known(row, {"id", "name", "architecture", "parameters", "hidden", "vocabulary", "groups",
                 "tied", *_TEXTS, *_LISTS, *_COUNTS})  # fmt: skip
    missing = [name for name in _REQUIRED if not row.get(name)]
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    groups = tuple(_group(group) for group in _objects(row, "groups"))
    _add_up(groups)
    rest: dict[str, Any] = {
        **{name: _text(row, name) for name in _TEXTS if name in row},
        **{name: _texts(row, name) for name in _LISTS},
        **{name: _count(row, name, most) for name, most in _COUNTS.items() if name in row},
    }
    if "native_precision" in row and row["native_precision"] not in _TYPES:
        raise ValueError(f"native_precision is {shown(row['native_precision'])}")
    return Model(
        id=_text(row, "id"),
        name=_text(row, "name"),
        architecture=_text(row, "architecture"),
        parameters=_count(row, "parameters", MAX_PARAMETERS),
        hidden=_count(row, "hidden"),
        vocabulary=_count(row, "vocabulary"),
        groups=groups,
        tied=_flag(row, "tied"),
        **rest,
    )


def _group(row: Mapping[str, Any]) -> LayerGroup:
    _known(row, {"layers", "attention", "indices", "shares_cache", "gated", "recurrent",
                 *_GROUP_COUNTS})  # fmt: skip
    state = row.get("recurrent")
    if state is not None and not isinstance(state, dict):
        raise ValueError("recurrent is no object")
    counts: dict[str, Any] = {name: _count(row, name) for name in _GROUP_COUNTS if name in row}
    return LayerGroup(
        layers=_count(row, "layers", MAX_LAYERS),
        attention=_attention(row),
        indices=layers_of(_text(row, "indices")) if "indices" in row else (),
        shares_cache=_flag(row, "shares_cache") if "shares_cache" in row else False,
        gated=_flag(row, "gated") if "gated" in row else True,
        recurrent=None if state is None else _recurrent(state),
        **counts,
    )


def _recurrent(row: Mapping[str, Any]) -> Recurrent:
    _known(row, {"kind", *_STATE_COUNTS})
    counts: dict[str, Any] = {name: _count(row, name) for name in _STATE_COUNTS if name in row}
    kind = _text(row, "kind")
    if kind not in KINDS:
        raise ValueError(f"kind is {shown(kind)}, none of {', '.join(sorted(KINDS))}")
    return Recurrent(kind=kind, **counts)


def _attention(row: Mapping[str, Any]) -> Attention:
    kind = _text(row, "attention")
    try:
        return Attention(kind)
    except ValueError as e:
        kinds = ", ".join(Attention)
        raise ValueError(f"attention is {shown(kind)}, none of {kinds}") from e


def _add_up(groups: tuple[LayerGroup, ...]) -> None:
    """Layers are counted once each, heads divide, and each kind of layer has its measures."""
    if not groups:
        raise ValueError("no layer groups")
    for group in groups:
        if group.indices and len(group.indices) != group.layers:
            raise ValueError(f"{len(group.indices)} indices of {group.layers} layers")
        _has_measures(group)
    layers = sum(group.layers for group in groups)
    if layers > MAX_LAYERS:
        raise ValueError(f"groups have {layers} layers, more than {MAX_LAYERS}")
    told = [index for group in groups for index in group.indices]
    if told and sorted(told) != list(range(layers)):
        raise ValueError("the groups' indices are not each layer once")


def _has_measures(group: LayerGroup) -> None:
    heads, kv_heads = group.heads, group.kv_heads
    wanted = {
        Attention.FULL: (heads, kv_heads, group.key_size, group.value_size),
        Attention.SLIDING: (heads, kv_heads, group.key_size, group.value_size, group.window),
        Attention.LATENT: (heads, group.latent_size, group.rope_size),
        Attention.RECURRENT: (group.recurrent,),
        Attention.NONE: (),
    }[group.attention]
    if None in wanted:
        raise ValueError(f"a measure of {group.attention} attention is missing")
    if heads and kv_heads and heads % kv_heads:
        raise ValueError(f"{heads} heads do not divide into {kv_heads}")
    mixture = (group.experts, group.experts_used, group.expert_feed_forward)
    if any(mixture) and not all(mixture):
        raise ValueError("a measure of the experts is missing")
    if (group.experts_used or 0) > (group.experts or 0):
        raise ValueError(f"experts_used is {group.experts_used} of {group.experts} experts")


def _known(row: Mapping[str, Any], names: set[str]) -> None:
    if unknown := set(row) - names:
        raise ValueError(f"there is no field {min(unknown)}")


def _objects(row: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = row.get(name)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ValueError(f"{name} is no list of objects")
    return value


def _texts(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts; empty where it is not there."""
    value = row.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ValueError(f"{name} is no list of texts")
    if len(set(value)) != len(value):
        raise ValueError(f"{name} says a thing twice")
    return tuple(value)


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is missing")
    if value != value.strip() or not value.isprintable():
        raise ValueError(f"{name} has spaces around it, or characters that do not print")
    return value


def _flag(row: Mapping[str, Any], name: str) -> bool:
    if not isinstance(row.get(name), bool):
        raise ValueError(f"{name} is neither true nor false")  # noqa: TRY004 - one kind for callers
    return bool(row[name])


def _count(row: Mapping[str, Any], name: str, most: int = MAX_SIZE) -> int:
    value = row.get(name)
    if type(value) is not int or not 0 < value <= most:
        raise ValueError(f"{name} is {shown(value)}")
    return value
