"""How to run a build that is here best on this machine, with the programs that people use."""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from desktop.builds.names import hosted
from desktop.builds.quant_labels import label_of
from desktop.builds.split_sets import Whole, read_whole
from desktop.builds.store import Named
from desktop.errors import GramError, Param, Reason
from desktop.paths import Paths
from desktop.records.fits import Fit, FitRow, FitsRequest
from desktop.records.offers import GRAM, BuildUse
from desktop.records.on_disk import FoundBuild
from desktop.records.use import UseFacts, UseSettings
from desktop.rules.use_ways import ways_of
from desktop.services.asked import asked_of
from desktop.services.estimates import row_of
from desktop.services.ground import Ground
from desktop.services.judging import within
from desktop.services.named_builds import locate_build

_DIGITS: Final = 6
_ON_PROCESSOR: Final = frozenset({Fit.IN_MEMORY})


def use_of_build(
    paths: Paths,
    name: str,
    ground: Callable[[], Ground],
    *,
    context: int | None = None,
) -> BuildUse:
    """The commands and settings of each program.

    Args:
        paths: the profile.
        name: of a build on this machine; see `named_builds.locate_build`.
        ground: what is known of the machine.
        context: tokens that memory must have room for; None: the usual ones. What the model was
            trained for counts where that is less; if more was asked for, that is told.

    Raises:
        GramError: there is no such build, or it cannot be read; `bad_number` for an absurd context.
    """
    named = locate_build(paths, name)
    whole = read_whole(named.path)
    known = ground()
    try:
        row = _row(known, named, whole, context)
    except GramError as e:
        if e.code == "bad_number":
            raise
        # other programs may know an architecture that is unknown here
        usual = UseSettings(context or FitsRequest().context, known.threads)
        return BuildUse(_name(named), ways_of(_facts(named, whole, usual)), (e.reason,))
    told = () if row.runs else row.estimate.reasons[:1]
    used = row.estimate.use.context
    if context is not None and used < context:
        more: dict[str, Param] = {"name": _name(named), "trained": used, "asked": context}
        told = (Reason("use_context_trained", more), *told)
    return BuildUse(_name(named), ways_of(_facts(named, whole, _settings(known, row))), told)


def _row(ground: Ground, named: Named, whole: Whole, context: int | None) -> FitRow:
    asked = asked_of(whole.header, _label(named.copies[0]), named.copies[0].sha256 or "")
    request = FitsRequest() if context is None else FitsRequest(context)
    return row_of(ground, asked, within(request, asked.model.context_trained))


def _settings(ground: Ground, row: FitRow) -> UseSettings:
    on_cards = ground.here.cards and row.fit not in _ON_PROCESSOR
    return UseSettings(
        context=row.estimate.use.context,
        threads=ground.threads,
        gpu_layers=row.gpu_layers if on_cards else 0,
        layers=row.model.layers + row.model.predict_layers,
        experts_on_host=row.experts_on_host,
        devices=ground.here.cards if on_cards else (),
        cards=bool(on_cards),
    )


def _facts(named: Named, whole: Whole, settings: UseSettings) -> UseFacts:
    first = named.copies[0]
    own = next((hosted(p.name) for p in first.places if p.program == GRAM), None)
    repository = own or next(filter(None, (hosted(p.name) for p in first.places)), None)
    return UseFacts(
        _name(named),
        tuple(Path(os.path.abspath(file)) for file in whole.files),  # noqa: PTH100 - keeps links
        sum(file.stat().st_size for file in whole.files),
        sys.platform,
        settings,
        repository.repository if repository else None,
        # other keepers' names are of labels, which several files of a repository may have
        own.quantization if own else None,
        first.places,
        _digits(first),
    )


def _digits(found: FoundBuild) -> str:
    """Of its sum, else of where it lies: it need not be hashed for a name."""
    known = found.sha256 or found.claimed_sha256
    return (known or hashlib.sha256(os.fsencode(found.files[0])).hexdigest())[:_DIGITS]


def _name(named: Named) -> str:
    return named.copies[0].name


def _label(found: FoundBuild) -> str | None:
    return label_of(found.files[0].name)
