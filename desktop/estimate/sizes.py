"""Bytes of a model's weights in a quantization: what memory holds, what a token reads."""

from desktop.records.model import Model, Quant, SizeBasis, WeightPart, Weights, WeightUse


def bits_weights(model: Model, quant: Quant) -> Weights:
    """Parameters x bits per weight ÷ 8: all of them held, the active ones read for each token.

    The rule of the published estimator pages: the embedding lookup counts as read.
    """
    active = model.parameters if model.active_parameters is None else model.active_parameters
    held, read = _bits(model.parameters, quant), _bits(active, quant)
    part = WeightPart(WeightUse.OTHER, None, quant.label, held, read)
    return Weights(quant.id, SizeBasis.BITS, (part,))


def weights_of(model: Model, quant: Quant) -> Weights:
    """The weights of `model` in `quant`, by the best basis there is.

    By bits per weight the embedding of an untied model is held and not read: a token looks up one
    row of it.
    """
    lookup = 0 if model.tied else model.vocabulary * model.hidden
    active = model.parameters if model.active_parameters is None else model.active_parameters
    embedding = WeightPart(WeightUse.EMBEDDING, None, quant.label, _bits(lookup, quant), 0)
    held = _bits(model.parameters, quant) - embedding.bytes
    rest = WeightPart(WeightUse.OTHER, None, quant.label, held, _bits(active - lookup, quant))
    return Weights(quant.id, SizeBasis.BITS, (embedding, rest) if lookup else (rest,))


def _bits(parameters: int, quant: Quant) -> int:
    return round(parameters * quant.bits_per_weight / 8)
