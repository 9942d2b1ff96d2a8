"""Gram's own builds: what is there, what it is for, and how it goes.

Every step is one that the system does whole or not at all, in an order that loses nothing where
the program is killed between two: a build is noted before its first byte comes, and the note goes
after its last file.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from desktop.builds.hashes import is_sha256
from desktop.builds.library_entry import entry_of, made, unreadable
from desktop.builds.library_files import folders, stored_name
from desktop.builds.library_index import LIST, LibraryIndex, Row, used
from desktop.clock import utc_now, utc_text
from desktop.errors import BuildError
from desktop.paths import Paths
from desktop.records.library import LibraryEntry, Listed

__all__ = ["LIST", "Library"]


class Library:
    """The builds of one profile. Safe from any thread and process."""

    def __init__(self, paths: Paths, now: Callable[[], datetime] = utc_now) -> None:
        self._paths, self._now = paths, now
        self._index = LibraryIndex(paths.data / LIST)

    def expect(
        self,
        name: str,
        files: Mapping[str, str],
        url: str | None,
        sizes: Mapping[str, int] | None = None,
        *,
        private: bool = False,
    ) -> tuple[Path, ...]:
        """Note a build before it is downloaded; a note that is there keeps its pin.

        One sha256 has one place and one lock, whatever its files are called elsewhere: where it is
        noted already, they keep the names that they have here.

        Args:
            name: as users write it.
            files: name in the repository to sha256, the one that is loaded first.
            url: where the first comes from.
            sizes: name in the repository to bytes, as far as they are known.
            private: its repository is not for everybody to see, or may not be.

        Returns:
            Where its files are to be put, in the same order.

        Raises:
            BuildError: `library_write`.
        """
        sha256 = next(iter(files.values()))
        moment = utc_text(self._now())
        names: tuple[str, ...] = ()

        def noted(row: Row | None) -> Row:
            nonlocal names
            names = _names_here(files, row or made(sha256, moment))
            told = [(sizes or {}).get(file) for file in files]
            known = {n: size for n, size in zip(names, told, strict=True) if size is not None}
            stored = dict(zip(names, files.values(), strict=True))
            return Row(name, stored, url, moment, row.pinned if row else False, known, private)

        self._index.change(sha256, noted)
        return tuple(self._paths.builds / sha256 / file for file in names)

    def places(self, files: Mapping[str, str]) -> tuple[Path, ...]:
        """Where `expect` puts or has put these files; nothing is noted."""
        sha256 = next(iter(files.values()))
        row = self._index.read()[0].get(sha256) or made(sha256, "")
        return tuple(self._paths.builds / sha256 / name for name in _names_here(files, row))

    def use(self, sha256: str) -> None:
        """Note that a build is used now; of one that is not noted, nothing.

        Raises:
            BuildError: `library_write`.
        """
        moment = utc_text(self._now())
        self._index.change(sha256, lambda row: used(row, moment) if row else made(sha256, moment))

    def pin(self, sha256: str, *, pinned: bool) -> None:
        """Keep a build whatever the budget says, or no more.

        Raises:
            BuildError: `library_unknown` where Gram did not fetch it; `library_write`.
        """

        def changed(row: Row | None) -> Row:
            known = row or made(sha256, utc_text(self._now()))
            if known is None:
                raise BuildError("library_unknown", name=sha256[:12])
            return replace(known, pinned=pinned)

        self._index.change(sha256, changed)

    def entries(self) -> Listed:
        """All builds in the folder. Never raises; what cannot be read is told."""
        rows, told = self._index.read()
        reasons = [] if told is None else [told]
        found = []
        try:
            for folder in folders(self._paths.builds):
                try:
                    entry = entry_of(folder, rows.get(folder.name))
                except OSError as e:
                    reasons.append(unreadable(folder.name[:12], e))
                else:
                    found.extend([entry] if entry else [])
        except OSError as e:
            reasons.append(unreadable(self._paths.builds.name, e))
        return Listed(tuple(sorted(found, key=lambda e: e.name.casefold())), tuple(reasons))

    def entry(self, sha256: str) -> LibraryEntry:
        """One of them.

        Raises:
            BuildError: `library_unknown`.
        """
        row = self._index.read()[0].get(sha256)
        found = None
        if is_sha256(sha256):  # else it is no name of a folder here
            with contextlib.suppress(OSError):
                found = entry_of(self._paths.builds / sha256, row)
        if found is None:
            raise BuildError("library_unknown", name=sha256[:12])
        return found

    def row(self, sha256: str) -> Row:
        """What is noted of a build that Gram fetched or made.

        Raises:
            BuildError: `library_unknown`.
        """
        row = self._index.read()[0].get(sha256) or made(sha256, utc_text(self._now()))
        if row is None:
            raise BuildError("library_unknown", name=sha256[:12])
        return row

    def forget(self, sha256: str, as_noted: Row) -> None:
        """Remove the note of a build that is gone; one that was made or changed since stays.

        Raises:
            BuildError: `library_write`.
        """
        self._index.change(sha256, lambda row: None if row == as_noted else row)


def _names_here(files: Mapping[str, str], row: Row | None) -> tuple[str, ...]:
    """What files are called in the folder of their build: as noted, else as in the repository.

    Names that every system takes; two of one name in two folders get another each.
    """
    if row is not None and len(row.files) == len(files):
        return tuple(row.files)
    names: list[str] = []
    for n, file in enumerate(files):
        own = stored_name(file)
        names.append(f"{n}-{own}" if own in names else own)
    return tuple(names)
