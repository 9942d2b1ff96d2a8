"""A file or folder of the person's own, looked at before it is added to those looked through."""

from dataclasses import dataclass
from pathlib import Path

from desktop.builds.on_disk.find import find_in, headers_in, here_now
from desktop.builds.preferences import add_folder, read_preferences
from desktop.builds.split_sets import read_whole
from desktop.errors import BuildError, GramError, Reason
from desktop.paths import Paths
from desktop.setting_folders import folder_there, is_same_folder


@dataclass(frozen=True, slots=True)
class AddedOwn:
    """What came of adding it."""

    path: str
    """From the root on. It never leaves the machine."""
    builds: int
    """That are in it and can be used."""
    again: bool = False
    """It was looked through before."""
    told: tuple[Reason, ...] = ()
    """What in it cannot be used, and why."""


def add_own(paths: Paths, text: str) -> AddedOwn:
    """Add a GGUF file or a folder; what is relative is relative to where the program runs.

    Of a file the header is read: one that cannot be used is not added. A folder may be empty yet.

    Raises:
        GramError: `folder_missing`, `add_other_file`; as `read_whole`; as `add_folder`.
    """
    path = _there(text)
    again = any(is_same_folder(f, path) for f in read_preferences(paths.settings)[0].folders)
    if Path(path).is_dir():
        found = find_in(here_now(paths), path, headers=headers_in(paths))
        builds, told = len(found.builds), found.told
    else:
        read_whole(Path(path))
        builds, told = 1, ()
    return AddedOwn(add_folder(paths, path), builds, again, told)


def _there(text: str) -> str:
    try:
        return folder_there(text)
    except GramError as e:
        if e.code != "setting_bad" or not text.strip():
            raise
        raise BuildError("add_other_file", name=text.strip()) from e
