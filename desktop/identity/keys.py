"""Which key signs: the keychain's, or one in a file."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from desktop.errors import KeyUnavailableError, Reason
from desktop.identity import key_file as files
from desktop.identity import keychain
from desktop.identity.signer import Signer
from desktop.paths import Paths
from desktop.records.request import Signing

KEY_FILE_VARIABLE = "GRAM_KEY_FILE"
Keychain: TypeAlias = Callable[[Path, Mapping[str, str]], Signer]


def open_signer(
    signing: Signing,
    key_file: Path | None,
    paths: Paths,
    environment: Mapping[str, str] = os.environ,
    *,
    from_keychain: Keychain | None = None,
) -> tuple[Signer | None, Reason | None]:
    """The key to sign with, and what the person should know about it. Never on the UI thread.

    A file that is named (by `key_file`, else by `GRAM_KEY_FILE`) is used as named, for `KEY_FILE`
    and `KEYCHAIN_OR_FILE`. Unnamed, `KEYCHAIN_OR_FILE` takes the keychain; where there is none,
    the default key file with the reason `using_key_file`; so does `KEYCHAIN` when that file is
    there already. A locked keychain is an error there, as
    a second key would make a second gram of this machine.

    Args:
        signing: the person's choice.
        key_file: the file named with `--key-file`.
        paths: the profile's folders; the data folder must exist.
        environment: `GRAM_KEY_FILE`, the session bus, the screen.
        from_keychain: instead of the system's keychain, given a lock file and the environment.

    Returns:
        `(None, None)` for `UNSIGNED`.

    Raises:
        KeyUnavailableError: one of the codes under *keys* in the catalogue.
    """
    named = key_file or _named(environment)
    ask = from_keychain or _system_keychain
    lock = paths.data / "key.lock"
    match signing:
        case Signing.UNSIGNED:
            return None, None
        case Signing.KEY_FILE:
            return files.load_or_create(named or paths.key_file), None
        case Signing.KEYCHAIN:
            # a key file that was made here before is this machine's key
            if not paths.key_file.exists():
                return ask(lock, environment), None
            return _keychain_or_file(ask, lock, environment, paths.key_file)
        case Signing.KEYCHAIN_OR_FILE:
            if named is not None:
                return files.load_or_create(named), None
            return _keychain_or_file(ask, lock, environment, paths.key_file)


def _keychain_or_file(
    ask: Keychain, lock: Path, environment: Mapping[str, str], path: Path
) -> tuple[Signer, Reason | None]:
    try:
        return ask(lock, environment), None
    except KeyUnavailableError as e:
        if e.code != "no_keychain":
            raise
    return files.load_or_create(path), Reason("using_key_file", {"name": str(path)})


def _system_keychain(lock: Path, environment: Mapping[str, str]) -> Signer:
    return keychain.load_or_create(lock, environment=environment)


def _named(environment: Mapping[str, str]) -> Path | None:
    text = environment.get(KEY_FILE_VARIABLE)
    return Path(text).expanduser() if text else None
