"""sha256 of files, remembered so that each file is hashed once."""

import contextlib
import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias, TypeGuard

from desktop.builds.memory import Memory, identity
from desktop.paths import Paths

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (bytes done, bytes in all). An error that it raises ends the work."""

_BLOCK_BYTES: Final = 1 << 20


class Hashes:
    """The memory of hashes in `cache_file`; a missing, broken or read-only one is no error."""

    def __init__(self, cache_file: Path) -> None:
        self._memory = Memory(cache_file)

    def sha256(self, path: Path, progress: Progress | None = None) -> str:
        """The file's sha256, 64 hex digits; read again only if it changed.

        Raises:
            OSError: the file cannot be read.
        """
        key = identity(path.stat())
        known = self._known(key)
        if known is not None:
            return known
        found = sha256_of(path, progress)
        if identity(path.stat()) == key:  # else it changed while it was read
            self._memory.remember({key: found})
        return found

    def note(self, path: Path, sha256: str) -> None:
        """Remember what was hashed while it was written; the file is not read again."""
        with contextlib.suppress(OSError):
            self._memory.remember({identity(path.stat()): sha256})

    def known(self, path: Path) -> str | None:
        """What is remembered of the file as it is now; None, never read, where nothing is."""
        try:
            return self._known(identity(path.stat()))
        except OSError:
            return None

    def _known(self, key: str) -> str | None:
        found = self._memory.known(key)
        return found if is_sha256(found) else None


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


def is_sha256(value: object) -> TypeGuard[str]:
    """Whether it is the text of one: 64 hex digits, small letters."""
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None
