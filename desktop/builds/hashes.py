"""sha256 of files, remembered so that each file is hashed once."""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from filelock import FileLock, Timeout

from desktop.builds.files import whole_file
from desktop.own_files import never_a_pipe
from desktop.paths import Paths

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (bytes done, bytes in all). An error that it raises ends the work."""

MAX_REMEMBERED: Final = 10_000
"""Files. With more than are remembered, all would be read again in each turn."""
_LOCK_S: Final = 5.0
"""Another process holds the memory for milliseconds."""
_BLOCK_BYTES: Final = 1 << 20


class Hashes:
    """The memory of hashes in `cache_file`; a missing, broken or read-only one is no error.

    A file is known by its size, its times and its place on the disk (inode), so no path is kept.
    """

    def __init__(self, cache_file: Path) -> None:
        self._file = cache_file
        self._read: tuple[str, dict[str, str]] | None = None
        """The file's identity when it was read, and what stood in it."""

    def sha256(self, path: Path, progress: Progress | None = None) -> str:
        """The file's sha256, 64 hex digits; read again only if it changed.

        Raises:
            OSError: the file cannot be read.
        """
        key = _identity(path)
        known = self._load().get(key)
        if known is not None:
            return known
        found = sha256_of(path, progress)
        if _identity(path) == key:  # else it changed while it was read
            self._remember(key, found)
        return found

    def known(self, path: Path) -> str | None:
        """What is remembered of the file as it is now; None, never read, where nothing is."""
        try:
            return self._load().get(_identity(path))
        except OSError:
            return None

    def _load(self) -> dict[str, str]:
        """What stands in the file, read again only when it changed; not to be changed."""
        try:
            key = _identity(self._file)
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
        return {key: value for key, value in content.items() if _is_sha256(value)}

    def _remember(self, key: str, sha256: str) -> None:
        with contextlib.suppress(OSError, Timeout):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            # what another process has found meanwhile is kept
            with FileLock(self._file.with_suffix(".lock"), timeout=_LOCK_S):
                known = {**self._load(), key: sha256}
                newest = dict(list(known.items())[-MAX_REMEMBERED:])
                with whole_file(self._file) as part:
                    part.write_text(json.dumps(newest), encoding="utf-8")


def hashes_in(paths: Paths) -> Hashes:
    """The memory of this profile."""
    return Hashes(paths.cache / "hashes.json")


def sha256_of(path: Path, progress: Progress | None = None) -> str:
    """Hash the file now, in blocks of 1 MiB.

    Raises:
        OSError: the file cannot be read.
    """
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        total = os.fstat(file.fileno()).st_size
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            done += len(block)
            if progress is not None:
                progress(done, total)
    return digest.hexdigest()


def _identity(path: Path) -> str:
    s = path.stat()
    return f"{s.st_size}-{s.st_mtime_ns}-{s.st_ctime_ns}-{s.st_dev}-{s.st_ino}"


def _is_sha256(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None
