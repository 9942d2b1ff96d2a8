"""What was found out about files at some cost, remembered until they change.

A file is known by its size, its times and its place on the disk (inode), so no path is kept.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from desktop.builds.files import whole_file
from desktop.own_files import never_a_pipe

MAX_REMEMBERED: Final = 10_000
"""Files. With more than are remembered, all would be read again in each turn."""
_LOCK_S: Final = 5.0
"""Another process holds the memory for milliseconds."""


class Memory:
    """A short text for each file; a missing, broken or read-only memory is no error."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: tuple[str, dict[str, str]] | None = None
        """The memory's own identity when it was read, and what stood in it."""

    def known(self, key: str) -> str | None:
        """What is remembered under a file's `identity`; None where nothing is."""
        return self._load().get(key)

    def remember(self, found: Mapping[str, str]) -> None:
        """Add what was found, by `identity`; what another process has added meanwhile stays."""
        if not found:
            return
        with contextlib.suppress(OSError, Timeout):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self._file.with_suffix(".lock"), timeout=_LOCK_S):
                known = {**self._load(), **found}
                newest = dict(list(known.items())[-MAX_REMEMBERED:])
                with whole_file(self._file) as part:
                    part.write_text(json.dumps(newest), encoding="utf-8")

    def _load(self) -> dict[str, str]:
        """What stands in the file, read again only when it changed; not to be changed."""
        try:
            key = identity(self._file.stat())
            if self._read is None or self._read[0] != key:
                self._read = key, self._parsed()
        except (OSError, ValueError, RecursionError):
            return {}
        return self._read[1]

    def _parsed(self) -> dict[str, str]:
        with open(self._file, "rb", opener=never_a_pipe) as file:
            content = json.loads(file.read())
        if not isinstance(content, dict):
            return {}
        return {key: value for key, value in content.items() if isinstance(value, str)}


def identity(found: os.stat_result) -> str:
    """What is another for another file, and for the same one after it was changed."""
    return f"{found.st_size}-{found.st_mtime_ns}-{found.st_ctime_ns}-{found.st_dev}-{found.st_ino}"
