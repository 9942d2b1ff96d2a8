"""Builds by words: of the catalogue's models, of a repository that is named, and on the hub."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from desktop.builds.listings import Listings
from desktop.builds.names import BuildName, parse_name
from desktop.builds.remote_header import remote_header
from desktop.errors import GramError, Reason
from desktop.paths import Paths
from desktop.records.fits import FitRow, Fits, FitsRequest
from desktop.records.offers import BuildOffer, OfferedBuild, Offers
from desktop.services import offers as service
from desktop.services.estimates import fits_of
from desktop.services.fetching import NO_ANSWER
from desktop.services.fits_words import labels_and_names, refuse_unknown
from desktop.services.ground import Ground
from desktop.services.hub_access import open_hub
from desktop.services.judging import rows_by
from desktop.services.shelf import shelf_of

_MOST_ASKED: Final = 8


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

    def find(self, request: FitsRequest, *, online: bool) -> Offers:
        """What can be had, what fits best first.

        Args:
            request: its words are a model's, a quantization's, or one repository's name.
            online: ask the hub; where it cannot be reached, what is known from before is told.

        Raises:
            GramError: `model_unknown` and others of `refuse_unknown`, where nobody knows the words;
                the repository that is named is not there; tables or ledger cannot be read.
        """
        name = _repository(request.words)
        if name is not None:
            return self._of_repository(request, name.repository, online=online)
        try:
            refuse_unknown(request.words)
        except GramError:
            if not online:
                raise
            # a model that the catalogue lacks may be on the hub
            return Offers(found=self._on_hub(request), online=True)
        fits = fits_of(self._ground(), replace(request, every_model=True))
        found = self._of_models(fits, online=online)
        return self._with_others(request, found) if found.online else found

    def _of_models(self, fits: Fits, *, online: bool) -> Offers:
        """With what the repositories say now."""
        catalogue = service.Catalogue(self._paths)
        told: tuple[Reason, ...] = ()
        if online:
            wanted = service.repositories_of(catalogue, fits, _MOST_ASKED)
            asked = service.ask(self._paths, self._environment, wanted)
            online = asked.listed > 0 or not wanted
            # that one of the catalogue's is not there any more is nothing to do about
            told = tuple(reason for reason in asked.told if reason.code in NO_ANSWER)
            catalogue = service.Catalogue(self._paths)
        every = fits.request.all_builds
        found = service.offers_of(catalogue, fits, shelf_of(self._paths), every=every)
        # what the catalogue lacks is not what the words asked for
        offers = tuple(offer for offer in found.offers if offer.fit is not None)
        return Offers(offers, online=online, told=(*found.told, *told))

    def _with_others(self, request: FitsRequest, found: Offers) -> Offers:
        """And with the repositories that the hub finds besides."""
        try:
            there = self._on_hub(request)
        except GramError as e:
            return replace(found, told=(*found.told, e.reason))
        known = {offer.build.repository.casefold() for offer in found.offers}
        return replace(found, found=tuple(r for r in there if r.casefold() not in known))

    def _on_hub(self, request: FitsRequest) -> tuple[str, ...]:
        _, names = labels_and_names(request.words)
        return service.search(self._environment, " ".join(names))

    def _of_repository(self, request: FitsRequest, repository: str, *, online: bool) -> Offers:
        """All builds of one, each with its estimate where its model is in the catalogue."""
        told: tuple[Reason, ...] = ()
        if online:
            asked = service.ask(self._paths, self._environment, (repository,))
            told, online = asked.told, asked.listed > 0
        builds = service.Catalogue(self._paths).of_repository(repository)
        if not builds:
            why = told[0] if told else Reason("hub_not_asked", {"name": repository})
            raise GramError(why.code, **why.params)
        rows, unread = self._rows(request, builds, online=online)
        held = service.Held(shelf_of(self._paths))
        found = (BuildOffer(b, rows.get(b.name), held.of(b)) for b in builds)
        return Offers(tuple(found), online=online, told=(*told, *unread))

    def _rows(
        self, request: FitsRequest, builds: tuple[OfferedBuild, ...], *, online: bool
    ) -> tuple[dict[str, FitRow], tuple[Reason, ...]]:
        """Estimates of one repository's builds by name, and why there are none."""
        if builds[0].model is None:
            return self._by_header(request, builds) if online else ({}, ())
        of_model = replace(request, words=(), model=builds[0].model, all_builds=True)
        fits = fits_of(self._ground(), replace(of_model, every_model=True))
        rows = {build.name: service.row_of(fits, build) for build in builds}
        return {name: row for name, row in rows.items() if row is not None}, ()

    def _by_header(
        self, request: FitsRequest, builds: tuple[OfferedBuild, ...]
    ) -> tuple[dict[str, FitRow], tuple[Reason, ...]]:
        """Of a model that the catalogue lacks: what the header of its smallest build tells."""
        kept = Listings(self._paths.data).read()[0].get(builds[0].repository.casefold())
        if kept is None:
            return {}, ()
        smallest = kept.listing.builds[0]
        labels = {build.quantization for build in builds if build.quantization}
        try:
            with open_hub(self._environment) as hub:
                header = remote_header(hub.session, hub.wanted(smallest))
            by_label = rows_by(self._ground(), header, smallest, labels, request)
        except GramError as e:
            return {}, (e.reason,)
        known = (build for build in builds if build.quantization in by_label)
        return {build.name: by_label[build.quantization or ""] for build in known}, ()


def _repository(words: tuple[str, ...]) -> BuildName | None:
    name = parse_name(words[0]) if len(words) == 1 else None
    return name if isinstance(name, BuildName) else None
