"""Gram's own builds removed, or read again to see whether their bytes are right."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from desktop.builds.hashes import Progress, sha256_of
from desktop.builds.header import shown_name
from desktop.builds.library import Library
from desktop.builds.library_entry import unreadable
from desktop.builds.library_files import DAMAGED, remove_files
from desktop.builds.partial import lock_of
from desktop.errors import BuildError, Reason
from desktop.paths import Paths
from desktop.records.library import Checked, Kept, LibraryEntry
from desktop.rules.shell_words import gram_command


def _again(entry: LibraryEntry) -> dict[str, str]:
    return {"name": entry.name, "command": gram_command("builds get", entry.name)}


@contextlib.contextmanager
def quiet(paths: Paths, name: str) -> Iterator[None]:
    """While nothing is measured: not what is to go, and not disturbed by much reading.

    Raises:
        BuildError: `library_measuring`, `library_write`.
    """
    try:
        with FileLock(paths.measure_lock, timeout=0):
            yield
    except Timeout as e:
        raise BuildError("library_measuring", name=name) from e
    except OSError as e:
        raise BuildError("library_write", name=name, detail=e.strerror or str(e)) from e


class Care:
    """Holds the lock of measurements meanwhile, so it is not for a thread that measures."""

    def __init__(self, library: Library, paths: Paths) -> None:
        self._library, self._paths = library, paths

    def delete(self, sha256: str) -> int:
        """Remove a build that Gram fetched, pinned or not, with its note; the bytes that it frees.

        Raises:
            BuildError: `library_unknown`, `library_not_ours`, `library_measuring`, `download_busy`,
                `library_write`. What is not removed then is known as unfinished.
        """
        entry = self._library.entry(sha256)
        if not entry.ours:
            raise BuildError("library_not_ours", name=entry.name)
        noted = self._library.row(sha256)
        names = tuple(noted.files)
        with quiet(self._paths, entry.name), self._no_download(entry, names):
            remove_files(entry.path.parent, names)
            # a note without files does no harm
            with contextlib.suppress(BuildError):
                self._library.forget(sha256, noted)
        return entry.freed_bytes

    def check(self, sha256: str, progress: Progress | None = None) -> Checked:
        """Read a build's files again from end to end; one whose bytes are wrong is set aside.

        Raises:
            BuildError: `library_unknown`, `library_measuring`, `download_busy`, `library_write`;
                `build_unfinished` where not all files are there to be read and none was set aside.
            Whatever `progress` raises, to stop.
        """
        entry = self._library.entry(sha256)
        files = self._library.row(sha256).files if entry.ours else {entry.path.name: sha256}
        if entry.kept is Kept.PART:
            raise BuildError("build_unfinished", **_again(entry))
        with quiet(self._paths, entry.name), self._no_download(entry, tuple(files), reading=True):
            told = [
                self._wrong(entry, entry.path.with_name(name), wanted, progress)
                for name, wanted in files.items()
            ]
        return Checked(self._library.entry(sha256), next(filter(None, told), None))

    def _wrong(
        self, entry: LibraryEntry, path: Path, wanted: str, progress: Progress | None
    ) -> Reason | None:
        """Why a file is not what was fetched; then it is set aside."""
        aside = path.with_name(f"{path.name}{DAMAGED}")
        if not os.path.lexists(path):
            code = "build_damaged" if aside.exists() else "build_unfinished"
            return Reason(code, _again(entry))
        try:
            found = sha256_of(path, progress)
        except OSError as e:
            return unreadable(shown_name(path), e)
        if found == wanted:
            return None
        if not entry.ours:
            return Reason("library_changed", {"name": entry.name})
        try:
            path.replace(aside)
        except OSError as e:
            told = {"name": entry.name, "file": path.name, "detail": e.strerror or str(e)}
            return Reason("library_damaged_stays", told)
        return Reason("library_damaged", {"name": entry.name, "aside": aside.name})

    @contextlib.contextmanager
    def _no_download(
        self, entry: LibraryEntry, names: tuple[str, ...], *, reading: bool = False
    ) -> Iterator[None]:
        """While none of its files is being downloaded, by the lock that downloads hold.

        Where nobody can write there is none to hold, and reading needs none.
        """
        with contextlib.ExitStack() as locks:
            for name in names:
                lock = FileLock(lock_of(entry.path.with_name(name)), timeout=0)
                try:
                    locks.enter_context(lock)
                except Timeout as e:
                    # Windows says so too where no lock can be made
                    if not reading or os.path.lexists(lock.lock_file):
                        raise BuildError("download_busy", name=entry.name) from e
                except OSError:
                    if not reading:
                        raise
            yield
