"""Data files that ship with Gram: found in the source tree, in a wheel and in the frozen app."""

import sys
from pathlib import Path

from desktop.errors import GramError


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
    """The UTF-8 text of one file.

    Raises:
        FileNotFoundError: it is not shipped; a fault of packaging.
        GramError: `resource_damaged`: it is no UTF-8.
    """
    return text_of(path(name), name)


def text_of(path: Path, name: str) -> str:
    """The UTF-8 text of the file at `path`, called `name` in errors.

    Raises:
        OSError: it cannot be read.
        GramError: `resource_damaged`: it is no UTF-8; the line is named.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as e:
        line = e.object[: e.start].count(b"\n") + 1
        detail = f"line {line}: the byte {e.object[e.start]:#04x} is no UTF-8"
        raise GramError("resource_damaged", name=name, detail=detail) from e
