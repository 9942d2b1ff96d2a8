"""Where dev.py keeps things: in the clone what belongs to it, in the cache what clones share."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
VENV = ROOT / ".venv"
VENV_NO_QT = ROOT / ".venv-noqt"
STATE = ROOT / ".dev"  # logs and the lock file of this clone
LOGS = STATE / "logs"


def cache_dir() -> Path:
    """The folder shared by all clones of this user: `$GRAM_DEV_CACHE`, else the system's cache."""
    if chosen := os.environ.get("GRAM_DEV_CACHE"):
        return Path(chosen).expanduser().resolve()
    return _system_cache() / "gram-dev"


def _system_cache() -> Path:
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")


def venv_python(venv: Path) -> Path:
    """The interpreter inside a virtual environment, whether or not it exists yet."""
    if sys.platform == "win32":
        return venv / "Scripts" / "python.exe"
    return venv / "bin" / "python"


def venv_site_packages(venv: Path) -> Path:
    """The folder a virtual environment's packages are installed in."""
    if sys.platform == "win32":
        return venv / "Lib" / "site-packages"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return venv / "lib" / version / "site-packages"
