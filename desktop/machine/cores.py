"""How many cores a measurement may use."""

import math

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
    limit = cpu_limit(cgroups.read_quotas())
    quota = max(1, math.floor(limit)) if limit is not None else None
    known = [n for n in (logical, cgroups.read_affinity(), quota) if n is not None]
    return min(known, default=None)


def _least(wanted: int, allowed: int | None) -> int:
    return max(1, wanted if allowed is None else min(wanted, allowed))
