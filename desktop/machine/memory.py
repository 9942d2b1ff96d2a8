"""How much memory this process may use: the machine's, or what a container leaves of it."""

from pathlib import Path

from desktop.machine.parse_cgroup import memory_limit
from desktop.sources import cgroups, system


def memory_bytes(root: Path = cgroups.ROOT) -> tuple[int | None, int | None]:
    """Total and available. Within a control group both are at most what its limit allows."""
    total, available = system.memory_bytes()
    limit, left = memory_limit(cgroups.read_memory(root))
    return _least(total, limit), _least(available, left)


def _least(told: int | None, limit: int | None) -> int | None:
    return min((n for n in (told, limit) if n is not None), default=None) if told else told
