"""What the person set about builds: the table `[builds]` of `settings.toml`."""

from pathlib import Path
from typing import Any, Final

from desktop.errors import Reason
from desktop.paths import Paths
from desktop.records.library import BuildPreferences
from desktop.setting_folders import folder_there, is_same_folder, refused
from desktop.setting_keys import BUILDS, FOLDERS, KEYS
from desktop.settings import read_build_preferences
from desktop.toml_file import change_toml
from desktop.toml_text import Value

_NAME: Final = FOLDERS.removeprefix(f"{BUILDS}.")


def read_preferences(settings: Path) -> tuple[BuildPreferences, tuple[Reason, ...]]:
    """The preferences in the settings file, and what the person should be told. Never raises.

    What is not allowed is left out: of a list of folders, only the wrong ones.
    """
    return read_build_preferences(settings)


def add_folder(paths: Paths, text: str) -> str:
    """Add a folder, or one GGUF file, to those that are looked through; as it is kept.

    What is relative is relative to where the program runs. What is in the list already stays once.

    Raises:
        GramError: `folder_missing`; `setting_bad` for another file, or for one more than are read;
            `settings_write`, `settings_busy`, `folder_read_only`.
    """
    added = folder_there(text)

    def more(found: object) -> Value:
        folders = _list(found)
        if any(is_same_folder(folder, added) for folder in folders):
            return folders
        if len(folders) >= KEYS[FOLDERS].most:
            raise refused(FOLDERS, text)
        return [*folders, added]

    change_toml(paths.ensure().settings, _NAME, more, BUILDS)
    return added


def remove_folder(paths: Paths, text: str) -> bool:
    """Take it out of the list, also where it is not there any more; whether it was in it.

    Nothing of the folder itself is touched.

    Raises:
        GramError: `settings_write`, `settings_busy`.
    """
    if not any(is_same_folder(f, text) for f in read_preferences(paths.settings)[0].folders):
        return False

    def fewer(found: object) -> Value | None:
        return [folder for folder in _list(found) if not is_same_folder(folder, text)] or None

    change_toml(paths.settings, _NAME, fewer, BUILDS)
    return True


def _list(found: object) -> list[Any]:
    """What stands in the file, wrong ones too: they are the person's."""
    if isinstance(found, list):
        return list(found)
    return [] if found is None else [found]
