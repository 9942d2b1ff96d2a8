"""A folder or GGUF file of the person's own, as it is typed and as it is kept."""

import os
from pathlib import Path
from typing import Final

from desktop.errors import GramError
from desktop.setting_keys import FOLDERS, KEYS, REFUSALS
from desktop.setting_slips import shown

_SUFFIX: Final = ".gguf"


def folder_there(text: str) -> str:
    """One that is there, from the root on.

    Args:
        text: as typed; what is relative is relative to where the program runs.

    Raises:
        GramError: `folder_missing`; `setting_bad` for another file, or what is no path.
    """
    try:
        KEYS[FOLDERS].checked(text)
    except REFUSALS as e:
        raise refused(FOLDERS, text) from e
    path = _absolute(text)
    # not pathlib's: those raise for a name that is too long and a folder that is closed
    if not os.path.exists(path):  # noqa: PTH110
        raise GramError("folder_missing", name=str(path))
    if not os.path.isdir(path) and path.suffix.lower() != _SUFFIX:  # noqa: PTH112
        raise refused(FOLDERS, text)
    return str(path)


def is_same_folder(kept: object, text: str) -> bool:
    """Whether what stands in the file is what was typed, however each is written.

    What is relative in the file is relative to the person's home.
    """
    if not isinstance(kept, str) or not kept.strip():
        return False
    written = _home("~") / _home(kept.strip())
    return os.path.normcase(written) == os.path.normcase(_absolute(text))


def refused(name: str, value: object) -> GramError:
    """The error for a value that the key `name` may not have."""
    return GramError("setting_bad", name=name, found=shown(value), allowed=KEYS[name].allowed)


def _absolute(text: str) -> Path:
    """From the root on; `..` as the file system takes it."""
    path = _home(text.strip()).absolute()
    return path.resolve() if ".." in path.parts else path


def _home(text: str) -> Path:
    """With the home in place of `~`; as it is where there is none."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - pathlib's raises
