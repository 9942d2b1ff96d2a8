"""How many cores a measurement may use."""

import math
from collections.abc import Iterable

from desktop.machine.parse_cgroup import cpu_limit
from desktop.sources import cgroups, system


def usable_cores() -> int:
    """The default number of threads: physical cores, never more than this process may use.

    At least 1. Affinity masks and containers' quotas count; a quota of 1.5 processors gives 1.
    """
    physical, logical = system.cpu_counts()
    return _least(physical or logical or 1, usable_cpus())


def usable_cpus() -> int | None:
    """Logical cores that this process may use; None where the system tells nothing."""
    _, logical = system.cpu_counts()
    return usable_of(logical, cgroups.read_affinity(), cgroups.read_quotas())


def usable_of(logical: int | None, affinity: int | None, quotas: Iterable[str]) -> int | None:
    """The least of what is told; a quota of 1.5 processors gives 1.

    Args:
        logical: cores of the machine.
        affinity: of them, those that this process may run on.
        quotas: its control groups' lines (`cpu_limit`).
    """
    limit = cpu_limit(quotas)
    quota = max(1, math.floor(limit)) if limit is not None else None
    return min((n for n in (logical, affinity, quota) if n is not None), default=None)


def _least(wanted: int, allowed: int | None) -> int:
    return max(1, wanted if allowed is None else min(wanted, allowed))
