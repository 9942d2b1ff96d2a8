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
Keychain: TypeAlias = Callable[[Path, Mapping[str, str], bool], Signer | None]
"""Given a lock file, the environment, and whether a key may be made."""


def open_signer(
    signing: Signing,
    key_file: Path | None,
    paths: Paths,
    environment: Mapping[str, str] = os.environ,
    *,
    from_keychain: Keychain | None = None,
) -> tuple[Signer | None, Reason | None]:
    """The key to sign with, and what the person should know about it. Never on the UI thread.

    A file that is named (by `key_file`, else by `GRAM_KEY_FILE`) is used as named. Unnamed, the
    keychain's key comes first; where there is no keychain, or no key in it, the default key file if
    it is there. `KEYCHAIN_OR_FILE` makes that file where there is no keychain. A locked keychain is
    an error, as a second key would make a second gram of this machine.

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
    named = key_file or named_key_file(environment)
    ask = from_keychain or _system_keychain
    match signing:
        case Signing.UNSIGNED:
            return None, None
        case Signing.KEY_FILE:
            return files.load_or_create(named or paths.key_file), None
        case Signing.KEYCHAIN | Signing.KEYCHAIN_OR_FILE:
            if named is not None:
                return files.load_or_create(named), None
            may_make_file = signing is Signing.KEYCHAIN_OR_FILE
            return _keychain_first(ask, paths, environment, may_make_file=may_make_file)


def _keychain_first(
    ask: Keychain, paths: Paths, environment: Mapping[str, str], *, may_make_file: bool
) -> tuple[Signer, Reason | None]:
    """The keychain's key; else the default key file's, if it is there or may be made.

    Where the file is there, no new key is made in the keychain: it would be a second gram.
    """
    there = paths.key_file.exists()
    try:
        found = ask(paths.data / "key.lock", environment, not there)
    except KeyUnavailableError as e:
        if e.code != "no_keychain" or not (there or may_make_file):
            raise
        found = None
    if found is not None:
        return found, None
    name = str(paths.key_file)
    return files.load_or_create(paths.key_file), Reason("using_key_file", {"name": name})


def _system_keychain(
    lock: Path,
    environment: Mapping[str, str],
    create: bool,  # noqa: FBT001 - one call, above
) -> Signer | None:
    return keychain.load_or_create(lock, environment=environment, create=create)


def named_key_file(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file that `GRAM_KEY_FILE` names; None where it is not set.

    Raises:
        KeyUnavailableError: `key_file_bad` when it names a home folder that does not exist.
    """
    text = environment.get(KEY_FILE_VARIABLE)
    if not text:
        return None
    try:
        return Path(text).expanduser()
    except RuntimeError as e:
        raise KeyUnavailableError("key_file_bad", name=text, detail="there is no such home") from e
