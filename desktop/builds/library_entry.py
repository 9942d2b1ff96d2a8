"""One of Gram's own builds: what lies in its folder, and what is noted of it."""

from pathlib import Path

from desktop.builds.header import shown_name
from desktop.builds.library_files import Lying, lying
from desktop.builds.library_index import Row
from desktop.builds.reference import SYNTHETIC_FILE, SYNTHETIC_SHA256, reference
from desktop.errors import Reason
from desktop.records.library import Kept, LibraryEntry


def made(sha256: str, moment: str) -> Row | None:
    """The note of what Gram fetches or makes without one: the reference and its stand-in."""
    facts = reference()
    if sha256 == facts.sha256:
        return Row(str(facts.name), {facts.stored_as: sha256}, facts.name.url(), moment)
    if sha256 == SYNTHETIC_SHA256:
        return Row(SYNTHETIC_FILE, {SYNTHETIC_FILE: sha256}, None, moment)
    return None


def entry_of(folder: Path, row: Row | None) -> LibraryEntry | None:
    """What lies in a build's folder, with its note; None where nothing lies there.

    Raises:
        OSError: it cannot be read.
    """
    known = row or made(folder.name, "")
    there = lying(folder, tuple(known.files) if known else ())
    if not there.size_bytes and not there.whole:
        return None
    first = next(iter(known.files)) if known else there.whole[0].name if there.whole else None
    if first is None:
        return None
    return LibraryEntry(
        folder.name,
        known.name if known else shown_name(Path(first)),
        folder / first,
        _kept(there, tuple(known.files) if known else (first,)),
        there.size_bytes,
        there.freed_bytes,
        known is not None and not there.linked,
        row is not None and row.pinned,
        known.url if known else None,
        row.used_at if row else there.came_at,
    )


def _kept(there: Lying, names: tuple[str, ...]) -> Kept:
    if {path.name for path in there.whole} >= set(names):
        return Kept.WHOLE
    return Kept.DAMAGED if there.damaged else Kept.PART


def unreadable(name: str, error: OSError) -> Reason:
    """What the person is told of it."""
    return Reason("build_unreadable", {"name": name, "detail": error.strerror or str(error)})
