"""Words of builds that several commands say."""

from typing import Final

from desktop.cli import figures
from desktop.cli.figures import DASH
from desktop.cli.fits_notes import whole
from desktop.records.fits import Fit, FitRow
from desktop.records.library import Kept
from desktop.records.offers import GRAM, BuildOffer, HeldBuild, Place

PLACES: Final = {
    Fit.ON_CARD: "on card",
    Fit.WITH_OFFLOAD: "offload",
    Fit.IN_MEMORY: "in memory",
    Fit.NOWHERE: "nowhere",
    Fit.RULED_OUT: "not run",
}
_KEPT: Final = {Kept.WHOLE: "", Kept.PART: "unfinished", Kept.DAMAGED: "damaged"}


def rate_words(row: FitRow | None) -> str:
    """`20.1 to 24.3`, tokens a second; a dash where no rate is known."""
    speed = row.estimate.decode if row else None
    if speed is None:
        return DASH
    return f"{figures.number(speed.low_tok_s)} to {figures.number(speed.high_tok_s)}"


def fit_words(row: FitRow) -> str:
    """One line of an estimate: where it fits, how fast, how sure."""
    runs = f"It would run here: {PLACES[row.fit]}"
    where = runs if row.runs else "It would not run here"
    if row.estimate.decode is None or row.estimate.tier is None:
        why = whole(row.estimate.reasons[0]) if row.estimate.reasons else ""
        return f"{where}. {why}".strip()
    return f"{where}, estimated {rate_words(row)} tok/s (tier {row.estimate.tier})"


def state_words(held: HeldBuild) -> str:
    """What is special of a build here, by commas; empty where nothing is."""
    pinned = "pinned" if held.pinned else ""
    return ", ".join(filter(None, (_KEPT[held.kept], pinned)))


def place_words(offer: BuildOffer) -> str:
    """Where a build that can be had is already; empty where it is not."""
    if offer.held is None:
        return ""
    if offer.place is Place.PARTLY:
        return _KEPT[offer.held.kept]
    return "here" if GRAM in offer.held.keepers else f"in {offer.held.keepers[0]}"
