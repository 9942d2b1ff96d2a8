"""The token of Hugging Face, or of a mirror of it: in the keychain and nowhere else.

Each is kept under the origin that it is for, and is given out for that origin only. What other
programs keep (`~/.cache/huggingface/token`, `~/.netrc`, git's helpers) is never read: a token that
was given to them was not given to Gram. The keychain is asked here, so never on the UI thread.
"""

import os
from collections.abc import Mapping
from typing import Final

from desktop.errors import GramError, KeyUnavailableError
from desktop.identity import keychain
from desktop.identity.keychain import Vault

SERVICE: Final = "gram-hub-token"
"""Not the signing key's: Windows keeps a second name of one service in another way."""
VARIABLE: Final = "HF_TOKEN"
_CODES: Final[Mapping[str, str]] = {
    "no_keychain": "token_no_keychain",
    "keychain_locked": "token_keychain_locked",
}


def told_token(environment: Mapping[str, str] = os.environ) -> str | None:
    """The token in `HF_TOKEN`; None where it is not set or empty."""
    return environment.get(VARIABLE, "").strip() or None


def kept_token(
    origin: str, environment: Mapping[str, str] = os.environ, *, vault: Vault | None = None
) -> str | None:
    """The token that the keychain has for `origin`; None: it has none. GNOME's asks nothing here.

    Args:
        origin: scheme, host and port, `https://huggingface.co`.
        environment: tells whether there is a session bus.
        vault: a keychain to use instead of the system's.

    Raises:
        GramError: `token_no_keychain`, `token_keychain_locked`, `token_keychain_refused`.
    """
    try:
        return keychain.read_text(SERVICE, origin, environment, vault=vault) or None
    except KeyUnavailableError as e:
        raise _of_token(e) from e


def check_can_keep(environment: Mapping[str, str] = os.environ) -> None:
    """Whether there is a keychain to keep one in; found without a prompt.

    Raises:
        GramError: as `kept_token`.
    """
    reason = keychain.status(environment).reason
    if reason is not None:
        raise _of_token(KeyUnavailableError(reason.code, **reason.params))


def keep_token(
    origin: str,
    token: str,
    environment: Mapping[str, str] = os.environ,
    *,
    vault: Vault | None = None,
) -> None:
    """Put it into the keychain, in place of an earlier one. It may wait for a prompt.

    Raises:
        GramError: as `kept_token`; nothing of the token is in it.
    """
    try:
        keychain.keep_text(SERVICE, origin, token, environment, vault=vault)
    except KeyUnavailableError as e:
        raise _of_token(e) from e


def forget_token(
    origin: str, environment: Mapping[str, str] = os.environ, *, vault: Vault | None = None
) -> bool:
    """Take it out of the keychain; whether there was one. It may wait for a prompt.

    Raises:
        GramError: as `kept_token`.
    """
    try:
        return keychain.forget_text(SERVICE, origin, environment, vault=vault)
    except KeyUnavailableError as e:
        raise _of_token(e) from e


def _of_token(error: KeyUnavailableError) -> GramError:
    """The same in words about a token: measuring unsigned is no way out of it."""
    code = _CODES.get(error.code, "token_keychain_refused")
    return GramError(code, **error.reason.params)
