"""Where rehearsals' files lie, and how what was left there is removed."""

import shutil
from pathlib import Path

from desktop.paths import Paths


def rehearsal_folder(paths: Paths) -> Path:
    """Where rehearsals' files lie."""
    return paths.cache / "rehearsals"


def sweep(paths: Paths) -> None:
    """Remove what an earlier rehearsal left. Only for who holds the measuring turn."""
    shutil.rmtree(rehearsal_folder(paths), ignore_errors=True)
