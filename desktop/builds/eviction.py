"""Room for more builds within the disk budget: first a plan that people can read, then the deed."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from desktop.builds.library import Library
from desktop.builds.library_care import Care
from desktop.builds.partial import SPARE_BYTES
from desktop.errors import BuildError, Reason
from desktop.paths import Paths
from desktop.records.library import Evicted, EvictionPlan, LibraryEntry, Listed

DEFAULT_SHARE: Final = 0.5
"""Of what is free, with what Gram's builds take already, where no budget is set."""
_GB: Final = 10**9
_NEVER: Final = ""
"""Sorts before every moment: of what nobody knows when it was used."""


def budget_bytes(budget_gb: float | None, kept_bytes: int, free_bytes: int) -> int:
    """What Gram's builds may take of the disk: what is set, else a share that does not shrink."""
    if budget_gb is not None:
        return int(budget_gb * _GB)
    return int((kept_bytes + free_bytes) * DEFAULT_SHARE)


def plan_eviction(
    listed: Listed,
    needed_bytes: int,
    *,
    free_bytes: int,
    budget_gb: float | None = None,
    without: frozenset[str] = frozenset(),
) -> EvictionPlan:
    """What would have to go, least recently used first; pure.

    Never what is pinned, what Gram did not fetch or make, or what is named in `without` (sha256).
    """
    kept_bytes = listed.size_bytes
    budget = budget_bytes(budget_gb, kept_bytes, free_bytes)
    over = max(kept_bytes + needed_bytes - budget, needed_bytes + SPARE_BYTES - free_bytes)
    deletions: list[LibraryEntry] = []
    for entry in sorted(listed.entries, key=lambda e: (e.used_at or _NEVER, e.sha256)):
        may_go = entry.ours and not entry.pinned and entry.sha256 not in without
        if over > 0 and may_go and entry.freed_bytes:
            deletions.append(entry)
            over -= entry.freed_bytes
    short = max(over, 0) if needed_bytes else 0
    return EvictionPlan(
        needed_bytes, budget, kept_bytes, free_bytes, tuple(deletions), short_bytes=short
    )


def plan_here(
    library: Library,
    paths: Paths,
    needed_bytes: int,
    *,
    budget_gb: float | None = None,
    without: frozenset[str] = frozenset(),
) -> EvictionPlan:
    """The plan for the builds and the disk of this profile.

    Raises:
        BuildError: `library_write` where the disk cannot be asked.
    """
    try:
        free = shutil.disk_usage(_there(paths.builds)).free
    except OSError as e:
        name, detail = paths.builds.name, e.strerror or str(e)
        raise BuildError("library_write", name=name, detail=detail) from e
    listed = library.entries()
    return plan_eviction(
        listed, needed_bytes, free_bytes=free, budget_gb=budget_gb, without=without
    )


def _there(folder: Path) -> Path:
    """The folder, or the first above it that is there: its drive is that which it will be on."""
    if folder.is_symlink():
        return folder  # to a drive that is not there, maybe
    return next((f for f in (folder, *folder.parents) if f.exists()), folder)


def evict(
    library: Library,
    care: Care,
    plan: EvictionPlan,
    name: str,
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> Evicted:
    """Carry out a plan; what was pinned, used or changed since stays and is told.

    Args:
        library: whose builds.
        care: removes them.
        plan: what is to go.
        name: of the build that needs the room.
        stopped: asked before each; nothing more goes then.

    Raises:
        BuildError: `library_short` where it would not make room enough; then nothing goes.
    """
    if plan.short_bytes:
        raise BuildError(
            "library_short",
            name=name,
            need_bytes=plan.needed_bytes,
            short_bytes=plan.short_bytes,
        )
    gone: list[LibraryEntry] = []
    told: list[Reason] = []
    for entry in plan.deletions:
        if stopped():
            break
        try:
            if library.entry(entry.sha256) == entry:
                care.delete(entry.sha256)
                gone.append(entry)
            else:
                told.append(Reason("library_since", {"name": entry.name}))
        except BuildError as e:
            told.append(e.reason)
    return Evicted(sum(entry.freed_bytes for entry in gone), tuple(gone), tuple(told))
