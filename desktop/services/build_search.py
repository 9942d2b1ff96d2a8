"""Builds by words: of the catalogue's models, of repositories that are known, and on the hub."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from desktop.builds.names import BuildName
from desktop.builds.quant_labels import distance
from desktop.errors import GramError, Reason
from desktop.paths import Paths
from desktop.records.fits import Fits, FitsRequest
from desktop.records.offers import BuildOffer, OfferedBuild, Offers
from desktop.services import offers as service
from desktop.services.fetch_asking import NO_ANSWER
from desktop.services.fits_words import refuse_unknown
from desktop.services.ground import Ground
from desktop.services.named_builds import hub_name
from desktop.services.proposal import proposed
from desktop.services.search_rows import Judged, SearchRows
from desktop.services.search_words import Words
from desktop.services.shelf import shelf_of

_MOST_ASKED: Final = 8
_MOST_HEADERS: Final = 3
"""Repositories whose headers are read for one search by words."""


class BuildSearch:
    """Looks for builds by words; reads the machine only where something is found."""

    def __init__(
        self, paths: Paths, environment: Mapping[str, str], ground: Callable[[], Ground]
    ) -> None:
        """Know where to look.

        Args:
            paths: the profile.
            environment: the hub's address, and its token.
            ground: what is known of the machine.
        """
        self._paths, self._environment, self._ground = paths, environment, ground

    def find(self, request: FitsRequest, *, online: bool, clipped: bool = False) -> Offers:
        """What can be had, what fits best first; without words, what fits at all.

        Args:
            request: its words are a model's, a repository's, a quantization's, or one repository's
                whole name.
            online: ask the hub; where it cannot be reached, what is known from before is told.
            clipped: of the context no more than each model was trained for.

        Raises:
            GramError: `model_unknown` and others of `refuse_unknown`, where nobody knows the words;
                the repository that is named is not there; tables or ledger cannot be read.
        """
        name = repository_of(request.words, self._environment)
        words = Words.of(request.words)
        request = replace(request, words=words.all)
        rows = SearchRows(self._paths, self._environment, self._ground, request, clipped=clipped)
        if name is not None:
            return self._of_repository(rows, name.repository, online=online)
        try:
            refuse_unknown(words.all)
        except GramError as e:
            return self._of_no_model(rows, words, e, online=online)
        fits = rows.of_catalogue()
        found = self._by_names(rows, words, self._of_models(fits, online=online), fits)
        silent = any(reason.code in NO_ANSWER for reason in found.told)
        if silent or not online or not words.names:
            return found
        return self._with_others(words, found, fits)

    def _of_models(self, fits: Fits, *, online: bool) -> Offers:
        """With what the repositories say now."""
        catalogue = service.Catalogue(self._paths)
        told: tuple[Reason, ...] = ()
        if online:
            wanted = service.repositories_of(catalogue, fits, _MOST_ASKED)
            asked = service.ask(self._paths, self._environment, wanted)
            # that one of the catalogue's is not there any more is nothing to do about
            told, online = asked.trouble, asked.answered
            catalogue = service.Catalogue(self._paths)
        every = fits.request.all_builds
        found = service.offers_of(catalogue, fits, shelf_of(self._paths), every=every)
        # what was added is looked for by its names
        offers = tuple(offer for offer in found.offers if offer.fit is not None)
        return Offers(offers, online=online, told=(*found.told, *told))

    def _of_no_model(
        self, rows: SearchRows, words: Words, why: GramError, *, online: bool
    ) -> Offers:
        """What the catalogue lacks may be in a repository that is known, or on the hub."""
        known = self._by_names(rows, words, Offers(online=online))
        if online:
            return self._with_others(words, known)
        if not known.offers:
            raise why
        return known

    def _by_names(
        self, rows: SearchRows, words: Words, found: Offers, fits: Fits | None = None
    ) -> Offers:
        """And with builds of repositories whose names have the words, or that were added.

        Those of the catalogue's models stand before the others.
        """
        models = {row.model.id for row in fits.rows} if fits else set()
        shown = {offer.build.name for offer in found.offers}
        catalogue = service.Catalogue(self._paths)
        meant = [b for b in catalogue.listed if b.name not in shown and words.mean(b, models)]
        if not meant:
            return found
        held = service.Held(shelf_of(self._paths))
        offers, judged = list(found.offers), dict[str, Judged]()
        for repository, group in groupby(meant, key=lambda build: build.repository):
            if repository not in judged:
                # what is here of it tells of builds that the words do not mean, too
                every = catalogue.of_repository(repository)
                online = found.online and len(judged) < _MOST_HEADERS
                judged[repository] = rows.of_repository(every, held, online=online)
            fit_of = judged[repository].rows.get
            made = [BuildOffer(b, fit_of(b.name), held.of(b)) for b in sorted(group, key=_size)]
            offers += made if rows.request.all_builds or words.labels else _usual(made, rows)
        told = (reason for one in judged.values() for reason in one.told)
        return replace(found, offers=tuple(offers), told=(*found.told, *told))

    def _with_others(self, words: Words, found: Offers, fits: Fits | None = None) -> Offers:
        """And with the repositories that the hub finds besides."""
        try:
            there = service.search(self._environment, " ".join(words.names))
        except GramError as e:
            if not found.offers:
                raise
            online = found.online and fits is not None
            return replace(found, online=online, told=(*found.told, e.reason))
        known = {offer.build.repository.casefold() for offer in found.offers}
        of_models = (r for row in (fits.rows if fits else ()) for r in row.model.repositories)
        known |= {repository.casefold() for repository in of_models}
        return replace(
            found, online=True, found=tuple(r for r in there if r.casefold() not in known)
        )

    def _of_repository(self, rows: SearchRows, repository: str, *, online: bool) -> Offers:
        """All builds of one, each with its estimate."""
        told: tuple[Reason, ...] = ()
        if online:
            asked = service.ask(self._paths, self._environment, (repository,))
            told, online = asked.told, asked.answered
        catalogue = service.Catalogue(self._paths)
        builds = catalogue.of_repository(repository)
        if not builds:
            why = told[0] if told else catalogue.why_none(repository)
            raise GramError(why.code, **why.params)
        held = service.Held(shelf_of(self._paths))
        judged = rows.of_repository(builds, held, online=online)
        found = (BuildOffer(b, judged.rows.get(b.name), held.of(b)) for b in builds)
        return Offers(tuple(found), online=online, told=(*told, *judged.told))


def repository_of(words: tuple[str, ...], environment: Mapping[str, str]) -> BuildName | None:
    """The one repository that the words name; None: they are to be looked for."""
    name = hub_name(words[0], environment) if len(words) == 1 else None
    return name if isinstance(name, BuildName) else None


def _size(build: OfferedBuild) -> tuple[int, str]:
    return build.size_bytes or 0, build.name


def _usual(offers: Sequence[BuildOffer], rows: SearchRows) -> list[BuildOffer]:
    """Of a repository one build, as of a model; all where the person added it."""
    here = [offer for offer in offers if offer.held is not None]
    if offers[0].build.added:
        return list(offers)
    if here:
        return here
    known = [offer.fit for offer in offers if offer.fit is not None]
    best = proposed(known, rows.request.at_least_tok_s)
    if best is not None:
        return [next(offer for offer in offers if offer.fit is best)]
    return [min(offers, key=lambda o: distance(o.build.quantization, o.build.size_bytes or 0))]
