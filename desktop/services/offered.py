"""Which quantizations are offered on this machine, and why the others are not."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from desktop.errors import Reason
from desktop.records.model import Model, Quant
from desktop.services.ground import Ground

_BF16: Final = "bf16"


def why_not(ground: Ground, quant: Quant) -> Reason | None:
    """Why a quantization is not offered here, whatever the model; None where it is."""
    if quant.file_type is None:
        return Reason("estimate_no_engine", {"quant": quant.label})
    if quant.family != _BF16 or ground.computes_bf16:
        return None
    code = "estimate_no_arithmetic"
    if ground.computes_bf16 is None:
        code = "estimate_arithmetic_unknown"
    return Reason(code, {"quant": quant.label, "device": _device(ground)})


def why_none(
    ground: Ground, quants: Sequence[Quant], models: Sequence[Model]
) -> tuple[Reason, ...]:
    """Why some of `quants` are not offered, or not for all of `models`."""
    found = [reason for quant in quants if (reason := why_not(ground, quant)) is not None]
    found += [
        Reason("estimate_mixtures_only", {"quant": quant.label})
        for quant in quants
        if not all(map(quant.suits, models))
    ]
    codes = groupby(sorted(found, key=lambda r: r.code), key=lambda r: r.code)
    return tuple(_together(list(group)) for _, group in codes)


def _together(reasons: Sequence[Reason]) -> Reason:
    """One sentence for several quantizations."""
    labels = ", ".join(str(reason.params["quant"]) for reason in reasons)
    return Reason(reasons[0].code, {**reasons[0].params, "quant": labels})


def _device(ground: Ground) -> str:
    """The one that would compute: the first card, else the processor."""
    return next((d.description or d.name for d in ground.devices), ground.kind)
