"""Answers to the window's questions about estimates. For the slow-calls thread."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from desktop.errors import GramError
from desktop.estimate.catalogue import Keyed, find
from desktop.estimate.device_page import device_page_of
from desktop.estimate.page import page_of
from desktop.estimate.profile import Profile, ProfileId
from desktop.estimate.sheet import sheet_of, use_at
from desktop.paths import Paths
from desktop.records.fits import Fits, FitsRequest
from desktop.records.model import Model
from desktop.services import profiles
from desktop.services.estimate_events import (
    DevicePageKnown,
    HerePageKnown,
    ModelPageKnown,
    PageFailed,
)
from desktop.services.estimates import Estimates, FitsWork
from desktop.services.ground import Ground
from desktop.services.written_rows import written_rows

log = logging.getLogger(__name__)
_K = TypeVar("_K", bound=Keyed)
T = TypeVar("T")


class EstimatePages:
    """Makes pages; what cannot be made is told in the page's place."""

    def __init__(self, paths: Paths) -> None:
        self._estimates = Estimates(paths)

    def work(self, requests: Sequence[FitsRequest]) -> FitsWork:
        """What fits on this machine, for several contexts, in steps.

        Raises:
            GramError: the ledger or the tables cannot be read.
        """
        return self._estimates.work(requests)

    def ground(self) -> Ground:
        """What is known of the machine.

        Raises:
            GramError: the ledger or the tables cannot be read.
        """
        return self._estimates.ground()

    def forget(self) -> None:
        """Parts or runs were measured: the machine is read anew at the next question."""
        self._estimates.forget()

    def model(self, model_id: str, position: int) -> ModelPageKnown | PageFailed:
        """The page of a model of the catalogue, with `position` tokens before the one generated."""
        return _or_failed(lambda: self._model_page(_model(model_id), position))

    def here(self, model_id: str, position: int) -> HerePageKnown | PageFailed:
        """Every quantization of a model on this machine."""
        return _or_failed(lambda: self._here_page(_model(model_id), position))

    def device(
        self, model_id: str, device_id: str, position: int, quant_id: str | None
    ) -> DevicePageKnown | PageFailed:
        """The page of one device; bytes and arithmetic of `quant_id`, or of what is recommended."""
        return _or_failed(lambda: _device_page(model_id, device_id, position, quant_id))

    def _model_page(self, model: Model, position: int) -> ModelPageKnown:
        page = page_of(model, _profile(), profiles.models(), position)
        try:
            here = self._here(model, position, all_builds=False)
        except GramError as e:
            # the page stands without it; its own page tells why
            log.info("nothing is known of %s here: %s", model.id, e)
            here = None
        return ModelPageKnown(page, here)

    def _here_page(self, model: Model, position: int) -> HerePageKnown:
        fits = self._here(model, position, all_builds=True)
        written = written_rows(self._estimates.ground(), model, fits.rows, position)
        return HerePageKnown(model, fits, written)

    def _here(self, model: Model, position: int, *, all_builds: bool) -> Fits:
        use = use_at(model, position)
        request = FitsRequest(
            use.context, use.depth, model=model.id, all_builds=all_builds, every_model=True
        )
        return self._estimates.fits(request).fits


def _or_failed(make: Callable[[], T]) -> T | PageFailed:
    try:
        return make()
    except GramError as e:
        return PageFailed(e.reason)


def _device_page(
    model_id: str, device_id: str, position: int, quant_id: str | None
) -> DevicePageKnown:
    profile = _profile()
    sheet = sheet_of(_model(model_id), profile, position)
    device = _found("device", device_id, profile.configurations)
    quant = None if quant_id is None else _found("quant", quant_id, profile.quants)
    return DevicePageKnown(sheet, device_page_of(sheet, device, quant))


def _model(model_id: str) -> Model:
    return _found("model", model_id, profiles.models())


def _profile() -> Profile:
    return profiles.profile(ProfileId.GRAM)


def _found(what: str, key: str, entries: tuple[_K, ...]) -> _K:
    """The entry of that id: the window names what is there, so a miss is a table that changed.

    Raises:
        GramError: `model_unknown`, `device_unknown`, `quant_unknown`.
    """
    found = find(key, entries)
    if found is None:
        allowed = ", ".join(entry.id for entry in entries) if what == "quant" else ""
        raise GramError(f"{what}_unknown", name=key, allowed=allowed)
    return found
