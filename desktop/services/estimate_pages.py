"""A model's page and a device's page: worked out where it keeps nobody waiting, newest first."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from desktop.errors import GramError, Reason
from desktop.estimate.catalogue import Keyed, find
from desktop.estimate.device_page import DevicePage, device_page_of
from desktop.estimate.page import ModelPage, page_of
from desktop.estimate.profile import Profile, ProfileId
from desktop.estimate.sheet import Sheet, sheet_of
from desktop.records.model import Model
from desktop.services import profiles

_K = TypeVar("_K", bound=Keyed)
_MODEL: Final = "model"
_DEVICE: Final = "device"


@dataclass(frozen=True, slots=True)
class ModelPageKnown:
    """A model's page is there."""

    page: ModelPage


@dataclass(frozen=True, slots=True)
class DevicePageKnown:
    """The page of one device of a model is there."""

    sheet: Sheet
    page: DevicePage


@dataclass(frozen=True, slots=True)
class PageFailed:
    """The page that was asked for cannot be made; it says so in its place."""

    reason: Reason


PageEvent: TypeAlias = ModelPageKnown | DevicePageKnown | PageFailed
Call: TypeAlias = Callable[[], PageEvent | None]


class EstimatePages:
    """Hands out calls for the slow thread. A call that a newer one has overtaken gives None.

    Somebody who drags a slider asks faster than pages are made: only the last one is wanted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = {_MODEL: 0, _DEVICE: 0}

    def model(self, model_id: str, position: int) -> Call:
        """The page of a model of the catalogue, with `position` tokens before the one generated."""
        return self._newest(_MODEL, lambda: _model_page(model_id, position))

    def device(self, model_id: str, device_id: str, position: int, quant_id: str | None) -> Call:
        """The page of one device; bytes and arithmetic of `quant_id`, or of what is recommended."""
        return self._newest(_DEVICE, lambda: _device_page(model_id, device_id, position, quant_id))

    def _newest(self, what: str, make: Callable[[], PageEvent]) -> Call:
        with self._lock:
            self._asked[what] += 1
            mine = self._asked[what]

        def call() -> PageEvent | None:
            if mine != self._asked[what]:
                return None
            try:
                made = make()
            except GramError as e:
                made = PageFailed(e.reason)
            return made if mine == self._asked[what] else None

        return call


def _model_page(model_id: str, position: int) -> ModelPageKnown:
    page = page_of(_model(model_id), _profile(), profiles.models(), position)
    return ModelPageKnown(page)


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
