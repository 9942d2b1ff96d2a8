"""The list of what Gram fetched: where it came from, when it was used, whether it is to be kept.

The folder of builds says what is there; this list only says more about it, so a list that is lost
or broken loses no build: what it does not name is not Gram's to remove. One JSON file, written
whole or not at all, by one program at a time.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from desktop.builds.hashes import is_sha256
from desktop.builds.names import is_safe_path
from desktop.errors import BuildError, Reason
from desktop.own_files import give_to_folders_owner, never_a_pipe, written_beside

_VERSION: Final = 1
_MAX_BYTES: Final = 16 << 20
_LOCK_S: Final = 10.0
_MOMENT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


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


class LibraryIndex:
    """The list in one file; making the object touches nothing."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> tuple[dict[str, Row], Reason | None]:
        """The rows by sha256, and why there are none where the file cannot be used."""
        try:
            return _rows(self._parsed()), None
        except FileNotFoundError:
            return {}, None
        except (OSError, ValueError, RecursionError) as e:
            detail = getattr(e, "strerror", None) or "it is not a list that Gram wrote"
            return {}, Reason("library_list", {"name": self._file.name, "detail": detail})

    def change(self, sha256: str, changed: Callable[[Row | None], Row | None]) -> None:
        """Put `changed(row)` in place of a build's row; None: no row.

        A file that cannot be used is set aside first.

        Raises:
            BuildError: `library_write` where it cannot be written or is held by another program.
        """
        with self._alone():
            rows, broken = self.read()
            if broken is not None:
                self._set_aside()
            row = changed(rows.pop(sha256, None))
            if row is not None:
                rows[sha256] = row
            table = {"v": _VERSION, "builds": {k: asdict(v) for k, v in rows.items()}}
            data = json.dumps(table, indent=1, ensure_ascii=True).encode("ascii")
            with written_beside(self._file, data) as beside:
                beside.replace(self._file)

    def _parsed(self) -> Mapping[str, Any]:
        with open(self._file, "rb", opener=never_a_pipe) as file:
            data = file.read(_MAX_BYTES + 1)
        table = json.loads(data) if len(data) <= _MAX_BYTES else None
        if not isinstance(table, dict) or table.get("v") != _VERSION:
            raise ValueError(table)
        builds = table.get("builds")
        if not isinstance(builds, dict):
            raise ValueError(builds)  # noqa: TRY004 - as any other file that is not ours
        return builds

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        lock = FileLock(self._file.with_suffix(".lock"), timeout=_LOCK_S)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with lock:
                give_to_folders_owner(Path(lock.lock_file))
                yield
        except Timeout as e:
            raise _write("another Gram holds it") from e
        except OSError as e:
            raise _write(e.strerror or str(e)) from e

    def _set_aside(self) -> None:
        free = (self._file.with_suffix(f".broken-{n}.json") for n in range(1, 1000))
        aside = next((name for name in free if not os.path.lexists(name)), None)
        if aside is None:
            raise _write("too many broken lists lie beside it")
        self._file.rename(aside)


def used(row: Row, moment: str) -> Row:
    """The row after a use; a clock that was set back takes nothing from an earlier one."""
    return replace(row, used_at=max(row.used_at, moment))


def _write(detail: str) -> BuildError:
    return BuildError("library_write", name="the list of builds", detail=detail)


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
    if not isinstance(used_at, str) or not _MOMENT.fullmatch(used_at):
        return None
    return Row(name, files, url if isinstance(url, str) else None, used_at, pinned is True)


def _is_file(name: str, sha256: object) -> bool:
    return is_safe_path(name) and "/" not in name and is_sha256(sha256)
