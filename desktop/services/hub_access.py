"""How Gram comes to Hugging Face or a mirror of it: the address, and the person's token.

The token is `HF_TOKEN` of the environment, else what Gram's person put into the keychain for this
very host; what other programs keep (`~/.cache/huggingface/token`) is never read. It goes to that
host only (`builds.hub_session`), and is in no log, no error and no `repr`.
"""

import logging
import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from desktop.builds.addresses import origin
from desktop.builds.endpoints import endpoint_of, host_of
from desktop.builds.hub_answers import ask
from desktop.builds.hub_session import HubSession
from desktop.builds.repository import Hub
from desktop.errors import BuildError, GramError
from desktop.identity import hub_token
from desktop.identity.keychain import Vault
from desktop.records.hub_token import TokenSource, TokenState

log = logging.getLogger(__name__)
_WHO_AM_I = "/api/whoami-v2"
"""Source: huggingface_hub, src/huggingface_hub/hf_api.py, `whoami`."""


def open_hub(environment: Mapping[str, str] = os.environ, *, vault: Vault | None = None) -> Hub:
    """The hub, with the person's token where there is one. Never on the UI thread.

    A keychain that is locked or missing is no error: open repositories ask for no token.

    Args:
        environment: `HF_ENDPOINT`, `HF_TOKEN`, the session bus.
        vault: a keychain to use instead of the system's.

    Raises:
        BuildError: `hub_address`; `hub_token` for what cannot be one.
    """
    endpoint = endpoint_of(environment)
    return Hub(endpoint, _found(endpoint, environment, vault).token)


def hub_sessions(
    environment: Mapping[str, str] = os.environ, *, vault: Vault | None = None
) -> Callable[[], HubSession]:
    """What makes the session of each connection of a download; the token is read once, here.

    Raises:
        BuildError: as `open_hub`.
    """
    endpoint = endpoint_of(environment)
    token = _found(endpoint, environment, vault).token
    _check(endpoint, token)
    return lambda: HubSession(endpoint, token)


def host_to_keep_for(environment: Mapping[str, str] = os.environ) -> str:
    """The host that a token would be kept for, as people know it: ask for one only then.

    Raises:
        BuildError: `hub_address`.
        GramError: `token_no_keychain`, `token_keychain_locked`, `token_keychain_refused`.
    """
    host = host_of(endpoint_of(environment))
    hub_token.check_can_keep(environment)
    return host


def token_state(
    environment: Mapping[str, str] = os.environ, *, vault: Vault | None = None
) -> TokenState:
    """Where the token comes from that is sent to the hub.

    Raises:
        BuildError: `hub_address`.
    """
    endpoint = endpoint_of(environment)
    return _found(endpoint, environment, vault).state


def keep_token(
    environment: Mapping[str, str], token: str, *, vault: Vault | None = None
) -> TokenState:
    """Keep the token in the keychain, for the hub's host only. It may wait for a prompt.

    The hub is asked whether it knows the token; where it cannot be asked, it is kept all the same.

    Returns:
        Which token is sent then: `HF_TOKEN` of the environment comes first.

    Raises:
        BuildError: `hub_address`; `hub_token`: it cannot be one, or the hub does not know it.
        GramError: `token_no_keychain`, `token_keychain_locked`, `token_keychain_refused`.
    """
    endpoint, token = endpoint_of(environment), token.strip()
    _check(endpoint, token)
    _ask(endpoint, token)
    hub_token.keep_token(_key(endpoint), token, environment, vault=vault)
    return token_state(environment, vault=vault)


def forget_token(environment: Mapping[str, str], *, vault: Vault | None = None) -> bool:
    """Take the token of the hub's host out of the keychain; whether there was one.

    Raises:
        BuildError: `hub_address`.
        GramError: as `keep_token`.
    """
    return hub_token.forget_token(_key(endpoint_of(environment)), environment, vault=vault)


class _Found(NamedTuple):
    state: TokenState
    token: str | None

    def __repr__(self) -> str:
        """Without the token."""
        return f"_Found({self.state})"


def _found(endpoint: str, environment: Mapping[str, str], vault: Vault | None) -> _Found:
    host = host_of(endpoint)
    told = hub_token.told_token(environment)
    if told is not None:
        return _Found(TokenState(host, TokenSource.ENVIRONMENT), told)
    try:
        kept = hub_token.kept_token(_key(endpoint), environment, vault=vault)
    except GramError as e:
        log.info("%s is asked without a token: %s", host, e.reason.text())
        locked = e.code == "token_keychain_locked"
        source = TokenSource.LOCKED if locked else TokenSource.NONE
        return _Found(TokenState(host, source, e.reason), None)
    source = TokenSource.NONE if kept is None else TokenSource.KEYCHAIN
    return _Found(TokenState(host, source), kept)


def _key(endpoint: str) -> str:
    """What the token is kept under: another scheme, host or port has another one."""
    scheme, host, port = origin(endpoint)
    return f"{scheme}://{host}:{port}"


def _check(endpoint: str, token: str | None) -> None:
    """Raises BuildError `hub_token` for what cannot be one."""
    HubSession(endpoint, token).close()


def _ask(endpoint: str, token: str) -> None:
    """Raises BuildError `hub_token` where the hub says that it does not know the token."""
    with Hub(endpoint, token) as hub:
        try:
            ask(hub.session, _WHO_AM_I, {}, hub.host)
        except BuildError as e:
            if e.code == "hub_token":
                raise
            log.info("whether %s knows the token is not known: %s", hub.host, e)
