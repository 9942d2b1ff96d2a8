"""What is loaded beside a model: its projector for pictures, its layers that predict ahead."""

import math
from dataclasses import replace
from typing import Final

from desktop.errors import GramError
from desktop.estimate.layers import layers_of
from desktop.estimate.memory import Needs
from desktop.records.build import Header
from desktop.records.estimate import MemoryNeed
from desktop.records.model import Attention, Model

_F32_BYTES: Final = 4
_MAX_SIDE: Final = 1 << 14
_MAX_WIDTH: Final = 1 << 16
_NOTHING: Final = MemoryNeed(0, 0, 0)


def projector_needs(header: Header, cards: int) -> Needs:
    """What a projector (`mmproj` file) takes on the first card, or on the host without cards.

    Its weights, and scratch for one picture of its own size: the scores of all patches among each
    other as where flash attention is not to be had, or the widest layer. An upper estimate; it is
    not checked against the engine.

    Raises:
        GramError: `header_lacks`, `header_absurd`, where it is no projector for pictures.
    """
    weights = sum(tensor.size_bytes for tensor in header.tensors)
    side, patch = _field(header, "image_size", _MAX_SIDE), _field(header, "patch_size", _MAX_SIDE)
    patches = math.ceil(side / patch) ** 2
    heads = _field(header, "attention.head_count", _MAX_WIDTH)
    width = _field(header, "embedding_length", _MAX_WIDTH)
    inner = _field(header, "feed_forward_length", _MAX_WIDTH)
    scores = heads * patches * patches + 4 * width * patches
    layer = (2 * inner + 2 * width) * patches
    need = MemoryNeed(weights, 0, _F32_BYTES * max(scores, layer))
    if not cards:
        return Needs((), need)
    return Needs((need, *[_NOTHING] * (cards - 1)), _NOTHING)


def predictor(model: Model) -> Model | None:
    """The layers that predict further tokens (NextN, MTP), as a model of their own.

    They have full attention and a cache of their own, and share embedding and output. None where
    there are none.

    Raises:
        GramError: `layers_unclear`, also where no layer of the model shows how they attend.
    """
    if not model.predict_layers:
        return None
    attending = {Attention.FULL, Attention.LATENT}
    last = [group for group in layers_of(model) if group.attention in attending][-1:]
    if not last:
        detail = "layers predict ahead, and none has full attention"
        raise GramError("layers_unclear", name=model.name, detail=detail)
    group = replace(last[0], layers=model.predict_layers, indices=())
    return replace(model, groups=(group,), predict_layers=0)


def _field(header: Header, key: str, limit: int) -> int:
    name, whole = "the projector", f"clip.vision.{key}"
    value = header.metadata.get(whole)
    if value is None:
        raise GramError("header_lacks", name=name, key=whole)
    if not isinstance(value, int) or not 0 < value <= limit:
        raise GramError("header_absurd", name=name, key=whole, found=str(value)[:40])
    return value
