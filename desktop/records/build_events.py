"""What services tell of builds. Posted from threads of their own, shown by the doors."""

from dataclasses import dataclass
from typing import TypeAlias

from desktop.errors import Reason
from desktop.records.hub_token import TokenState
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
class HubKnown:
    """Which Hugging Face, or which mirror of it, is asked."""

    address: str
    """`https://huggingface.co`; a repository's page is below it."""
    host: str
    """As people know it, `huggingface.co`."""


@dataclass(frozen=True, slots=True)
class TokenKnown:
    """Whether a token is sent to the hub, and where it comes from."""

    state: TokenState


@dataclass(frozen=True, slots=True)
class TokenKept:
    """The token that a person gave is in the keychain."""

    state: TokenState
    """What is sent from here on: `HF_TOKEN` of the environment comes first."""


@dataclass(frozen=True, slots=True)
class TokenFailed:
    """The token was not kept, or nobody could look whether there is one."""

    reason: Reason


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
    | HubKnown
    | TokenKnown
    | TokenKept
    | TokenFailed
    | BuildCallFailed
)
