"""Data files that ship with Gram: found in the source tree, in a wheel and in the frozen app."""

import sys
from pathlib import Path


def folder() -> Path:
    """The `resources` folder.

    In a frozen app it lies beside the bundled modules, in the source tree beside `desktop/`.
    """
    base = Path(getattr(sys, "_MEIPASS", Path(__file__).resolve().parent.parent))
    return base / "resources"


def path(name: str) -> Path:
    """The path of one file, `name` relative to `resources/`, with forward slashes.

    Raises:
        FileNotFoundError: it is not shipped; a fault of packaging.
    """
    found = folder() / name
    if not found.exists():
        raise FileNotFoundError(f"resource {name} is not shipped")
    return found


def text(name: str) -> str:
    """The UTF-8 text of one file."""
    return path(name).read_text(encoding="utf-8")
