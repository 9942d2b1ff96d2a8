"""A list of Gram's own in one JSON file: by name, written whole or not at all, one at a time."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from desktop.errors import BuildError, Reason
from desktop.own_files import give_to_folders_owner, never_a_pipe, written_beside

_VERSION: Final = 1
_MAX_BYTES: Final = 16 << 20
_LOCK_S: Final = 10.0


class OwnList:
    """Rows by name, whatever they are; making the object touches nothing."""

    def __init__(self, file: Path, key: str, what: str) -> None:
        """Name it.

        Args:
            file: where it is.
            key: under which the rows stand in it.
            what: it is, in sentences: `the list of builds`.
        """
        self._file, self._key, self._what = file, key, what

    def read(self) -> tuple[Mapping[str, Any], Reason | None]:
        """The rows, and why there are none where the file cannot be used."""
        try:
            return self._parsed(), None
        except FileNotFoundError:
            return {}, None
        except (OSError, ValueError, RecursionError) as e:
            detail = getattr(e, "strerror", None) or "it is not a list that Gram wrote"
            return {}, Reason("library_list", {"name": self._file.name, "detail": detail})

    def change(self, changed: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        """Put `changed(rows)` in place of the rows; a file that cannot be used is set aside first.

        Raises:
            BuildError: `library_write` where it cannot be written or is held by another program.
        """
        with self._alone():
            rows, broken = self.read()
            if broken is not None:
                self._set_aside()
            data = self._written(changed(rows))
            if len(data) > _MAX_BYTES:
                raise self._error("it would be too large")
            with written_beside(self._file, data) as beside:
                beside.replace(self._file)

    def _written(self, rows: Mapping[str, Any]) -> bytes:
        """A row a line: with every value on one, writing takes four times as long."""
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
        return f'{{"v": {_VERSION}, "{self._key}": {{\n{lines}\n}}}}\n'.encode("ascii")

    def _parsed(self) -> Mapping[str, Any]:
        with open(self._file, "rb", opener=never_a_pipe) as file:
            data = file.read(_MAX_BYTES + 1)
        table = json.loads(data) if len(data) <= _MAX_BYTES else None
        if not isinstance(table, dict) or table.get("v") != _VERSION:
            raise ValueError(table)
        rows = table.get(self._key)
        if not isinstance(rows, dict):
            raise ValueError(rows)  # noqa: TRY004 - as any other file that is not ours
        return rows

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        lock = FileLock(self._file.with_suffix(".lock"), timeout=_LOCK_S)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with lock:
                give_to_folders_owner(Path(lock.lock_file))
                yield
        except Timeout as e:
            raise self._error("another Gram holds it") from e
        except OSError as e:
            raise self._error(e.strerror or str(e)) from e

    def _set_aside(self) -> None:
        free = (self._file.with_suffix(f".broken-{n}.json") for n in range(1, 1000))
        aside = next((name for name in free if not os.path.lexists(name)), None)
        if aside is None:
            raise self._error("too many broken lists lie beside it")
        self._file.rename(aside)

    def _error(self, detail: str) -> BuildError:
        return BuildError("library_write", name=self._what, detail=detail)
