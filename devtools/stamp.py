"""The stamp of an environment: what it was made from, so that the next start need not look."""

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path

FORMAT = 1  # raise it when environments are made differently, and all are made anew

Stamp = dict[str, str]


def file_sha256(path: Path) -> str:
    """The sha256 of a file, as hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def base_stamp() -> Stamp:
    """What every environment depends on: this format, the Python and where it lies."""
    return {
        "format": str(FORMAT),
        "python": sys.version.split()[0],
        "base": str(Path(sys.base_prefix).resolve()),
    }


def read_stamp(path: Path) -> Stamp:
    """The stamp at `path`; empty when there is none or it is not readable as one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {str(key): str(value) for key, value in found.items()}


def write_stamp(path: Path, stamp: Mapping[str, str]) -> None:
    """Replace the stamp in one step, so that a reader never sees half of it."""
    scratch = path.with_suffix(".new")
    scratch.write_text(json.dumps(dict(stamp), indent=1) + "\n", encoding="utf-8")
    scratch.replace(path)


def holds(stamp: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether everything that is wanted stands in the stamp with the same value."""
    return all(stamp.get(key) == value for key, value in wanted.items())
