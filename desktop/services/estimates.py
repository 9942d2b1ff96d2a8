"""What fits on this machine and how fast: joins its facts, parts and runs with the catalogue.

The one way to estimates of this machine: `gram fits`, `gram estimate --device this` and the window
ask here. Reading takes a second or two (the engine is asked for its devices), so it is done on the
slow-calls thread and kept; each further question is arithmetic.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final, Literal

from desktop import clock
from desktop.errors import Param, Reason
from desktop.estimate.here import rows_here
from desktop.estimate.sizes import weights_of
from desktop.estimate.token_work import Asked
from desktop.paths import Paths
from desktop.records.estimate import Estimate, Use
from desktop.records.events import FitsKnown
from desktop.records.fits import Fit, FitRow, Fits, FitsRequest
from desktop.records.model import Model, Quant
from desktop.services import estimate_tables
from desktop.services.fits_words import labels_and_names, names_of
from desktop.services.ground import Ground, read_ground
from desktop.services.offered import why_none, why_not
from desktop.services.profiles import models
from desktop.services.proposal import PLACES, high_tok_s, is_decent, is_usual, proposed

_FIT_ORDER: Final = (*PLACES, Fit.NOWHERE, Fit.RULED_OUT)
_STEP_NS: Final = 100_000_000
"""About so long is one step: nobody waits long for the thread."""
_MOST: Final = 12
"""Models of one step; more at once are hardly faster."""


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
        self._labels, words = labels_and_names(self._requests[0].words)
        wanted = [q for q in estimate_tables.quants() if self._is_wanted(q)]
        self._wanted = [m for m in models() if self._is_meant(m, words)]
        self._quants = [q for q in wanted if why_not(ground, q) is None]
        told = self._labels or self._requests[0].all_builds
        self._ruled_out = why_none(ground, wanted, self._wanted) if told else ()
        self._done = 0
        self._rows: list[list[FitRow]] = [[] for _ in self._requests]
        self._steps = self._all_steps()

    def go_on(self) -> bool:
        """Work out the next models at one of the contexts; False when there were none left.

        Raises:
            GramError: as `fits_of`.
        """
        return next(self._steps, False)

    def _all_steps(self) -> Iterator[Literal[True]]:
        """Some models at each of the contexts in turn; how many goes by what the last took."""
        start, count = 0, 1
        while some := self._wanted[start : start + count]:
            asked = [_asked(self._ground, m, q) for m in some for q in self._quants if q.suits(m)]
            longest_ns = 0
            for found, request in zip(self._rows, self._requests, strict=True):
                began = clock.now_ns()
                found.extend(self._looked_at(asked, request))
                longest_ns = max(longest_ns, clock.now_ns() - began)
                self._done += len(some)
                yield True
            start += len(some)
            count = models_of_a_step(len(some), longest_ns)

    @property
    def fraction(self) -> float:
        """How much is worked out, 0 to 1."""
        return self._done / (len(self._wanted) * len(self._requests)) if self._wanted else 1.0

    def so_far(self) -> Fits | None:
        """What is worked out already, where one context alone is asked for."""
        return self.answers()[0] if len(self._requests) == 1 else None

    def answers(self, *, every_model: bool = False) -> tuple[Fits, ...]:
        """Of each request, in their order; with `every_model` as if it asked for every one."""
        asked = [replace(r, every_model=every_model or r.every_model) for r in self._requests]
        return tuple(map(self._answer, asked, self._rows))

    def _is_meant(self, model: Model, words: Sequence[str]) -> bool:
        named = self._requests[0].model
        return model.id == named if named else all(word in names_of(model) for word in words)

    def _is_wanted(self, quant: Quant) -> bool:
        if self._labels:
            return quant.id in self._labels
        return self._requests[0].all_builds or is_usual(quant)

    def _looked_at(self, asked: Sequence[Asked], request: FitsRequest) -> list[FitRow]:
        """With what does not run here; of a model not trained for such a context one row."""
        use = use_of(request)
        beyond = [a for a in asked if _is_beyond(a.model, use)]
        within = [a for a in asked if not _is_beyond(a.model, use)]
        if request.all_builds or self._labels:
            rows = _rows(self._ground, within, use)
        else:
            rows = self._proposed(within, request, use)
        firsts = (next(group) for _, group in groupby(beyond, key=lambda a: a.model.id))
        return rows + [_beyond_row(self._ground, one, use) for one in firsts]

    def _proposed(self, asked: Sequence[Asked], request: FitsRequest, use: Use) -> list[FitRow]:
        """One build of each model; offload is looked at where none is decent without it."""
        found = _rows(self._ground, asked, use, offload=False)
        there = {row.model.id for row in found if row.runs and is_decent(row)}
        if self._ground.here.cards:
            rest = [a for a in asked if a.model.id not in there]
            found = [row for row in found if row.model.id in there]
            found += _rows(self._ground, rest, use)
        groups = (list(group) for _, group in groupby(found, key=lambda row: row.model.id))
        return [proposed(rows, request.at_least_tok_s) or min(rows, key=_held) for rows in groups]

    def _answer(self, request: FitsRequest, rows: Sequence[FitRow]) -> Fits:
        ground = self._ground
        every = request.all_builds or request.every_model
        shown = sorted((row for row in rows if every or row.runs), key=place_of)
        there = {row.model.id for row in shown}
        left = {row.model.id: row.model for row in rows if row.model.id not in there}.values()
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
            rows=tuple(shown),
            hidden=len(left),
            beyond=sum(_is_beyond(model, use_of(request)) for model in left),
            ruled_out=self._ruled_out,
            limits=ground.here.room.told,
            by_label=bool(self._labels),
        )


def models_of_a_step(count: int, took_ns: int) -> int:
    """How many models to work out next, where `count` took so long."""
    return max(1, min(_MOST, count * _STEP_NS // max(1, took_ns)))


def row_of(ground: Ground, asked: Asked, request: FitsRequest) -> FitRow:
    """One build, whatever the request's words say of others.

    Raises:
        GramError: `bad_number` for an absurd context.
    """
    use = use_of(request)
    if _is_beyond(asked.model, use):
        return _beyond_row(ground, asked, use)
    return _rows(ground, (asked,), use)[0]


def use_of(request: FitsRequest) -> Use:
    """How the builds would be run."""
    return Use(context=request.context, depth=max(0, min(request.depth, request.context - 1)))


def _beyond_row(ground: Ground, asked: Asked, use: Use) -> FitRow:
    """A model that is not trained for such a context: no number is worth anything there."""
    model, quant = asked.model, asked.quant
    trained = model.context_trained or 0
    reason = Reason(
        "estimate_beyond_context", {"name": model.name, "trained": trained, "found": use.context}
    )
    estimate = Estimate(model.id, quant.id, ground.here.name, None, use, reasons=(reason,))
    return FitRow(model, quant, Fit.RULED_OUT, estimate, asked.weights.capacity_bytes)


def _asked(ground: Ground, model: Model, quant: Quant) -> Asked:
    return Asked(model, quant, weights_of(model, quant), _build(ground, model, quant))


def _is_beyond(model: Model, use: Use) -> bool:
    return model.context_trained is not None and use.context > model.context_trained


def _rows(
    ground: Ground, asked: Sequence[Asked], use: Use, *, offload: bool = True
) -> list[FitRow]:
    rows = rows_here(ground.here, asked, use, offload=offload)
    return [replace(_told(row), measured_tok_s=_measured(ground, row)) for row in rows]


def _told(row: FitRow) -> FitRow:
    """That nobody tells how long a context the model is trained for, where it is so."""
    if row.model.context_trained is not None or not row.runs:
        return row
    told: dict[str, Param] = {"name": row.model.name, "found": row.estimate.use.context}
    reason = Reason("estimate_context_untold", told)
    estimate = replace(row.estimate, reasons=(*row.estimate.reasons, reason))
    return replace(row, estimate=estimate)


def _build(ground: Ground, model: Model, quant: Quant) -> str:
    """The sha256 of a build of it that was measured here; its own runs say most."""
    found = ground.measured.get((model.id, quant.id))
    return found[0] if found else ""


def _measured(ground: Ground, row: FitRow) -> float | None:
    found = ground.measured.get((row.model.id, row.quant.id))
    return found[1] if found else None


def place_of(row: FitRow) -> tuple[int, float, int, str, int]:
    """Sorts rows: where it fits, then the high end of the range; ties by memory, then by name."""
    place = _FIT_ORDER.index(row.fit)
    return place, -high_tok_s(row), _held(row), row.model.id, -row.quant.rank


def _held(row: FitRow) -> int:
    need = row.estimate.need
    return need.total_bytes if need else row.size_bytes
