"""Which token Hugging Face is asked with; never the token itself."""

from dataclasses import dataclass
from enum import StrEnum

from desktop.errors import Reason


class TokenSource(StrEnum):
    """Where a token comes from."""

    ENVIRONMENT = "environment"
    """`HF_TOKEN`; kept nowhere."""
    KEYCHAIN = "keychain"
    LOCKED = "keychain_locked"
    """Whether the keychain has one cannot be seen, so none is sent."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class TokenState:
    """What is sent to a host of models, and why nothing is."""

    host: str
    """As people know it, `huggingface.co`."""
    source: TokenSource
    reason: Reason | None = None
    """Why the keychain could not be looked into."""
