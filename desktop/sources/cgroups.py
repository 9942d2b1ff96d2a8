"""CPU limits that a container or a service runs under."""

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from desktop.sources import files

ROOT = Path("/")
_Reader: TypeAlias = Callable[[Path], str | None]


def read_affinity() -> int | None:
    """Number of logical cores that this process may run on; None where the system has no such."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    try:
        return len(os.sched_getaffinity(0)) or None
    except OSError:
        return None


def read_quotas(root: Path = ROOT) -> tuple[str, ...]:
    """`quota period` of this process's control group and of all groups above it, both versions.

    Version 2 writes that pair itself (`cpu.max`); version 1's two files are joined to the same.
    """
    membership = files.read_text(root / "proc/self/cgroup") or ""
    lines = (line.split(":", 2) for line in membership.splitlines())
    found: list[str] = []
    for _, controllers, path in (line for line in lines if len(line) == 3):  # noqa: PLR2004
        if controllers == "":
            found += _walk(root / "sys/fs/cgroup", path, _version_2)
        elif "cpu" in controllers.split(","):
            found += _walk(root / "sys/fs/cgroup/cpu", path, _version_1)
    return tuple(found)


def _walk(mount: Path, path: str, read: _Reader) -> list[str]:
    # a container sees its own group as the root, though the path may name the host's
    below = PurePosixPath(path.lstrip("/"))
    places = [mount / below, *(mount / parent for parent in below.parents)]
    lines = (read(place) for place in dict.fromkeys(places))
    return [line for line in lines if line is not None]


def _version_2(group: Path) -> str | None:
    return files.read_line(group / "cpu.max")


def _version_1(group: Path) -> str | None:
    quota = files.read_line(group / "cpu.cfs_quota_us")
    period = files.read_line(group / "cpu.cfs_period_us")
    return f"{quota} {period}" if quota is not None and period is not None else None
