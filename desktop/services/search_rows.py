"""Estimates of the builds that a search finds: by the catalogue, and by headers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from desktop.builds.listings import Listings
from desktop.builds.remote_header import remote_header
from desktop.builds.split_sets import read_whole
from desktop.errors import GramError, Reason
from desktop.estimate.catalogue import find
from desktop.estimate.sizes import may_hold
from desktop.estimate.token_work import Asked
from desktop.paths import Paths
from desktop.records.fits import FitRow, Fits, FitsRequest
from desktop.records.library import Kept
from desktop.records.model import Model
from desktop.records.offers import OfferedBuild
from desktop.services.asked import quant_of
from desktop.services.estimates import fits_of, place_of
from desktop.services.ground import Ground
from desktop.services.hub_access import open_hub
from desktop.services.judging import asked_by, rows_by, within
from desktop.services.offered import why_none
from desktop.services.offers import Held, row_of
from desktop.services.profiles import models
from desktop.services.proposal import PLACES, low_tok_s


@dataclass(frozen=True, slots=True)
class Judged:
    """Estimates of a repository's builds."""

    rows: Mapping[str, FitRow]
    """By the builds' names; one that is not there is not known."""
    told: tuple[Reason, ...] = ()
    """Why none could be read from a header."""


class SearchRows:
    """Estimates as one search asks for them; what is known of the machine is read once."""

    def __init__(
        self,
        paths: Paths,
        environment: Mapping[str, str],
        ground: Callable[[], Ground],
        request: FitsRequest,
        *,
        clipped: bool,
    ) -> None:
        """Know what is asked.

        Args:
            paths: the profile.
            environment: the hub's address, and its token.
            ground: what is known of the machine.
            request: its words choose the models of `of_catalogue`.
            clipped: of the context no more than each model was trained for.
        """
        self._paths, self._environment = paths, environment
        self._read = ground
        self._known: Ground | None = None
        self.request, self._clipped = request, clipped

    def of_catalogue(self) -> Fits:
        """Of the catalogue's models, best first; with all quantizations model by model."""
        named = bool(self.request.words)
        found = self._of(replace(self.request, every_model=True))
        rows = [row for row in found.rows if named or row.runs]
        order = _by_model if self.request.all_builds else _best_first
        return replace(found, rows=tuple(order(rows, self.request.at_least_tok_s)))

    def of_repository(self, builds: Sequence[OfferedBuild], held: Held, *, online: bool) -> Judged:
        """Of one repository's builds: by the catalogue where it has the model, else by a header.

        Args:
            builds: of one repository, smallest first; not empty.
            held: what is here: its own files say most.
            online: read the smallest one's header at the hub where none is here.
        """
        rows, told = self._by_catalogue([build for build in builds if build.model is not None])
        unknown = [build for build in builds if build.name not in rows]
        own = {b.name: (asked, b) for b in unknown if (asked := self._own(b, held)) is not None}
        for asked, build in own.values():
            rows |= self._by_header(asked, build, (build,))
        strangers = [build for build in unknown if build.model is None]
        if all(build.name in own for build in strangers):
            return Judged(rows, told)
        first = next((own[build.name] for build in strangers if build.name in own), None)
        try:
            first = first or (self._at_hub(strangers[0]) if online else None)
            more = {} if first is None else self._by_header(*first, strangers)
        except GramError as e:
            return Judged(rows, (*told, e.reason))
        return Judged(more | rows, told)

    def _of(self, request: FitsRequest) -> Fits:
        """With rows at less context in place of those that say that a model knows none so long."""
        found = fits_of(self._ground(), request)
        if not self._clipped:
            return found
        rows: list[FitRow] = []
        for row in found.rows:
            rows += self._clip(request, row) if row.is_beyond else (row,)
        return replace(found, rows=tuple(rows))

    def _clip(self, request: FitsRequest, row: FitRow) -> tuple[FitRow, ...]:
        short = within(request, row.model.context_trained)
        return fits_of(self._ground(), replace(short, model=row.model.id)).rows

    def _by_catalogue(
        self, builds: Sequence[OfferedBuild]
    ) -> tuple[dict[str, FitRow], tuple[Reason, ...]]:
        """By name, and why a quantization is not offered here."""
        model = find(builds[0].model or "", models()) if builds else None
        if model is None:
            return {}, ()
        asked = replace(self.request, words=(), model=model.id, all_builds=True, every_model=True)
        fits = self._of(asked)
        # one row says it of all quantizations
        beyond = next((row for row in fits.rows if row.is_beyond), None)
        found = ((build.name, row_of(fits, build) or beyond) for build in builds)
        rows = {name: row for name, row in found if row is not None}
        labels = {build.quantization for build in builds if build.name not in rows}
        quants = [quant for label in sorted(filter(None, labels)) if (quant := quant_of(label))]
        return rows, why_none(self._ground(), quants, (model,))

    def _own(self, build: OfferedBuild, held: Held) -> Asked | None:
        """By its own file, where it lies here whole and can be read."""
        here = held.of(build)
        if here is None or here.kept is not Kept.WHOLE or not here.files:
            return None
        try:
            return asked_by(read_whole(here.files[0]).header, build)
        except GramError:
            return None

    def _at_hub(self, build: OfferedBuild) -> tuple[Asked, OfferedBuild] | None:
        """By its header there; None: its repository is not remembered."""
        kept = Listings(self._paths.data).of(build.repository)
        there = kept.listing.builds if kept else ()
        remote = next((other for other in there if other.name == build.name), None)
        if remote is None:
            return None
        with open_hub(self._environment) as hub:
            header = remote_header(hub.session, hub.wanted(remote))
        return asked_by(header, build), build

    def _by_header(
        self, own: Asked, of: OfferedBuild, builds: Sequence[OfferedBuild]
    ) -> dict[str, FitRow]:
        request = self.request
        if self._clipped:
            request = within(request, own.model.context_trained)
        labels = {build.quantization for build in builds}
        by_label = rows_by(self._ground(), own, of.quantization, labels, request)
        return {
            build.name: by_label[build.quantization]
            for build in builds
            if build.name == of.name or _is_of(own.model, build)
        }

    def _ground(self) -> Ground:
        if self._known is None:
            self._known = self._read()
        return self._known


def _is_of(model: Model, build: OfferedBuild) -> bool:
    """Whether it may be the model in another quantization: what no name tells, nobody knows."""
    quant, size_bytes = quant_of(build.quantization), build.size_bytes
    return quant is not None and (size_bytes is None or may_hold(size_bytes, model, quant))


def _best_first(rows: Sequence[FitRow], _at_least_tok_s: float) -> list[FitRow]:
    return sorted(rows, key=place_of)


def _by_model(rows: Sequence[FitRow], at_least_tok_s: float) -> list[FitRow]:
    """Models by their best rows; of each the best quality first among what runs well."""
    ordered = enumerate(sorted(rows, key=place_of))
    first = {row.model.id: at for at, row in reversed(list(ordered))}

    def place(row: FitRow) -> tuple[int, int, bool, int]:
        at = PLACES.index(row.fit) if row.runs else len(PLACES)
        slow = row.estimate.decode is not None and low_tok_s(row) < at_least_tok_s
        return first[row.model.id], at, slow, -row.quant.rank

    return sorted(rows, key=place)
