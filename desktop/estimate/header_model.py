"""A model from a GGUF header: its layers as the engine understands them."""

import math
import re
from dataclasses import replace
from typing import Final

from desktop.errors import GramError
from desktop.estimate.architectures import TRAITS
from desktop.estimate.header_fields import MAX_CONTEXT, Fields
from desktop.estimate.header_layers import layers_in
from desktop.estimate.layers import MAX_LAYERS
from desktop.records.build import Header
from desktop.records.model import LayerGroup, Model
from desktop.rules.header_keys import PER_LAYER_WIDTHS

_OUTPUT: Final = "output.weight"
_NOT_IN_IDS: Final = re.compile(r"[^a-z0-9.]+")


def model_of(header: Header) -> Model:
    """The model that the file holds, with one layer group for each kind of layer.

    Raises:
        GramError: `architecture_unknown`, `header_lacks`, `header_absurd`.
    """
    traits = TRAITS.get(header.architecture)
    if traits is None:
        raise GramError("architecture_unknown", architecture=header.architecture)
    fields = Fields(header)
    declared = fields.required("block_count", MAX_LAYERS)
    predict = fields.number("nextn_predict_layers", declared - 1) or 0
    return Model(
        id=_NOT_IN_IDS.sub("-", fields.name.lower()).strip("-") or header.architecture,
        name=fields.name,
        architecture=header.architecture,
        parameters=_parameters(header, fields),
        hidden=fields.required("embedding_length"),
        vocabulary=fields.vocabulary(),
        groups=_grouped(layers_in(header, traits, declared, declared - predict)),
        tied=not any(tensor.name == _OUTPUT for tensor in header.tensors),
        context_trained=fields.number("context_length", MAX_CONTEXT) or None,
        per_layer_embedding=_per_layer_width(header, fields),
        predict_layers=predict,
    )


def _grouped(layers: list[LayerGroup]) -> tuple[LayerGroup, ...]:
    """Equal layers together, in the order in which they first come."""
    places: dict[LayerGroup, list[int]] = {}
    for i, layer in enumerate(layers):
        places.setdefault(layer, []).append(i)
    return tuple(
        replace(layer, layers=len(where), indices=tuple(where)) for layer, where in places.items()
    )


def _per_layer_width(header: Header, fields: Fields) -> int | None:
    told = fields.number("embedding_length_per_layer_input")
    return PER_LAYER_WIDTHS.get(header.architecture, told) or None


def _parameters(header: Header, fields: Fields) -> int:
    if not header.tensors:
        raise fields.lacks("tensors")
    return sum(math.prod(tensor.shape) for tensor in header.tensors)
