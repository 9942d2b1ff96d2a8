"""The list of what Gram fetched: where it came from, when it was used, whether it is to be kept.

The folder of builds says what is there; this list only says more about it, so a list that is lost
or broken loses no build: what it does not name is not Gram's to remove.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from desktop.builds.hashes import is_sha256
from desktop.builds.names import is_safe_path
from desktop.builds.own_list import OwnList
from desktop.clock import is_utc_text
from desktop.errors import Reason

LIST: Final = "library.json"


@dataclass(frozen=True, slots=True)
class Row:
    """What is noted of one build."""

    name: str
    files: Mapping[str, str]
    """File name to sha256; the first is the one that is loaded."""
    url: str | None
    used_at: str
    """RFC 3339, UTC. At first, when the download was begun."""
    pinned: bool = False
    sizes: Mapping[str, int] = field(default_factory=dict)
    """File name to bytes; of a file that is not in it the size is not known."""
    private: bool = False
    """Of a repository that not everybody sees, as far as is known: its name stays here."""


class LibraryIndex:
    """The list in one file; making the object touches nothing."""

    def __init__(self, file: Path) -> None:
        self._list = OwnList(file, "builds", "the list of builds")

    def read(self) -> tuple[dict[str, Row], Reason | None]:
        """The rows by sha256, and why there are none where the file cannot be used."""
        table, told = self._list.read()
        return _rows(table), told

    def change(self, sha256: str, changed: Callable[[Row | None], Row | None]) -> None:
        """Put `changed(row)` in place of a build's row; None: no row.

        A file that cannot be used is set aside first.

        Raises:
            BuildError: `library_write` where it cannot be written or is held by another program.
        """

        def all_changed(table: Mapping[str, Any]) -> Mapping[str, Any]:
            rows = _rows(table)
            row = changed(rows.pop(sha256, None))
            if row is not None:
                rows[sha256] = row
            return {k: asdict(v) for k, v in rows.items()}

        self._list.change(all_changed)


def used(row: Row, moment: str) -> Row:
    """The row after a use; a clock that was set back takes nothing from an earlier one."""
    return replace(row, used_at=max(row.used_at, moment))


def _rows(table: Mapping[str, Any]) -> dict[str, Row]:
    """The rows that are as Gram writes them: a name of a file leads nowhere else."""
    found = {k: _row(v) for k, v in table.items() if is_sha256(k)}
    return {k: r for k, r in found.items() if r is not None and next(iter(r.files.values())) == k}


def _row(value: object) -> Row | None:
    if not isinstance(value, dict):
        return None
    name, files, url = value.get("name"), value.get("files"), value.get("url")
    used_at, pinned = value.get("used_at"), value.get("pinned")
    if not isinstance(name, str) or not isinstance(files, dict) or not files:
        return None
    if not all(_is_file(k, v) for k, v in files.items()):
        return None
    if not is_utc_text(used_at):
        return None
    where = url if isinstance(url, str) else None
    sizes, private = _sizes(value.get("sizes"), files), value.get("private") is True
    return Row(name, files, where, used_at, pinned is True, sizes, private)


def _sizes(value: object, files: Mapping[str, str]) -> dict[str, int]:
    """Those that are sizes; lists without them are older."""
    told = value if isinstance(value, dict) else {}
    return {k: v for k, v in told.items() if k in files and type(v) is int and v >= 0}


def _is_file(name: str, sha256: object) -> bool:
    return is_safe_path(name) and "/" not in name and is_sha256(sha256)
