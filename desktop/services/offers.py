"""Builds that can be had: as shipped, as repositories listed them last, and as the hub says now."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from desktop.builds.choosing import check_builds, listing
from desktop.builds.listings import Listings, Remembered, named
from desktop.builds.names import SHORT_HOST, BuildName, folded, parse_name
from desktop.builds.on_disk.here import is_file
from desktop.builds.preferences import remove_folder
from desktop.builds.repository import Hub
from desktop.builds.shipped import shipped_builds
from desktop.builds.split_sets import known_sum
from desktop.clock import utc_now
from desktop.errors import GramError, Reason
from desktop.estimate.sizes import may_hold
from desktop.paths import Paths
from desktop.records.fits import FitRow, Fits
from desktop.records.library import Kept
from desktop.records.model import Model
from desktop.records.offers import BuildOffer, HeldBuild, OfferedBuild, Offers, Shelf
from desktop.records.remote import Listing, RemoteBuild
from desktop.services.abreast import abreast
from desktop.services.asked import quant_of
from desktop.services.fetch_asking import NO_ANSWER
from desktop.services.hub_access import open_hub
from desktop.services.named_builds import hub_name
from desktop.services.own_adding import AddedOwn, add_own
from desktop.services.profiles import models

log = logging.getLogger(__name__)
MOST_ASKED: Final = 24
"""Repositories that are asked at once for a list; each takes two requests."""
_CONNECTIONS: Final = 4
_ANSWERS: Final = frozenset(
    {"hub_unknown", "hub_revision", "download_gated", "hub_no_builds", "listing_large"}
)
"""What a hub says of one repository: it was reached, and can be asked of others."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking repositories."""

    listed: int = 0
    told: tuple[Reason, ...] = ()
    """Why some are not listed; one sentence where the hub cannot be reached at all."""
    answered: bool = False
    """The hub said something, if only that it knows none of them."""

    @property
    def trouble(self) -> tuple[Reason, ...]:
        """Of `told` what is the hub's or the connection's, whatever repository is asked."""
        return tuple(reason for reason in self.told if reason.code not in _ANSWERS)


class Catalogue:
    """All builds that are known, whoever told of them; made anew when something was listed."""

    def __init__(self, paths: Paths) -> None:
        """Read what is remembered.

        Raises:
            GramError: `resource_damaged`.
        """
        self._remembered, told = Listings(paths.data).read()
        self.told: tuple[Reason, ...] = () if told is None else (told,)
        self._asked = frozenset().union(*(one.names for one in self._remembered.values()))
        self._models = {r.casefold(): m for m in models() for r in m.repositories}
        self._aliases = {a.casefold(): m for m in models() for a in m.aliases}
        self._of_model: dict[str, list[OfferedBuild]] = {}
        self.others: list[OfferedBuild] = []
        """Of models that are not in the catalogue."""
        for build in self._all():
            if build.model is None:
                self.others.append(build)
            else:
                self._of_model.setdefault(build.model, []).append(build)

    def of_model(self, model: Model) -> tuple[OfferedBuild, ...]:
        """All that are known of it."""
        return tuple(self._of_model.get(model.id, ()))

    def of_row(self, row: FitRow) -> tuple[OfferedBuild, ...]:
        """Builds of the row's model in its quantization, the usual publisher first.

        A repository that was never asked is taken to have it: most publishers make the usual ones.
        """
        known = self.of_model(row.model)
        found = [b for b in known if _is_in(row, b)]
        there = {build.repository.casefold() for build in found}
        for repository in row.model.repositories:
            if repository.casefold() not in self._asked | there:
                label = row.quant.file_type or row.quant.label
                found.append(_unasked(row.model, repository, label))
        order = {r.casefold(): n for n, r in enumerate(row.model.repositories)}
        return tuple(sorted(found, key=lambda b: order.get(b.repository.casefold(), len(order))))

    def of_repository(self, repository: str) -> tuple[OfferedBuild, ...]:
        """All of one, `owner/repo`, smallest first; also by the name that it had before."""
        one = named(self._remembered, repository)
        told = (one.listing.repository.name if one else repository).casefold()
        every = (*self.others, *(b for builds in self._of_model.values() for b in builds))
        found = (b for b in every if b.repository.casefold() == told)
        return tuple(sorted(found, key=lambda b: (b.size_bytes or 0, b.name)))

    @property
    def added(self) -> tuple[OfferedBuild, ...]:
        """Of the catalogue's models, in repositories that the person added."""
        every = (build for builds in self._of_model.values() for build in builds)
        return tuple(build for build in every if build.added)

    @property
    def listed(self) -> tuple[OfferedBuild, ...]:
        """Of all repositories that were asked; those of the catalogue's models first."""
        of_models = (build for builds in self._of_model.values() for build in builds)
        return tuple(build for build in (*of_models, *self.others) if build.listed_at)

    def _all(self) -> Iterator[OfferedBuild]:
        for remembered in self._remembered.values():
            yield from self._listed(remembered)
        for build in shipped_builds(models()):
            # what the repository itself said since is newer
            if build.repository.casefold() not in self._asked:
                yield build

    def _listed(self, remembered: Remembered) -> Iterator[OfferedBuild]:
        facts = remembered.listing.repository
        declared = self._model_of(remembered)
        for build in remembered.listing.builds:
            # a card may name any model; what is no such file is not estimated as one
            model = declared if _has_size_of(declared, build) else None
            yield OfferedBuild(
                build.name,
                facts.name,
                build.quantization,
                model.id if model else None,
                build.size_bytes,
                build.files[0].sha256,
                build.files,
                facts.context_trained or (model.context_trained if model else None),
                facts.license or (model.license if model else None),
                facts.gated,
                remembered.listed_at,
                remembered.added,
            )

    def why_none(self, repository: str) -> Reason:
        """Why nothing can be had of one that `of_repository` has nothing of."""
        one = named(self._remembered, repository)
        if one is None:
            return Reason("hub_not_asked", {"name": repository})
        detail = "it had none when it was asked last"
        return Reason("hub_no_builds", {"name": one.listing.repository.name, "detail": detail})

    def _model_of(self, remembered: Remembered) -> Model | None:
        by_name = (self._models.get(name) for name in sorted(remembered.names))
        bases = remembered.listing.repository.base_models
        by_base = (self._aliases.get(base.casefold()) for base in bases)
        return next(filter(None, (*by_name, *by_base)), None)


def offers_of(
    catalogue: Catalogue,
    fits: Fits,
    shelf: Shelf,
    *,
    every: bool = False,
    estimate: Callable[[OfferedBuild], FitRow | None] = lambda _: None,
) -> Offers:
    """What can be had for the rows of `fits`, in their order; then what the person added.

    Last comes what is of no model of the catalogue.

    Args:
        catalogue: what is known.
        fits: where and how fast.
        shelf: what is here already.
        every: all publishers of a row; else one: what is here, else the first that is known to
            have it.
        estimate: of builds that were added and are no row's: other quantizations.
    """
    held = Held(shelf)
    found: list[BuildOffer] = []
    for row in fits.rows:
        offers = [BuildOffer(b, row, held.of(b)) for b in catalogue.of_row(row)]
        found += offers if every else sorted(offers, key=_rank)[:1]
    shown = {offer.build.name for offer in found}
    added = (build for build in catalogue.added if build.name not in shown)
    found += [BuildOffer(build, estimate(build), held.of(build)) for build in added]
    found += [BuildOffer(build, None, held.of(build)) for build in catalogue.others]
    return Offers(tuple(found), told=catalogue.told)


def row_of(fits: Fits | None, build: OfferedBuild) -> FitRow | None:
    """The row that a build is of; None where none is."""
    rows = fits.rows if fits else ()
    return next((r for r in rows if r.model.id == build.model and _is_in(r, build)), None)


def _is_in(row: FitRow, build: OfferedBuild) -> bool:
    """Whether it is in the row's quantization; `UD-` and `_MOE` are mixes of their own name."""
    labels = {row.quant.label.casefold(), (row.quant.file_type or row.quant.label).casefold()}
    return (build.quantization or "").casefold().removesuffix("_moe") in labels


def _has_size_of(model: Model | None, build: RemoteBuild) -> bool:
    """Whether it may be a build of `model`; by a quantization that no table has it may be any."""
    quant = quant_of(build.quantization)
    return model is None or quant is None or may_hold(build.size_bytes, model, quant)


def _rank(offer: BuildOffer) -> tuple[bool, bool]:
    return offer.held is None, not offer.build.files


class Held:
    """Which of the builds here a build that can be had is."""

    def __init__(self, shelf: Shelf) -> None:
        self._sums: dict[str, list[HeldBuild]] = {}
        self._names: dict[str, list[HeldBuild]] = {}
        for held in shelf.held:
            for name in (held.name, *held.also):
                self._names.setdefault(folded(name), []).append(held)
            if held.sha256 is not None:
                self._sums.setdefault(held.sha256, []).append(held)

    def of(self, build: OfferedBuild) -> HeldBuild | None:
        """Where it is; None: not here, as far as is known without hashing."""
        known = self._sums.get(build.sha256 or "", [])
        by_name = self._names.get(folded(build.name), [])
        # one name, other bytes: a version of another day
        unsure = [held for held in by_name if not (build.sha256 and held.sha256)]
        return next((held for held in (*known, *unsure) if _may_be(held, build)), None)


def _may_be(held: HeldBuild, build: OfferedBuild) -> bool:
    """By all sums, else by the size, where both are known: of an unfinished one it is what came."""
    whole = sum_of_offer(build)
    if whole and held.build_sha256:
        return whole == held.build_sha256
    known = held.kept is Kept.WHOLE and build.size_bytes is not None
    return not known or held.size_bytes == build.size_bytes


def sum_of_offer(build: OfferedBuild) -> str | None:
    """Of all its files; None: its repository told none of one of them."""
    return known_sum([file.sha256 for file in build.files])


def ask(paths: Paths, environment: Mapping[str, str], repositories: Iterable[str]) -> Asked:
    """Have repositories list their builds, some at once; what they say is remembered.

    Raises:
        GramError: `hub_address`, `hub_token`.
    """
    wanted = list(dict.fromkeys(repositories))[:MOST_ASKED]
    listings, told, count, answered = Listings(paths.data), [], 0, False
    with open_hub(environment) as hub:
        for repository, came in abreast(lambda told: _listed(hub, told), wanted, _CONNECTIONS):
            try:
                listed = came.result()
                answered = True
                # one that has none any more has none
                listings.keep(listed, utc_now())
                check_builds(listed)
                count += 1
            except GramError as e:
                log.info("%s is not listed: %s", repository, e)
                answered = answered or e.code in _ANSWERS
                if e.code in NO_ANSWER:
                    # the others wait for the same
                    told = [e.reason]
                    break
                if e.reason not in told:
                    told.append(e.reason)
    return Asked(count, tuple(told), answered)


def repositories_of(catalogue: Catalogue, fits: Fits, most: int = MOST_ASKED) -> tuple[str, ...]:
    """The first that may have the rows of `fits`, a publisher of each row before a second one."""
    rows = [catalogue.of_row(row) for row in fits.rows]
    firsts = (offers[0].repository for offers in rows if offers)
    rest = (offer.repository for offers in rows for offer in offers[1:])
    return tuple(dict.fromkeys((*firsts, *rest)))[:most]


def search(environment: Mapping[str, str], words: str) -> tuple[str, ...]:
    """Repositories with GGUF files whose names hold the words, most downloaded first.

    Raises:
        GramError: see `hub_answers.ask`.
    """
    with open_hub(environment) as hub:
        return tuple(facts.name for facts in hub.search(words))


def add(paths: Paths, environment: Mapping[str, str], text: str) -> Remembered | AddedOwn:
    """Add a repository by its name or address, or a file or folder of the person's own.

    Returns:
        What the repository listed, or what is in the file or folder.

    Raises:
        GramError: see `choosing.listing`; `hub_no_builds`; as `add_own`.
    """
    name = hub_name(text, environment)
    if not isinstance(name, BuildName) or (name.file and is_file(Path(text).expanduser())):
        return add_own(paths, text)
    with open_hub(environment) as hub:
        # whatever the address names of it, its main branch is what is offered
        listed = listing(hub, BuildName(name.owner, name.repo))
    check_builds(listed)
    return Listings(paths.data).keep(listed, utc_now(), added=True)


def forget_added(paths: Paths, text: str) -> bool:
    """Remove what the person added, a repository or a file or folder; whether they had.

    What is remembered of a repository that was only asked is not theirs to forget.

    Raises:
        GramError: `library_write`; as `remove_folder`.
    """
    name = parse_name(text)
    if not isinstance(name, BuildName):
        return remove_folder(paths, text)
    if name.file and remove_folder(paths, text):
        return True
    listings = Listings(paths.data)
    remembered = listings.of(name.repository)
    added = remembered is not None and remembered.added
    return added and listings.forget(name.repository)


def _listed(hub: Hub, repository: str) -> Listing:
    name = parse_name(f"{SHORT_HOST}{repository}")
    if not isinstance(name, BuildName):
        raise GramError("build_not_found", name=repository)
    return listing(hub, name)


def _unasked(model: Model, repository: str, label: str) -> OfferedBuild:
    owner, _, repo = repository.partition("/")
    return OfferedBuild(
        str(BuildName(owner, repo, label)),
        repository,
        label,
        model.id,
        context_trained=model.context_trained,
        license=model.license,
    )
