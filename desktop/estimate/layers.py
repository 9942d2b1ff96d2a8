"""A model layer by layer, from its groups."""

from typing import Final

from desktop.errors import GramError
from desktop.records.model import LayerGroup, Model

MAX_LAYERS: Final = 512
"""llama.cpp's `LLAMA_MAX_LAYERS`."""


def layers_of(model: Model) -> tuple[LayerGroup, ...]:
    """The group of each layer, the first layer first.

    Groups that do not say which layers they are fill the layers that are left, in order.

    Raises:
        GramError: `layers_unclear` when groups claim a layer twice, or one that is not there; or
            when there are none, or more than 512.
    """
    if not 1 <= model.layers <= MAX_LAYERS:
        raise GramError("layers_unclear", name=model.name, detail=f"it has {model.layers} layers")
    told = {i: group for group in model.groups for i in group.indices}
    rest = (group for group in model.groups if not group.indices for _ in range(group.layers))
    claims = sum(len(group.indices) for group in model.groups)
    counted = sum(group.layers for group in model.groups if group.indices)
    if not (len(told) == claims == counted and all(0 <= i < model.layers for i in told)):
        detail = "its layer groups do not fit together"
        raise GramError("layers_unclear", name=model.name, detail=detail)
    return tuple(told[i] if i in told else next(rest) for i in range(model.layers))
