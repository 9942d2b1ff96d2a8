"""What the person set about builds: the table `[builds]` of `settings.toml`."""

from pathlib import Path

from desktop import settings
from desktop.errors import Reason
from desktop.paths import Paths
from desktop.records.library import BuildPreferences


def read_preferences(file: Path) -> tuple[BuildPreferences, tuple[Reason, ...]]:
    """The preferences in the settings file, and what the person should be told. Never raises.

    What is not allowed is left out: of a list of folders, only the wrong ones.
    """
    return settings.read_build_preferences(file)


def add_folder(paths: Paths, text: str) -> str:
    """Add a folder, or one GGUF file, to those that are looked through; as it is kept.

    What is relative is relative to where the program runs. What is in the list already stays once.

    Raises:
        GramError: `folder_missing`; `setting_bad` for a file that is no build; `settings_write`,
            `settings_busy`, `folder_read_only`.
    """
    return settings.with_folder(paths.ensure().settings, text)


def remove_folder(paths: Paths, text: str) -> bool:
    """Take it out of the list, also where it is not there any more; whether it was in it.

    Nothing of the folder itself is touched.

    Raises:
        GramError: `settings_write`, `settings_busy`, `folder_read_only`.
    """
    return settings.without_folder(paths.ensure().settings, text)
