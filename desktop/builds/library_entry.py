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
        files, sizes = {facts.stored_as: sha256}, {facts.stored_as: facts.size_bytes}
        return Row(str(facts.name), files, facts.name.url(), moment, sizes=sizes)
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
    if not (there.size_bytes or there.whole or there.damaged):
        return None
    if row is None and known is not None and there.whole and not _begun(there, known):
        # somebody put the bytes there under another name: used, and not Gram's to remove
        known, there = None, lying(folder, ())
    first = next(iter(known.files if known else (path.name for path in there.whole)), None)
    if first is None:
        return None
    return LibraryEntry(
        folder.name,
        known.name if known else shown_name(Path(first)),
        folder / first,
        _kept(there, known) if known else Kept.WHOLE,
        there.size_bytes,
        there.freed_bytes,
        known is not None and not there.linked,
        row is not None and row.pinned,
        known.url if known else None,
        row.used_at if row else there.came_at,
        _whole_bytes(known) if known else None,
    )


def _begun(there: Lying, known: Row) -> bool:
    """Whether anything lies there that Gram itself puts there."""
    return there.damaged or there.unfinished or any(p.name in known.files for p in there.whole)


def _kept(there: Lying, known: Row) -> Kept:
    """By names and sizes; whether the bytes are right is another question."""
    sizes = {path.name: size for path, size in there.whole.items() if path.name in known.files}
    # a file gets its name when it is whole: one of another size was changed since
    changed = any(size != known.sizes.get(name, size) for name, size in sizes.items())
    if changed:
        return Kept.DAMAGED
    if len(sizes) == len(known.files):
        return Kept.WHOLE
    return Kept.DAMAGED if there.damaged else Kept.PART


def _whole_bytes(known: Row) -> int | None:
    return sum(known.sizes.values()) if set(known.sizes) == set(known.files) else None


def unreadable(name: str, error: OSError) -> Reason:
    """What the person is told of it."""
    return Reason("build_unreadable", {"name": name, "detail": error.strerror or str(error)})
