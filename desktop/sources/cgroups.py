"""CPU limits that a container or a service runs under."""

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from desktop.sources import files
from desktop.sources.numbers import whole

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
    return _read(root, "cpu", _version_2, _version_1)


def read_memory(root: Path = ROOT) -> tuple[str, ...]:
    """`limit used cache` in bytes of this process's group and of all above it, both versions.

    `cache` is what of `used` holds files, which the kernel gives back when memory is asked for.
    """
    return _read(root, "memory", _memory_2, _memory_1)


def _read(root: Path, controller: str, version_2: _Reader, version_1: _Reader) -> tuple[str, ...]:
    membership = files.read_text(root / "proc/self/cgroup") or ""
    lines = (line.split(":", 2) for line in membership.splitlines())
    found: list[str] = []
    for _, controllers, path in (line for line in lines if len(line) == 3):  # noqa: PLR2004
        if controllers == "":
            found += _walk(root / "sys/fs/cgroup", path, version_2)
        elif controller in controllers.split(","):
            found += _walk(root / "sys/fs/cgroup" / controller, path, version_1)
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


def _memory_2(group: Path) -> str | None:
    return _memory(group, "memory.max", "memory.current", "")


def _memory_1(group: Path) -> str | None:
    return _memory(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_")


def _memory(group: Path, limit_name: str, used_name: str, prefix: str) -> str | None:
    limit, used = files.read_line(group / limit_name), files.read_line(group / used_name)
    if limit is None or used is None:
        return None
    stat = dict(line.split(" ", 1) for line in _lines(group / "memory.stat") if " " in line)
    caches = (stat.get(f"{prefix}{kind}_file", "0") for kind in ("inactive", "active"))
    cache = sum(whole(size) or 0 for size in caches)
    return f"{limit} {used} {cache}"


def _lines(path: Path) -> list[str]:
    return (files.read_text(path) or "").splitlines()
