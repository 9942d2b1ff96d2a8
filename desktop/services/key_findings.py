"""What signs here, without making a key and without a prompt: two rows of `gram doctor`."""

import os
from pathlib import Path
from typing import Final

from desktop.errors import KeyUnavailableError
from desktop.identity import keychain
from desktop.identity.key_file import check_key_file
from desktop.identity.keys import KEY_FILE_VARIABLE, named_key_file
from desktop.paths import Paths
from desktop.services.finding import Finding

_RIGHT: Final = f"If it has another name, correct {KEY_FILE_VARIABLE}; if it was lost, restore it."


def keychain_finding(paths: Paths) -> Finding:
    """The keychain; where it cannot be used, the key file in the data folder.

    Raises:
        OSError: the data folder cannot be looked into.
    """
    status = keychain.status(os.environ)
    if status.usable:
        return Finding("Keychain", "ok", status.backend)
    reason = status.reason
    advice = reason.advice() if reason else ""
    detail = reason.text() if reason else "not usable"
    if not _is_there(paths.key_file):
        return Finding("Keychain", "optional", detail, advice)
    try:
        check_key_file(paths.key_file)
    except KeyUnavailableError as e:
        said = f"{detail} {e.reason.text()}"
        return Finding("Keychain", "unusable", said, e.reason.advice())
    return Finding("Keychain", "optional", f"{detail} A key file is here.", advice)


def key_file_finding() -> Finding:
    """The file that `GRAM_KEY_FILE` names, which signs before any keychain.

    Raises:
        OSError: its folder cannot be looked into.
    """
    what = "Key file"
    try:
        named = named_key_file()
        if named is None:
            return Finding(what, "ok", f"{KEY_FILE_VARIABLE} names none")
        if _is_there(named):
            check_key_file(named)
            return Finding(what, "ok", f"{named} ({KEY_FILE_VARIABLE}) holds a key")
    except KeyUnavailableError as e:
        said = f"{KEY_FILE_VARIABLE}: {e.reason.text()}"
        return Finding(what, "unusable", said, e.reason.advice())
    return _none_there(named)


def _none_there(named: Path) -> Finding:
    detail = f"{KEY_FILE_VARIABLE} names {named}, where there is no file"
    if os.access(named.parent, os.W_OK | os.X_OK):
        made = f"{detail}: a key is made there when one is needed"
        return Finding("Key file", "optional", made, _RIGHT)
    return Finding("Key file", "missing", f"{detail}, and none can be made", _RIGHT)


def _is_there(path: Path) -> bool:
    """Raises OSError where that cannot be seen."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True
