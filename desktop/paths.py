"""Where Gram keeps its files. `GRAM_HOME` moves everything under one folder (tests, portable)."""

import os
from pathlib import Path
from typing import NamedTuple

import platformdirs

from desktop.errors import GramError

APP = "gram"


class Paths(NamedTuple):
    """The folders of one profile. Nothing is created until `ensure`."""

    data: Path
    cache: Path
    log_dir: Path

    @property
    def ledger(self) -> Path:
        """Own statements, never lost."""
        return self.data / "ledger.sqlite"

    @property
    def settings(self) -> Path:
        """What the person set."""
        return self.data / "settings.toml"

    @property
    def builds(self) -> Path:
        """GGUF files that Gram fetched or made."""
        return self.data / "builds"

    @property
    def key_file(self) -> Path:
        """The default key file of servers without a keychain."""
        return self.data / "key"

    @property
    def measure_lock(self) -> Path:
        """Held by whoever measures, so that two never measure at once."""
        return self.data / "measure.lock"

    @property
    def log(self) -> Path:
        """The log file."""
        return self.log_dir / "gram.log"

    @property
    def worker_log(self) -> Path:
        """The engine's own words in the last run."""
        return self.log_dir / "engine.log"

    def ensure(self) -> "Paths":
        """Create the folders, the data folder for the owner only.

        Raises:
            GramError: `folder_read_only` when that is refused or the disk is full; `folder_gone`
                for a link to what is not there, `folder_no_folder` for a file in its place.
        """
        _made(self.data, mode=0o700)
        for folder in (self.builds, self.log_dir, self.cache):
            _made(folder)
        return self


def _made(folder: Path, mode: int = 0o777) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
    except (FileExistsError, NotADirectoryError) as e:
        # the same error for a file as for a link whose drive is not connected
        seen = next((step for step in (folder, *folder.parents) if os.path.lexists(step)), folder)
        code = "folder_no_folder" if seen.exists() else "folder_gone"
        raise GramError(code, name=seen.name) from e
    except OSError as e:
        raise GramError("folder_read_only", detail=e.strerror or str(e)) from e


def _expanded(home: str) -> Path:
    try:
        return Path(home).expanduser().absolute()
    except RuntimeError as e:
        raise GramError("folder_read_only", detail=f"there is no home folder for {home}") from e


def default_paths() -> Paths:
    """The current user's folders, by the habits of the operating system.

    Raises:
        GramError: `folder_read_only` when `GRAM_HOME` names a home folder that does not exist.
    """
    home = os.environ.get("GRAM_HOME")
    if home:
        root = _expanded(home)
        return Paths(root, root / "cache", root / "log")
    dirs = platformdirs.PlatformDirs(APP, appauthor=False)
    return Paths(dirs.user_data_path, dirs.user_cache_path, dirs.user_log_path)
