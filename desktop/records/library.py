"""What Gram keeps of builds that it fetched or made itself."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from desktop.errors import Reason
from desktop.setting_keys import BuildPreferences

__all__ = [
    "BuildPreferences",
    "Checked",
    "Evicted",
    "EvictionPlan",
    "Kept",
    "LibraryEntry",
    "Listed",
]


class Kept(StrEnum):
    """What is there of a build."""

    WHOLE = "whole"
    """All its files. Whether their bytes are right is another question."""
    PART = "part"
    """An unfinished download, or files of which some were removed."""
    DAMAGED = "damaged"
    """Set aside, or of another size: its bytes are not those that were fetched."""


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One build in Gram's own folder."""

    sha256: str
    """Of its first file; the name of its folder."""
    name: str
    """As users write it, else the file's own name."""
    path: Path
    """Its first file, where it is or will be."""
    kept: Kept
    size_bytes: int
    """What lies on the disk of it, set aside and unfinished included."""
    freed_bytes: int
    """What its removal would free; less where its bytes have another name elsewhere."""
    ours: bool
    """Gram fetched or made it. All else is never removed by Gram."""
    pinned: bool
    """The person wants it kept."""
    url: str | None
    """Where it came from; None: made here, or not known."""
    used_at: str | None
    """RFC 3339, UTC: when it was last measured, else when it came; None: only links are there."""
    whole_bytes: int | None = None
    """Of all its files once they are whole; None: not known."""


@dataclass(frozen=True, slots=True)
class Listed:
    """All builds in Gram's own folder, by name."""

    entries: tuple[LibraryEntry, ...] = ()
    told: tuple[Reason, ...] = ()
    """What of the folder or the list of its builds could not be read."""

    @property
    def size_bytes(self) -> int:
        """Of all of them."""
        return sum(entry.size_bytes for entry in self.entries)


@dataclass(frozen=True, slots=True)
class EvictionPlan:
    """What would have to go so that `needed_bytes` more have room. Nothing is gone yet."""

    needed_bytes: int
    budget_bytes: int
    kept_bytes: int
    free_bytes: int
    deletions: tuple[LibraryEntry, ...] = ()
    """In this order: what was used longest ago first."""
    short_bytes: int = 0
    """What is lacking even when all that may go is gone; then nothing should be."""

    @property
    def short_or_more(self) -> bool:
        """Whether there is no room as it is: something would have to go, or it does not suffice."""
        return bool(self.deletions or self.short_bytes)

    @property
    def freed_bytes(self) -> int:
        """By all deletions together."""
        return sum(entry.freed_bytes for entry in self.deletions)


@dataclass(frozen=True, slots=True)
class Checked:
    """A build whose files were read again from end to end."""

    entry: LibraryEntry | None
    """As it is afterwards; None: another program keeps it."""
    told: Reason | None = None
    """What is wrong with it; None: every byte is right."""


@dataclass(frozen=True, slots=True)
class Evicted:
    """What an eviction did."""

    freed_bytes: int = 0
    gone: tuple[LibraryEntry, ...] = ()
    told: tuple[Reason, ...] = ()
    """What stayed, and why."""
