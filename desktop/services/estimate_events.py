"""What the window is told of estimates: pages are made of them, and records cannot name those.

Nothing heavy is imported here: the estimates' modules are, where they are first asked.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from desktop.errors import Reason
from desktop.records.build_events import BuildEvent
from desktop.records.events import AppEvent, FitsKnown
from desktop.records.fits import Fits
from desktop.records.model import Model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from desktop.estimate.device_page import DevicePage
    from desktop.estimate.page import ModelPage
    from desktop.estimate.sheet import Sheet
    from desktop.estimate.written_here import WrittenHere


@dataclass(frozen=True, slots=True)
class FitsGoOn:
    """What fits here is being worked out."""

    fraction: float
    """Of what was asked for, 0 to 1."""
    so_far: Fits | None = None
    """Rows that are known, now and then, where one context alone was asked for."""


@dataclass(frozen=True, slots=True)
class FitsFailed:
    """What fits here could not be worked out; its page says so in its place."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class ModelPageKnown:
    """A model's page is there."""

    page: "ModelPage"
    here: Fits | None = None
    """The model on this machine, by the rule of `FitsKnown`; None where it cannot be told."""


@dataclass(frozen=True, slots=True)
class DevicePageKnown:
    """The page of one device of a model is there."""

    sheet: "Sheet"
    page: "DevicePage"


@dataclass(frozen=True, slots=True)
class HerePageKnown:
    """Every quantization of a model on this machine."""

    model: Model
    fits: Fits
    written: "Mapping[str, WrittenHere]"
    """Of its rows, by the quantization's id."""


@dataclass(frozen=True, slots=True)
class PageFailed:
    """The page that was asked for cannot be made; it says so in its place."""

    reason: Reason


PageEvent: TypeAlias = (
    FitsGoOn
    | FitsKnown
    | FitsFailed
    | ModelPageKnown
    | DevicePageKnown
    | HerePageKnown
    | PageFailed
)
WindowEvent: TypeAlias = AppEvent | PageEvent | BuildEvent
"""All that the window is told."""
