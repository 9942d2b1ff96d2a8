"""What fits on this machine and how fast: joins its facts, parts and runs with the catalogue.

The one way to estimates of this machine: `gram fits`, `gram estimate --device this` and the window
ask here. Reading takes a second or two (the engine is asked for its devices), so it is done on the
slow-calls thread and kept; each further question is arithmetic.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from desktop.estimate.here import Asked, rows_here
from desktop.estimate.sizes import weights_of
from desktop.paths import Paths
from desktop.records.estimate import Use
from desktop.records.events import FitsKnown
from desktop.records.fits import Fit, FitRow, Fits, FitsRequest
from desktop.records.model import Model, Quant
from desktop.services import estimate_tables
from desktop.services.ground import Ground, read_ground
from desktop.services.profiles import models

_FIT_ORDER: Final = (Fit.ON_CARD, Fit.IN_MEMORY, Fit.WITH_OFFLOAD, Fit.NOWHERE)
_DECENT: Final = frozenset({"excellent", "good", "acceptable"})
_BF16: Final = "bf16"
_USUAL: Final = frozenset(
    ("F16", "BF16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "Q3_K_M", "Q2_K", "MXFP4_MOE")
)
"""File types that most publishers make: one of them is proposed, all are there for who asks."""


class Estimates:
    """Estimates for this machine; keeps what it has read. For the slow-calls thread."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._ground: Ground | None = None

    def fits(self, request: FitsRequest) -> FitsKnown:
        """What fits, best first.

        Raises:
            GramError: `bad_number` for an absurd context; the ledger or the tables cannot be read.
        """
        if self._ground is None:
            self._ground = read_ground(self._paths)
        return FitsKnown(fits_of(self._ground, request))

    def forget(self) -> None:
        """Read anew at the next question: parts or runs were measured, or devices changed."""
        self._ground = None


def fits_of(ground: Ground, request: FitsRequest) -> Fits:
    """Answer from what was read: arithmetic only.

    Raises:
        GramError: `bad_number` for an absurd context.
    """
    use = Use(context=request.context, depth=max(0, min(request.depth, request.context - 1)))
    labels, words = _words(request.words)
    quants = [q for q in _quants(ground) if _wanted(q, labels, request)]
    wanted = [model for model in models() if all(word in _names(model) for word in words)]
    found = _rows(ground, wanted, quants, use)
    rows = found
    if not (request.all_builds or labels):
        by_model = groupby(found, key=lambda row: row.model.id)
        rows = [row for _, group in by_model for row in _chosen(list(group), request)]
    rows.sort(key=_order)
    return Fits(
        request=request,
        kind=ground.kind,
        devices=ground.devices,
        threads=ground.threads,
        on_card_bytes=ground.on_card_bytes,
        with_offload_bytes=ground.with_offload_bytes,
        parts_at=ground.parts_at,
        runs=len(ground.here.evidence.decode),
        told=ground.told,
        rows=tuple(rows),
        hidden=len(wanted) - len({row.model.id for row in rows}),
    )


def _wanted(quant: Quant, labels: frozenset[str], request: FitsRequest) -> bool:
    if labels:
        return quant.id in labels
    return request.all_builds or quant.file_type in _USUAL


def _rows(
    ground: Ground, wanted: Sequence[Model], quants: Sequence[Quant], use: Use
) -> list[FitRow]:
    asked = [
        Asked(model, quant, weights_of(model, quant), _build(ground, model, quant))
        for model in wanted
        for quant in quants
    ]
    rows = rows_here(ground.here, asked, use)
    return [replace(row, measured_tok_s=_measured(ground, row)) for row in rows]


def _build(ground: Ground, model: Model, quant: Quant) -> str:
    """The sha256 of a build of it that was measured here; its own runs say most."""
    found = ground.measured.get((model.id, quant.id))
    return found[0] if found else ""


def _measured(ground: Ground, row: FitRow) -> float | None:
    found = ground.measured.get((row.model.id, row.quant.id))
    return found[1] if found else None


def _chosen(rows: Sequence[FitRow], request: FitsRequest) -> list[FitRow]:
    """Of one model: the best quality that is fast enough; else the fastest of decent quality."""
    for fit in _FIT_ORDER[:-1]:
        there = [row for row in rows if row.fit is fit]
        if not there:
            continue
        fast = [r for r in there if _low(r) >= request.at_least_tok_s]
        if fast:
            return [max(fast, key=lambda r: r.quant.rank)]
        decent = [r for r in there if r.quant.quality in _DECENT] or there
        return [max(decent, key=lambda r: (_low(r), r.quant.rank))]
    return []


def _low(row: FitRow) -> float:
    return row.estimate.decode.low_tok_s if row.estimate.decode else 0.0


def _order(row: FitRow) -> tuple[int, float, int, str, int]:
    """Where it fits, then the high end of the range; ties by memory, then by name."""
    decode, need = row.estimate.decode, row.estimate.need
    high = decode.high_tok_s if decode else 0.0
    held = need.total_bytes if need else row.size_bytes
    return _FIT_ORDER.index(row.fit), -high, held, row.model.id, -row.quant.rank


def _words(words: Iterable[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Quantizations that are named, by id, and the other words."""
    by_name = {name.casefold(): q.id for q in estimate_tables.quants() for name in (q.id, q.label)}
    folded = [word.casefold() for word in words]
    return (
        frozenset(by_name[word] for word in folded if word in by_name),
        tuple(word for word in folded if word not in by_name),
    )


def _names(model: Model) -> str:
    told = (model.id, model.name, model.family, model.publisher, *model.aliases)
    return " ".join(filter(None, told)).casefold()


def _quants(ground: Ground) -> list[Quant]:
    """llama.cpp's own; BF16 only where the devices compute in it."""
    return [
        quant
        for quant in estimate_tables.quants()
        if quant.file_type and (quant.family != _BF16 or ground.computes_bf16)
    ]
