"""Whose folders are looked through, and where their system's habits put them."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Here:
    """Whose folders are looked through."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    system: str = "linux"
    """As `sys.platform` says: `linux`, `darwin`, `win32`."""
    root: Path = Path("/")
    """Where the folders of system services begin."""
    own: Path | None = None
    """Gram's own folder of builds: what lies in it is left out."""


def expanded(here: Here, text: str) -> Path:
    """A folder as a person or a program wrote it: `~` is the home.

    What is relative starts there. Blanks and quotes around it are not its own.
    """
    text = text.strip().strip("\"'").replace("\0", "")
    if text == "~" or text.startswith(("~/", "~\\")):
        return here.home / text[2:]
    return here.home / text


def variable(here: Here, *names: str) -> Path | None:
    """The folder of the first environment variable that is set and not empty."""
    for name in names:
        if value := here.environment.get(name, "").strip():
            return expanded(here, value)
    return None


def data_folder(here: Here) -> Path:
    """Where programs keep data: XDG's on Linux, Application Support, Windows' roaming AppData."""
    if here.system == "win32":
        return variable(here, "APPDATA") or here.home / "AppData" / "Roaming"
    if here.system == "darwin":
        return here.home / "Library" / "Application Support"
    return variable(here, "XDG_DATA_HOME") or here.home / ".local" / "share"


def config_folder(here: Here) -> Path:
    """Where programs keep settings; on macOS and Windows, as `data_folder`."""
    if here.system in {"win32", "darwin"}:
        return data_folder(here)
    return variable(here, "XDG_CONFIG_HOME") or here.home / ".config"


def local_folder(here: Here) -> Path:
    """Where programs keep large data that does not roam; on macOS and Linux, as `data_folder`."""
    if here.system == "win32":
        return variable(here, "LOCALAPPDATA") or here.home / "AppData" / "Local"
    return data_folder(here)


def cache_folder(here: Here) -> Path:
    """Where programs keep what they can fetch again."""
    if here.system == "win32":
        return local_folder(here)
    if here.system == "darwin":
        return here.home / "Library" / "Caches"
    return variable(here, "XDG_CACHE_HOME") or here.home / ".cache"


def once(folders: Iterable[Path | None]) -> list[Path]:
    """Without those that are not there, and each real folder once."""
    found: dict[str, Path] = {}
    for folder in folders:
        if folder is not None:
            found.setdefault(os.path.realpath(folder), folder)
    return list(found.values())


def is_file(path: Path) -> bool:
    """Whether there is a file that may be looked at. Never raises."""
    return os.path.isfile(path)  # noqa: PTH113 - pathlib's raises for a folder that is closed


def is_folder(path: Path) -> bool:
    """Whether there is a folder that may be looked at. Never raises."""
    return os.path.isdir(path)  # noqa: PTH112
