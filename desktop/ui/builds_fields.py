"""The columns of builds that can be had and of builds that are here, and what their details say."""

from collections.abc import Iterable, Iterator
from typing import Final

from PySide6.QtCore import QCoreApplication, QLocale

from desktop.errors import Reason
from desktop.records.estimate import Tier
from desktop.records.fits import Fit
from desktop.records.library import Kept
from desktop.records.offers import GRAM, BuildOffer, HeldBuild, OfferedBuild, Place, Shelf
from desktop.ui import estimate_words as ew
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.components import Column, Field, Span
from desktop.ui.design import wide
from desktop.ui.fits_fields import (
    bar_words,
    detail_lines,
    generation,
    names_of,
    said_generation,
    span_of,
    where,
)
from desktop.ui.format import DASH
from desktop.ui.messages import QT_TRANSLATE_NOOP

BUILD, SIZE, SPEED, LICENCE, ALREADY = range(5)
"""The columns of builds that can be had."""
HUB_PREFIX: Final = "hf.co/"
"""What users write before a repository of the hub."""
_CONTEXT: Final = "Builds"
_FOUND: Final = -1
_NOT_JUDGED: Final = 2
_GROUPS: Final = {
    Fit.ON_CARD: 0,
    Fit.IN_MEMORY: 0,
    Fit.WITH_OFFLOAD: 1,
    Fit.NOWHERE: 3,
    Fit.RULED_OUT: 3,
}
_KEPT: Final = {
    Kept.WHOLE: QT_TRANSLATE_NOOP("Builds", "whole"),
    Kept.PART: QT_TRANSLATE_NOOP("Builds", "unfinished"),
    Kept.DAMAGED: QT_TRANSLATE_NOOP("Builds", "damaged"),
}
_KEPT_MEANS: Final = {
    Kept.PART: QT_TRANSLATE_NOOP(
        "Builds", "Not all of it is here. Its download goes on where it was."
    ),
    Kept.DAMAGED: QT_TRANSLATE_NOOP(
        "Builds",
        "Its bytes were not those that were fetched, so it was set aside: fetch it again, and "
        "check the drive.",
    ),
}


def offer_fields() -> tuple[Field[BuildOffer], ...]:
    """In the order of the columns' numbers."""
    return (
        Field(
            Column(_tr("Build\npackager"), stretch=True),
            lambda o: f"{offer_title(o)}\n{o.build.packager}",
            lambda o: offer_title(o).casefold(),
        ),
        Field(Column(_tr("Size\nwhere it fits"), width=wide(18)), _size_and_where, size_of),
        Field(
            Column(_tr("Generation, tok/s\n "), width=wide(25)),
            _speed,
            lambda o: o.fit.estimate.decode.high_tok_s if o.fit and o.fit.estimate.decode else None,
            _span,
            _said_speed,
        ),
        Field(
            Column(_tr("Licence\naccess"), width=wide(15), drop=1),
            lambda o: f"{o.build.license or DASH}\n{access(o.build)}",
            lambda o: (o.build.license or "").casefold() or None,
        ),
        Field(Column(_tr("On this\nmachine"), width=wide(13)), already, _already_key),
    )


def held_fields() -> tuple[Field[HeldBuild], ...]:
    """Of what is on this machine."""
    return (
        Field(Column(_tr("Build"), stretch=True), _held_name, lambda h: h.name.casefold()),
        Field(
            Column(_tr("Size"), width=wide(12)), _held_size,
            lambda h: h.size_bytes,
        ),
        Field(
            Column(_tr("Kept by"), width=wide(18)),
            lambda h: "\n".join(filter(None, (h.keepers[0], ", ".join(h.keepers[1:])))),
            lambda h: h.keepers[0].casefold(),
        ),
        Field(
            Column(_tr("Last used"), width=wide(20), drop=1),
            lambda h: fmt.or_dash(h.used_at, fmt.date),
            lambda h: h.used_at,
        ),
        Field(
            Column(_tr("State"), width=wide(14)),
            lambda h: "\n".join(filter(None, (kept(h), _tr("pinned") if h.pinned else ""))),
            kept,
        ),
    )  # fmt: skip


def offer_title(offer: BuildOffer) -> str:
    """The model and the quantization; the repository's name where the model is not known."""
    build = offer.build
    model = offer.fit.model.name if offer.fit else build.repository.rpartition("/")[2]
    quant = build.quantization or (offer.fit.quant.label if offer.fit else None)
    return f"{model} \N{MIDDLE DOT} {quant}" if quant else model


def found_repository(repository: str) -> BuildOffer:
    """A row for a repository that a search found, whose builds are not listed yet."""
    return BuildOffer(OfferedBuild(f"{HUB_PREFIX}{repository}", repository, None), None)


def is_found(offer: BuildOffer) -> bool:
    """Whether it is such a row."""
    return offer.fit is None and offer.build.listed_at is None


def names_in(offer: BuildOffer) -> str:
    """What a search looks in, in small letters."""
    own = f"{offer_title(offer)} {offer.build.name} {offer.build.license or ''}".casefold()
    return f"{own} {names_of(offer.fit)}" if offer.fit else own


def group(offer: BuildOffer) -> int:
    """What fits comes first, then with offload, then what nobody knows, then what does not fit.

    Above all stands what a person has just searched for and found.
    """
    if is_found(offer):
        return _FOUND
    return _NOT_JUDGED if offer.fit is None else _GROUPS[offer.fit.fit]


def is_quiet(offer: BuildOffer) -> bool:
    """Whether it would not run here."""
    return offer.fit is not None and not offer.fit.runs


def size_of(offer: BuildOffer) -> int | None:
    """Bytes: as its repository listed it, else as estimated."""
    if offer.build.size_bytes is not None or offer.fit is None:
        return offer.build.size_bytes
    return offer.fit.size_bytes


def size_words(offer: BuildOffer) -> str:
    """`4.92 GB`; with a sign that it is about so much where the repository was not asked."""
    size = size_of(offer)
    if size is None:
        return DASH
    exact = offer.build.size_bytes is not None
    return fmt.size(size) if exact else f"\N{ALMOST EQUAL TO} {fmt.size(size)}"


def access(build: OfferedBuild) -> str:
    """Whether its files are given to everybody."""
    if build.gated is None:
        return ""
    return _tr("gated") if build.gated else _tr("open")


def already(offer: BuildOffer) -> str:
    """Where it is on this machine."""
    if offer.held is None:
        return DASH
    if offer.place is Place.PARTLY:
        return kept(offer.held)
    if offer.place is Place.HERE:
        return _tr("here")
    return _tr("in {program}").format(program=", ".join(offer.held.keepers))


def _already_key(offer: BuildOffer) -> str | None:
    return already(offer) if offer.held else None


def kept(held: HeldBuild) -> str:
    """Whether it is whole."""
    return _tr(_KEPT[held.kept])


def offer_lines(offer: BuildOffer, page: str) -> Iterator[str]:
    """All that is known of a build that can be had, whose repository's page is `page`."""
    yield from _known_lines(offer, page)
    yield _tr("Its page: {address}").format(address=page)


def _known_lines(offer: BuildOffer, page: str) -> Iterator[str]:
    build = offer.build
    if is_found(offer):
        words = _tr("{name} holds files of builds. Show builds asks it for them and keeps it here.")
        yield words.format(name=build.repository)
        return
    if offer.held is not None:
        yield _keeper_line(offer.held)
    if build.gated:
        yield whole(Reason("download_gated", {"name": build.repository, "page": page}))
    yield _tr("{name}, packaged by {packager}.").format(name=build.name, packager=build.packager)
    yield _size_line(offer)
    if len(build.files) > 1:
        files = (f"{file.path} ({fmt.size(file.size_bytes)})" for file in build.files)
        yield _tr("In {count} files: {files}.").format(
            count=len(build.files), files=", ".join(files)
        )
    if build.context_trained is not None:
        tokens = QLocale().toString(build.context_trained)
        yield _tr("Trained for a context of {tokens} tokens.").format(tokens=tokens)
    if build.license is not None:
        yield _tr("Licence, as declared: {licence}.").format(licence=build.license)
    if offer.fit is None:
        yield _tr(
            "Its model is not in the catalogue: whether it runs here is told once its header is "
            "read, before anything else of it is downloaded."
        )
    else:
        yield from detail_lines(offer.fit, None)


def held_lines(held: HeldBuild) -> Iterator[str]:
    """All that is known of a build that is here."""
    if held.kept is not Kept.WHOLE:
        yield _tr(_KEPT_MEANS[held.kept])
    yield _keeper_line(held)
    if held.also:
        yield _tr("Also called {names}.").format(names=", ".join(held.also))
    if held.ours:
        yield _tr("Its removal frees {size}.").format(size=fmt.size(held.freed_bytes))
    if held.pinned:
        yield _tr("Pinned: it is never removed to make room.")
    if held.files:
        names = ", ".join(path.name for path in held.files)
        yield _tr("{files} in {folder}").format(files=names, folder=held.files[0].parent)
    if held.sha256 is None:
        yield _tr("Its sha256 is not known yet: it is read when the build is first measured.")
    else:
        yield _tr("sha256 {sum}").format(sum=held.sha256)


def shelf_words(shelf: Shelf) -> str:
    """What Gram's own builds take of the disk."""
    kept_size = fmt.size(shelf.kept_bytes)
    if shelf.budget_bytes is None:
        return _tr("Gram's builds take {size}.").format(size=kept_size)
    said = _tr("Gram's builds take {size} of {budget}").format(
        size=kept_size, budget=fmt.size(shelf.budget_bytes)
    )
    if shelf.free_bytes is None:
        return f"{said}."
    free = _tr("{size} are free").format(size=fmt.size(shelf.free_bytes))
    return f"{said}; {free}."


def whole(reason: Reason) -> str:
    """What happened and what to do next."""
    return f"{messages.sentence(reason)} {messages.advice(reason)}".strip()


def reading_lines(hub: str) -> Iterator[str]:
    """How the table of builds that can be had is read."""
    yield _tr(
        "Builds that fit come first, then those that need the system's memory besides a "
        "card, then those that do not run here. Speeds are estimates, not measurements."
    )
    yield bar_words()
    yield from (ew.tier_words(tier) for tier in Tier)
    yield _tr("Sizes with \N{ALMOST EQUAL TO} are estimates until {hub} is asked.").format(hub=hub)
    yield _tr(
        "Sizes here are decimal, as in listings of files: 1 GB is a thousand million bytes. What "
        "the details say of memory is binary: 1 GiB is 1.07 GB."
    )


def newest(offers: Iterable[BuildOffer]) -> str | None:
    """When a repository was last asked; None: never."""
    return max((o.build.listed_at for o in offers if o.build.listed_at), default=None)


def _held_size(held: HeldBuild) -> str:
    """Of an unfinished one, how much is there of all."""
    there = fmt.size(held.size_bytes)
    if held.kept is not Kept.PART or held.whole_bytes is None:
        return there
    return _tr("{there}\nof {whole}").format(there=there, whole=fmt.size(held.whole_bytes))


def _keeper_line(held: HeldBuild) -> str:
    others = ", ".join(name for name in held.keepers if name != GRAM)
    if held.ours:
        said = _tr("Here, in Gram's own folder.")
        also = _tr("Kept by {programs} too.").format(programs=others)
        return f"{said} {also}" if others else said
    if GRAM in held.keepers:
        return _tr("In Gram's own folder, but not fetched by Gram: Gram never removes it.")
    words = _tr("Kept by {programs}: used where it is; Gram never changes or removes it.")
    return words.format(programs=others)


def _size_line(offer: BuildOffer) -> str:
    size = size_of(offer)
    if size is None:
        return _tr("Its size is not known until its repository is asked.")
    if offer.build.size_bytes is None:
        words = _tr("About {size}, estimated: its repository was not asked yet.")
        return words.format(size=fmt.size(size))
    listed = offer.build.listed_at
    if listed is None:
        return _tr("{size}, as Gram's catalogue has it.").format(size=fmt.size(size))
    words = _tr("{size}, as its repository listed it on {date}.")
    return words.format(size=fmt.size(size), date=fmt.date(listed))


def _size_and_where(offer: BuildOffer) -> str:
    if is_found(offer):
        return DASH
    place = where(offer.fit, fmt.size) if offer.fit else _tr("not estimated")
    return f"{size_words(offer)}\n{place}"


def _span(offer: BuildOffer) -> Span | None:
    return span_of(offer.fit) if offer.fit else None


def _speed(offer: BuildOffer) -> str:
    fit = offer.fit
    if is_found(offer):
        return _tr("a repository\nits builds are not listed yet")
    if fit is None:
        return _tr("not estimated\nits model is not known")
    if fit.estimate.decode is None or fit.estimate.tier is None:
        return generation(fit)
    figures = generation(fit).partition("\n")[0]
    tier = _tr("estimate, tier {tier}").format(tier=fit.estimate.tier)
    return f"{figures}\n{tier}"


def _said_speed(offer: BuildOffer) -> str:
    fit = offer.fit
    if fit is None or fit.estimate.tier is None:
        return _speed(offer).replace("\n", ", ")
    return f"{said_generation(fit)}, {ew.tier_words(fit.estimate.tier)}"


def _held_name(held: HeldBuild) -> str:
    place, _, name = held.name.rpartition("/")
    below = place or held.quantization or ""
    return f"{name}\n{below}" if below else name


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)
