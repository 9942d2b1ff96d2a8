"""`gram builds search` and `add`: what can be had, what fits first."""

import os
from collections.abc import Sequence
from typing import Final

from desktop.cli import EXIT_USAGE, figures
from desktop.cli.begin import begin_log
from desktop.cli.builds_words import PLACES, place_words, rate_words
from desktop.cli.figures import DASH
from desktop.cli.fits_line import FitsLine
from desktop.cli.fits_notes import plural
from desktop.cli.fitting import Column, print_fitting
from desktop.cli.output import say, say_error, say_json, say_reason
from desktop.cli.plain import to_plain
from desktop.cli.prose import paragraph
from desktop.errors import GramError
from desktop.paths import default_paths
from desktop.records.fits import FitRow, FitsRequest
from desktop.records.offers import BuildOffer, OfferedBuild, Offers
from desktop.services import offers as service
from desktop.services.build_search import BuildSearch
from desktop.services.ground import read_ground

_MISUSE: Final = frozenset(
    {"quant_near", "quant_unknown", "word_near", "model_unknown", "words_apart"}
)


def run(words: tuple[str, ...], *, every: bool, offline: bool, context: int, as_json: bool) -> int:
    """Show what can be had; returns the exit status.

    Raises:
        GramError: the tables or the ledger cannot be read, or a repository is not there.
    """
    paths = default_paths().ensure()
    begin_log(paths)
    request = FitsRequest(context, min(FitsRequest().depth, context - 1), words, all_builds=every)
    try:
        with FitsLine(quiet=as_json) as line:
            line.reading()
            search = BuildSearch(paths, os.environ, lambda: read_ground(paths))
            found = search.find(request, online=not offline)
    except GramError as e:
        if e.code not in _MISUSE:
            raise
        say_error(e.reason, as_json=as_json)
        return EXIT_USAGE
    if as_json:
        say_json(to_plain(found))
    else:
        listed(found)
    return 0


def add(name: str, *, as_json: bool) -> None:
    """Add a repository, a file or a folder.

    Raises:
        GramError: see `offers.add`.
    """
    paths = default_paths().ensure()
    begin_log(paths)
    kept = service.add(paths, os.environ, name)
    if as_json:
        say_json({"added": name, "listing": to_plain(kept)})
        return
    if kept is None:
        say("Added. `gram builds` shows what is in it.")
        return
    facts = kept.listing.repository
    say(f"Added: {facts.name}, {plural(len(kept.listing.builds), 'build')}")
    say(f"See them:   gram builds search {facts.name}")


def listed(found: Offers) -> None:
    """Builds that can be had, and how to read them."""
    for reason in found.told:
        say_reason(reason)
    if found.offers:
        print_fitting(_columns(found.offers))
        say("")
        for line in _notes(found):
            paragraph(line)
        say("Fetch one:   gram builds get NAME")
    else:
        say("No build of the catalogue has these words.")
    if found.found:
        say("")
        say("On the hub besides (`gram builds search OWNER/REPO` shows their builds):")
        for repository in found.found:
            say(f"  {repository}")


def _columns(found: Sequence[BuildOffer]) -> list[Column]:
    return [
        Column("build", [_name(o.build) for o in found], heading=True),
        Column("size", [_size(o) for o in found], right=True),
        Column("fits", [PLACES[o.fit.fit] if o.fit else DASH for o in found]),
        Column("estimated tok/s", [rate_words(o.fit) for o in found], right=True),
        Column("tier", [_tier(o) for o in found], drop=3),
        Column("licence", [o.build.license or DASH for o in found], drop=2),
        Column("gated", ["gated" if o.build.gated else "" for o in found], drop=4),
        Column("asked", [(o.build.listed_at or DASH)[:10] for o in found], drop=1),
        Column("", [place_words(o) for o in found]),
    ]


def _name(build: OfferedBuild) -> str:
    return build.name.removeprefix("hf.co/")


def _size(offer: BuildOffer) -> str:
    """Exact, or with a sign that it is counted from the model's tensors."""
    if offer.build.size_bytes is not None:
        return figures.size(offer.build.size_bytes)
    return f"~{figures.size(offer.fit.size_bytes)}" if offer.fit else DASH


def _tier(offer: BuildOffer) -> str:
    tier = offer.fit.estimate.tier if offer.fit else None
    return str(tier) if tier else DASH


def _notes(found: Offers) -> list[str]:
    notes = ["Rates are estimates (`gram fits` says on what they rest), not measurements."]
    if any(o.build.size_bytes is None and o.fit for o in found.offers):
        notes.append("Sizes with ~ are counted from tensors: those repositories were not asked.")
    if not found.online:
        asked = "No repository answered" if found.told else "Nobody was asked"
        notes.append(f"{asked}: this is what is known from before.")
    return notes + sorted({_why_none(offer.fit) for offer in found.offers} - {""})


def _why_none(row: FitRow | None) -> str:
    """Why there is no rate; empty where there is one, or nothing is known."""
    if row is None or row.estimate.decode is not None or not row.estimate.reasons:
        return ""
    reason = row.estimate.reasons[0]
    return f"{reason.text()} {reason.advice()}".strip()
