"""Secrets in the operating system's keychain, above all the signing key.

The only module that imports keyring.

Every call here may wait for the person to answer a prompt: never call it on the UI thread.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, cast

from filelock import FileLock, Timeout

from desktop.errors import GramError, KeyUnavailableError, Reason
from desktop.identity.key_text import new_key_text, read_key_text
from desktop.identity.signer import Signer

SERVICE = "gram"
USER = "signing-key"
# Backends that keep nothing, or keep it where any program can read it.
_REFUSED_MODULES = ("keyring.backends.null", "keyring.backends.fail", "keyrings.alt")
# By name: the classes are those of keyring, secretstorage and jeepney, not all of them installed.
_CODES: Final[Mapping[str, str]] = {
    "KeyringLocked": "keychain_locked",
    "LockedException": "keychain_locked",
    "NoKeyringError": "no_keychain",
    "InitError": "no_keychain",
    "SecretServiceNotAvailableException": "no_keychain",
    "DBusErrorResponse": "no_keychain",
    "OSError": "no_keychain",
}


class Vault(Protocol):
    """What Gram needs of a keychain; each of keyring's backends is one."""

    def get_password(self, service: str, username: str, /) -> str | None:
        """The stored text, None when there is none. May wait for a prompt."""

    def set_password(self, service: str, username: str, password: str, /) -> None:
        """Store text. May wait for a prompt."""

    def delete_password(self, service: str, username: str, /) -> None:
        """Remove what is stored. May wait for a prompt."""


@dataclass(frozen=True, slots=True)
class KeychainStatus:
    """What `gram doctor` tells of the keychain."""

    backend: str
    """keyring's name of it, `SecretService Keyring`; empty when there is none."""
    usable: bool
    reason: Reason | None
    """Why it cannot be used."""


def load_or_create(
    lock: Path,
    *,
    timeout_s: float = 120.0,
    environment: Mapping[str, str] = os.environ,
    vault: Vault | None = None,
    create: bool = True,
) -> Signer | None:
    """The key in the keychain, made and stored at the first need. Never on the UI thread.

    Args:
        lock: a lock file in the data folder: two Grams at once must not make two keys.
        timeout_s: how long to wait for another Gram that is making the key.
        environment: tells whether there is a session bus and a screen to unlock at.
        vault: a keychain to use instead of the system's.
        create: False to only look; None is returned when there is no key.

    Raises:
        KeyUnavailableError: `no_keychain`, `keychain_locked` or `keychain_refused`.
        GramError: `folder_read_only` when the lock cannot be made.
    """
    with _told():
        chosen = vault or _system_vault(environment)
        found = _stored(chosen)
        return _create(chosen, lock, timeout_s) if found is None and create else found


def read_text(
    service: str,
    user: str,
    environment: Mapping[str, str] = os.environ,
    *,
    vault: Vault | None = None,
) -> str | None:
    """Another secret; None when there is none. A locked Secret Service is not asked to unlock.

    Raises:
        KeyUnavailableError: as `load_or_create`.
    """
    with _told():
        if vault is None:
            vault = usable_backend(_backend(environment))
            if _is_secret_service(vault) and (locked := _default_is_locked()) is not False:
                if locked is None:  # reading would make a keyring first
                    return None
                raise KeyUnavailableError("keychain_locked")
        return vault.get_password(service, user)


def keep_text(
    service: str,
    user: str,
    text: str,
    environment: Mapping[str, str] = os.environ,
    *,
    vault: Vault | None = None,
) -> None:
    """Store another secret in place of an earlier one. May wait for a prompt.

    Raises:
        KeyUnavailableError: as `load_or_create`. Neither it nor a cause of it holds the text.
    """
    failed = None
    try:
        chosen = vault or _system_vault(environment)
        chosen.set_password(service, user, text)
        if chosen.get_password(service, user) != text:
            failed = KeyUnavailableError("keychain_refused", detail="it did not keep it")
    except KeyUnavailableError:
        raise
    except Exception as e:  # noqa: BLE001 - each backend has errors of its own
        failed = KeyUnavailableError(_code(e), detail=_said(e, text))
    # outside of the handler: the backend's error may carry what it was given
    if failed is not None:
        raise failed


def forget_text(
    service: str,
    user: str,
    environment: Mapping[str, str] = os.environ,
    *,
    vault: Vault | None = None,
) -> bool:
    """Remove another secret; whether there was one. May wait for a prompt.

    Raises:
        KeyUnavailableError: as `load_or_create`.
    """
    with _told():
        chosen = vault or _system_vault(environment)
        if chosen.get_password(service, user) is None:
            return False
        chosen.delete_password(service, user)
        if chosen.get_password(service, user) is not None:
            raise KeyUnavailableError("keychain_refused", detail="it did not remove it")
        return True


def status(environment: Mapping[str, str] = os.environ) -> KeychainStatus:
    """Which keychain there is, found without making a key and without a prompt."""
    name = ""
    try:
        backend = _backend(environment)
        name = str(getattr(backend, "name", type(backend).__name__))
        usable_backend(backend)
        _check_can_unlock(backend, environment)
    except KeyUnavailableError as e:
        return KeychainStatus(name, usable=False, reason=e.reason)
    except Exception as e:  # noqa: BLE001 - a doctor tells every illness
        return KeychainStatus(name, usable=False, reason=Reason(_code(e), {"detail": _said(e)}))
    return KeychainStatus(name, usable=True, reason=None)


def usable_backend(backend: object) -> Vault:
    """The backend itself, or of a chain the first that keeps secrets as secrets.

    Raises:
        KeyUnavailableError: `no_keychain` when it keeps nothing, or keeps it readable by anybody.
    """
    refusal = "no password store was found"
    members = cast("Iterable[object]", getattr(backend, "backends", (backend,)))
    for member in members:
        refused = _refusal(member)
        if refused is None:
            return cast("Vault", member)
        refusal = refused
    raise KeyUnavailableError("no_keychain", detail=refusal)


def _refusal(backend: object) -> str | None:
    module = type(backend).__module__
    if module == "keyring.backends.fail":
        return "no password store was found"
    if module.startswith(_REFUSED_MODULES):
        return f"{module} does not keep secrets safely"
    if float(getattr(backend, "priority", 0)) <= 0:
        return f"{module} is not recommended here"
    return None


def _system_vault(environment: Mapping[str, str]) -> Vault:
    backend = _backend(environment)
    vault = usable_backend(backend)
    _check_can_unlock(vault, environment)
    return vault


def _backend(environment: Mapping[str, str]) -> object:
    """What keyring chose; without a session bus only a configured one: a search may start a bus."""
    from keyring import core  # noqa: PLC0415 - slow to import, and not needed by every command

    if sys.platform in {"win32", "darwin"} or environment.get("DBUS_SESSION_BUS_ADDRESS"):
        return core.get_keyring()
    configured = core.load_env() or core.load_config()
    if configured is None:
        raise KeyUnavailableError("no_keychain", detail="there is no D-Bus session")
    return configured


def _check_can_unlock(backend: object, environment: Mapping[str, str]) -> None:
    """A locked keyring asks on a screen; without one some daemons wait for ever.

    Raises:
        KeyUnavailableError: `no_keychain` when a keyring would first have to be made, or
            `keychain_locked`, and there is no screen to ask at.
    """
    screen = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    if screen or not _is_secret_service(backend):
        return
    locked = _default_is_locked()
    if locked is None:
        detail = "no keyring has been made yet, and there is no screen to ask at"
        raise KeyUnavailableError("no_keychain", detail=detail)
    if locked:
        raise KeyUnavailableError("keychain_locked")


def _is_secret_service(backend: object) -> bool:
    return type(backend).__module__ == "keyring.backends.SecretService"


def _default_is_locked() -> bool | None:
    """Of the Secret Service's default collection; None when there is none. Asks nothing."""
    import secretstorage  # noqa: PLC0415 - on Linux only
    from secretstorage import collection  # noqa: PLC0415

    with closing(secretstorage.dbus_init()) as bus:
        try:
            return bool(collection.get_collection_by_alias(bus, "default").is_locked())
        except secretstorage.ItemNotFoundException:
            return None


def _stored(vault: Vault) -> Signer | None:
    text = vault.get_password(SERVICE, USER)
    if text is None:
        return None
    try:
        return read_key_text(text)
    except ValueError as e:
        detail = f"what it holds is not a Gram key: {e}"
        raise KeyUnavailableError("keychain_refused", detail=detail) from e


def _create(vault: Vault, lock: Path, timeout_s: float) -> Signer:
    """Store a new key, and use only what the keychain gives back."""
    with _held(lock, timeout_s):
        found = _stored(vault)
        if found is not None:
            return found
        vault.set_password(SERVICE, USER, new_key_text())
        kept = _stored(vault)
    if kept is None:
        raise KeyUnavailableError("keychain_refused", detail="it did not keep the new key")
    return kept


@contextmanager
def _told() -> Iterator[None]:
    """Each backend has errors of its own, from D-Bus's to Windows': they become ours.

    Raises:
        KeyUnavailableError: `no_keychain`, `keychain_locked` or `keychain_refused`.
    """
    try:
        yield
    except GramError:
        raise
    except Exception as e:
        raise KeyUnavailableError(_code(e), detail=_said(e)) from e


@contextmanager
def _held(path: Path, timeout_s: float) -> Iterator[None]:
    """Hold the lock file; a folder that may not be written to is no fault of the keychain."""
    lock = FileLock(path, timeout=timeout_s)
    try:
        lock.acquire()
    except Timeout as e:
        detail = "another Gram is still waiting for it"
        raise KeyUnavailableError("keychain_refused", detail=detail) from e
    except OSError as e:
        raise GramError("folder_read_only", detail=e.strerror or str(e)) from e
    try:
        yield
    finally:
        lock.release()


def _code(error: BaseException) -> str:
    if type(error.__cause__).__name__ == "PromptDismissedException":
        return "keychain_refused"
    names = (c.__name__ for c in type(error).__mro__)
    return next((_CODES[n] for n in names if n in _CODES), "keychain_refused")


def _said(error: BaseException, secret: str = "") -> str:
    """Its first line, without the secret if it holds that."""
    told = str(error).replace(secret, "…") if secret else str(error)
    lines = told.strip().splitlines()
    return lines[0].rstrip(".")[:160] if lines else type(error).__name__
