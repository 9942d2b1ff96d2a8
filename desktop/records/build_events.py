"""What services tell of builds. Posted from threads of their own, shown by the doors."""

from dataclasses import dataclass
from typing import TypeAlias

from desktop.errors import Reason
from desktop.records.library import Checked, Evicted
from desktop.records.offers import BuildUse, FetchStep, HeldBuild, Offers, Shelf


@dataclass(frozen=True, slots=True)
class ShelfKnown:
    """What is on this machine was looked through."""

    shelf: Shelf


@dataclass(frozen=True, slots=True)
class OffersKnown:
    """What can be had was worked out."""

    offers: Offers


@dataclass(frozen=True, slots=True)
class FetchEnded:
    """A download has ended."""

    name: str
    """As it was asked for."""
    held: HeldBuild | None
    """Where it is; None: it failed or was stopped."""
    reason: Reason | None = None
    """Why it failed; or, with `held`, that nothing had to be fetched."""
    stopped: bool = False
    """A person stopped it: what has come stays for another time."""
    evicted: Evicted | None = None
    """What was removed to make room."""


@dataclass(frozen=True, slots=True)
class BuildChecked:
    """A build was read again from end to end."""

    name: str
    checked: Checked


@dataclass(frozen=True, slots=True)
class BuildRemoved:
    """A build of Gram's own was removed."""

    name: str
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class UseKnown:
    """How to run a build."""

    use: BuildUse


@dataclass(frozen=True, slots=True)
class BuildCallFailed:
    """What was asked of builds cannot be done."""

    reason: Reason
    name: str | None = None
    """Of the build or repository that it is about."""


BuildEvent: TypeAlias = (
    ShelfKnown
    | OffersKnown
    | FetchStep
    | FetchEnded
    | BuildChecked
    | BuildRemoved
    | UseKnown
    | BuildCallFailed
)
