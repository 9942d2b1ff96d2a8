"""`gram builds search` and `add`: what can be had, what fits first."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from desktop.builds.names import SHORT_HOST
from desktop.cli import EXIT_USAGE, figures
from desktop.cli.begin import begin_log
from desktop.cli.builds_words import PLACES, place_words, rate_words
from desktop.cli.figures import DASH
from desktop.cli.fits_line import FitsLine
from desktop.cli.fits_notes import meanings, numbered, plural
from desktop.cli.fits_show import tier_words, why_none
from desktop.cli.fitting import Column, print_fitting
from desktop.cli.output import say, say_error, say_json, say_reason
from desktop.cli.plain import to_plain
from desktop.cli.prose import paragraph
from desktop.errors import GramError
from desktop.paths import default_paths
from desktop.records.fits import Fit, FitRow, FitsRequest
from desktop.records.offers import BuildOffer, OfferedBuild, Offers
from desktop.services import offers as service
from desktop.services.build_search import BuildSearch, repository_of
from desktop.services.ground import read_ground
from desktop.services.own_adding import AddedOwn

MOST_SHOWN: Final = 20
"""Rows, where nothing is looked for."""
_MOST_NAMED: Final = 3
_NOT_KNOWN: Final = "Not known whether it fits"
_IN_GIB: Final = frozenset(
    {"estimate_fits_nowhere", "estimate_card_lacks", "estimate_host_lacks", "estimate_tight"}
)
"""Their figures are in a unit that no column here has."""
_MISUSE: Final = frozenset(
    {"quant_near", "quant_unknown", "word_near", "model_unknown", "words_apart"}
)


def run(
    words: tuple[str, ...], *, every: bool, offline: bool, context: int | None, as_json: bool
) -> int:
    """Show what can be had; returns the exit status.

    Raises:
        GramError: the tables or the ledger cannot be read, or a repository is not there.
    """
    paths = default_paths().ensure()
    begin_log(paths)
    request = FitsRequest(words=words, all_builds=every)
    if context is not None:
        request = replace(request, context=context, depth=min(request.depth, context - 1))
    try:
        with FitsLine(quiet=as_json) as line:
            line.reading()
            search = BuildSearch(paths, os.environ, lambda: read_ground(paths))
            found = search.find(request, online=not offline, clipped=context is None)
    except GramError as e:
        if e.code not in _MISUSE:
            raise
        say_error(e.reason, as_json=as_json)
        return EXIT_USAGE
    if as_json:
        say_json(to_plain(found))
    else:
        listed(found, offline=offline, most=None if every or any(words) else MOST_SHOWN)
        if found.offers and any(words) and not every and repository_of(words, os.environ) is None:
            say("All of them: --all shows every quantization and publisher that is known")
    return 0


def add(name: str, *, as_json: bool) -> None:
    """Add a repository, a file or a folder.

    Raises:
        GramError: see `offers.add`.
    """
    paths = default_paths().ensure()
    begin_log(paths)
    kept = service.add(paths, os.environ, name)
    if isinstance(kept, AddedOwn):
        _tell_own(name, kept, as_json=as_json)
        return
    if as_json:
        say_json({"added": name, "listing": to_plain(kept)})
        return
    facts = kept.listing.repository
    say(f"Added: {facts.name}, {plural(len(kept.listing.builds), 'build')}")
    say(f"See them:   gram builds search {facts.name}")


def _tell_own(name: str, added: AddedOwn, *, as_json: bool) -> None:
    if as_json:
        say_json({"added": name, "own": to_plain(added)})
        return
    for reason in added.told:
        say_reason(reason)
    how = "Looked through already" if added.again else "Added"
    say(f"{how}: {added.path}, {plural(added.builds, 'build')}")
    say("`gram builds` shows them." if added.builds else "What comes into it is found later.")


def listed(found: Offers, *, offline: bool, most: int | None) -> None:
    """Builds that can be had, and how to read them.

    Args:
        found: the answer.
        offline: nobody was to be asked.
        most: rows that are shown; None: all.
    """
    for reason in found.told:
        say_reason(reason)
    offers = found.offers[:most]
    if offers:
        print_fitting(_columns(offers))
        say("")
        for line in (*_left_out(found, offers), *_notes(found, offers, offline=offline)):
            paragraph(line)
        say("Fetch one:   gram builds get NAME")
    else:
        say("No build that is known has these words.")
    if found.found:
        say("")
        say("On the hub besides (`gram builds search OWNER/REPO` shows their builds):")
        for repository in found.found:
            say(f"  {repository}")


def _columns(found: Sequence[BuildOffer]) -> list[Column]:
    numbers = numbered(_rows(found))
    return [
        Column("build", [_name(o.build) for o in found], heading=True),
        Column("size", _told(_size(o) for o in found), right=True),
        Column("fits", _told(PLACES[o.fit.fit] if o.fit else DASH for o in found)),
        Column("estimated tok/s", _told(_rate(o.fit) for o in found), right=True),
        Column("tier", _told(_tier(o.fit, numbers) for o in found)),
        Column("licence", _told(o.build.license or DASH for o in found), drop=2),
        Column("gated", ["gated" if o.build.gated else "" for o in found]),
        Column("asked", _told((o.build.listed_at or DASH)[:10] for o in found), drop=1),
        Column("", [place_words(o) for o in found]),
    ]


def _told(cells: Iterable[str]) -> list[str]:
    """A column; without any cell, so that it is left out, where none of them says anything."""
    told = list(cells)
    return [""] * len(told) if set(told) == {DASH} else told


def _name(build: OfferedBuild) -> str:
    return build.name.removeprefix(SHORT_HOST)


def _size(offer: BuildOffer) -> str:
    """Exact, or with a sign that it is counted from the model's tensors."""
    if offer.build.size_bytes is not None:
        return figures.size(offer.build.size_bytes)
    return f"~{figures.size(offer.fit.size_bytes)}" if offer.fit else DASH


def _rate(row: FitRow | None) -> str:
    """A range, or in a few words why there is none; memory in the unit of the sizes beside it."""
    if row is None or row.estimate.decode is not None:
        return rate_words(row)
    if row.fit is Fit.NOWHERE and row.estimate.need is not None:
        return f"needs {figures.size(row.estimate.need.total_bytes)}"
    return why_none(row.estimate.reasons)


def _tier(row: FitRow | None, numbers: Mapping[str, int]) -> str:
    return DASH if row is None else tier_words(row, numbers)


def _rows(found: Iterable[BuildOffer]) -> list[FitRow]:
    return [offer.fit for offer in found if offer.fit is not None]


def _left_out(found: Offers, shown: Sequence[BuildOffer]) -> Iterator[str]:
    if more := len(found.offers) - len(shown):
        models = plural(more, "more model")
        yield f"{models} would run here: `gram builds search WORD` looks for some of them."


def _notes(found: Offers, shown: Sequence[BuildOffer], *, offline: bool) -> Iterator[str]:
    rows = _rows(shown)
    if any(row.estimate.decode for row in rows):
        yield "Rates are estimates, not measurements."
    if any(o.build.size_bytes is None and o.fit for o in shown):
        yield "Sizes with ~ are counted from tensors: what those repositories hold is not known."
    if not found.online:
        asked = "Nobody was asked" if offline else "The hub did not answer"
        yield f"{asked}: this is what is known from before."
    yield from _shorter(rows)
    yield from _unknown(found, shown)
    yield from meanings(rows, general=_IN_GIB)


def _shorter(rows: Iterable[FitRow]) -> Iterator[str]:
    """Of which models memory is counted for less context than of the others."""
    short = {row.model.name: row.estimate.use.context for row in rows}
    usual = FitsRequest().context
    for context in sorted({context for context in short.values() if context < usual}):
        names = [name for name, found in short.items() if found == context]
        yield f"For {context:,} tokens, all that it was trained for: {_some(names)}."


def _unknown(found: Offers, shown: Iterable[BuildOffer]) -> Iterator[str]:
    """Why it is not said whether some builds fit."""
    unknown = [offer.build for offer in shown if offer.fit is None]
    gated = dict.fromkeys(build.repository for build in unknown if build.gated)
    others = dict.fromkeys(_name(build) for build in unknown if not build.gated)
    if gated:
        yield (
            f"{_NOT_KNOWN}: {_some(gated)}. A file's header tells it, and gated files are given "
            "only to those who have agreed to their terms."
        )
    if others and found.online:
        yield (
            f"{_NOT_KNOWN}: {_some(others)}. `gram builds get NAME` reads its header before it "
            "fetches anything, and tells."
        )
    elif others:
        yield (
            f"{_NOT_KNOWN}: {_some(others)}. The header at its repository tells it: ask with a "
            "connection."
        )


def _some(names: Iterable[str]) -> str:
    told = list(names)
    more = len(told) - _MOST_NAMED
    return ", ".join(told[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
