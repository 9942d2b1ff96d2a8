"""What fits on this machine and how fast: joins its facts, parts and runs with the catalogue.

The one way to estimates of this machine: `gram fits`, `gram estimate --device this` and the window
ask here. Reading takes a second or two (the engine is asked for its devices), so it is done on the
slow-calls thread and kept; each further question is arithmetic.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from desktop.errors import Reason
from desktop.estimate.here import rows_here
from desktop.estimate.sizes import weights_of
from desktop.estimate.token_work import Asked
from desktop.paths import Paths
from desktop.records.estimate import Estimate, Use
from desktop.records.events import FitsKnown
from desktop.records.fits import Fit, FitRow, Fits, FitsRequest
from desktop.records.model import Model, Quant
from desktop.services import estimate_tables
from desktop.services.ground import Ground, read_ground
from desktop.services.profiles import models

_FIT_ORDER: Final = (Fit.ON_CARD, Fit.IN_MEMORY, Fit.WITH_OFFLOAD, Fit.NOWHERE)
_DECENT: Final = frozenset({"excellent", "good", "acceptable"})
_BF16: Final = "bf16"
_STEP: Final = 12
"""Models of one step: so short that nobody waits long for the thread."""
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
        return FitsKnown(fits_of(self.ground(), request))

    def work(self, requests: Sequence[FitsRequest]) -> "FitsWork":
        """The same for several contexts, in steps.

        Raises:
            GramError: the ledger or the tables cannot be read.
        """
        return FitsWork(self.ground(), requests)

    def ground(self) -> Ground:
        """What is known of the machine.

        Raises:
            GramError: the ledger or the tables cannot be read.
        """
        if self._ground is None:
            self._ground = read_ground(self._paths)
        return self._ground

    def forget(self) -> None:
        """Read anew at the next question: parts or runs were measured, or devices changed."""
        self._ground = None


def fits_of(ground: Ground, request: FitsRequest) -> Fits:
    """Answer from what was read: arithmetic only.

    Raises:
        GramError: `bad_number` for an absurd context.
    """
    return fits_at(ground, (request,))[0]


def fits_at(ground: Ground, requests: Sequence[FitsRequest]) -> tuple[Fits, ...]:
    """Answer several requests that differ in context and depth only.

    Raises:
        GramError: as `fits_of`.
    """
    work = FitsWork(ground, requests)
    while work.go_on():
        pass
    return work.answers()


class FitsWork:
    """Several contexts worked out together, some models at a time: weights are counted once.

    Who has other things to do on the same thread does them between two steps.
    """

    def __init__(self, ground: Ground, requests: Sequence[FitsRequest]) -> None:
        self._ground, self._requests = ground, tuple(requests)
        first = self._requests[0]
        self._labels, words = _words(first.words)
        self._quants = [q for q in _quants(ground) if _wanted(q, self._labels, first)]
        self._wanted = [m for m in models() if all(word in _names(m) for word in words)]
        self._done = 0
        self._rows: list[list[FitRow]] = [[] for _ in self._requests]

    def go_on(self) -> bool:
        """Work out the next models; False when there were none left.

        Raises:
            GramError: as `fits_of`.
        """
        some = self._wanted[self._done : self._done + _STEP]
        self._done += len(some)
        asked = [_asked(self._ground, model, quant) for model in some for quant in self._quants]
        for found, request in zip(self._rows, self._requests, strict=True):
            found.extend(self._chosen(asked, request))
        return bool(some)

    @property
    def fraction(self) -> float:
        """How much is worked out, 0 to 1."""
        return self._done / len(self._wanted) if self._wanted else 1.0

    def answers(self) -> tuple[Fits, ...]:
        """Of each request, in their order."""
        pairs = zip(self._rows, self._requests, strict=True)
        return tuple(_fits(self._ground, self._wanted, r, rows) for rows, r in pairs)

    def _chosen(self, asked: Sequence[Asked], request: FitsRequest) -> list[FitRow]:
        use = use_of(request)
        beyond = [a for a in asked if _is_beyond(a.model, use)]
        within = [a for a in asked if not _is_beyond(a.model, use)]
        if request.all_builds or self._labels:
            found = _rows(self._ground, within, use)
            return found + [beyond_row(self._ground, a, use) for a in beyond]
        rows = self._proposed(within, request, use)
        if not request.every_model:
            return rows
        firsts = (next(group) for _, group in groupby(beyond, key=lambda a: a.model.id))
        return rows + [beyond_row(self._ground, a, use) for a in firsts]

    def _proposed(self, asked: Sequence[Asked], request: FitsRequest, use: Use) -> list[FitRow]:
        """One build of each model; offload is looked at where none fits without it."""
        found = _rows(self._ground, asked, use, offload=False)
        there = {row.model.id for row in found if row.fit is not Fit.NOWHERE}
        if self._ground.here.cards:
            rest = [a for a in asked if a.model.id not in there]
            found = [row for row in found if row.model.id in there]
            found += _rows(self._ground, rest, use)
        rows = []
        for _, group in groupby(found, key=lambda row: row.model.id):
            rows += _chosen(list(group), request)
        return rows


def use_of(request: FitsRequest) -> Use:
    """How the builds would be run."""
    return Use(context=request.context, depth=max(0, min(request.depth, request.context - 1)))


def beyond_row(ground: Ground, asked: Asked, use: Use) -> FitRow:
    """A model that is not trained for such a context: no number is worth anything there."""
    model, quant = asked.model, asked.quant
    trained = model.context_trained or 0
    reason = Reason(
        "estimate_beyond_context", {"name": model.name, "trained": trained, "found": use.context}
    )
    estimate = Estimate(model.id, quant.id, ground.here.name, None, use, reasons=(reason,))
    return FitRow(model, quant, Fit.NOWHERE, estimate, asked.weights.capacity_bytes)


def _fits(
    ground: Ground, wanted: Sequence[Model], request: FitsRequest, rows: Sequence[FitRow]
) -> Fits:
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
        rows=tuple(sorted(rows, key=_order)),
        hidden=len(wanted) - len({row.model.id for row in rows}),
    )


def _wanted(quant: Quant, labels: frozenset[str], request: FitsRequest) -> bool:
    if labels:
        return quant.id in labels
    return request.all_builds or quant.file_type in _USUAL


def _asked(ground: Ground, model: Model, quant: Quant) -> Asked:
    return Asked(model, quant, weights_of(model, quant), _build(ground, model, quant))


def _is_beyond(model: Model, use: Use) -> bool:
    return model.context_trained is not None and use.context > model.context_trained


def _rows(
    ground: Ground, asked: Sequence[Asked], use: Use, *, offload: bool = True
) -> list[FitRow]:
    rows = rows_here(ground.here, asked, use, offload=offload)
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
    return [min(rows, key=_held)] if request.every_model else []


def _low(row: FitRow) -> float:
    return row.estimate.decode.low_tok_s if row.estimate.decode else 0.0


def _order(row: FitRow) -> tuple[int, float, int, str, int]:
    """Where it fits, then the high end of the range; ties by memory, then by name."""
    decode = row.estimate.decode
    high = decode.high_tok_s if decode else 0.0
    return _FIT_ORDER.index(row.fit), -high, _held(row), row.model.id, -row.quant.rank


def _held(row: FitRow) -> int:
    need = row.estimate.need
    return need.total_bytes if need else row.size_bytes


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
