"""What psutil tells, imported at first use because it is slow to load."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Seconds since boot, summed over all logical cores."""

    busy_s: float
    total_s: float


@dataclass(frozen=True, slots=True)
class Battery:
    """A battery that can run the machine."""

    percent: float | None
    on_mains: bool | None


def cpu_times() -> CpuTimes | None:
    """Busy is all that is neither idle nor waiting for a disk; time stolen by the host is busy."""
    import psutil  # noqa: PLC0415

    try:
        times = psutil.cpu_times()._asdict()
    except (OSError, RuntimeError, ValueError):
        return None
    # Linux counts guests' time inside user and nice already
    total_s = sum(s for name, s in times.items() if not name.startswith("guest"))
    return CpuTimes(total_s - times["idle"] - times.get("iowait", 0.0), total_s)


def tree_cpu_s(pids: Iterable[int]) -> float:
    """CPU seconds of these processes and of all their children, ended ones too where known.

    The system adds an ended child's time to its parent on Linux only; elsewhere it is lost.
    """
    import psutil  # noqa: PLC0415

    seen: dict[int, float] = {}
    for pid in pids:
        try:
            process = psutil.Process(pid)
            family = [process, *process.children(recursive=True)]
        except (psutil.Error, OSError):
            continue
        seen.update({member.pid: _cpu_s(member) for member in family})
    return sum(seen.values())


def _cpu_s(process: object) -> float:
    import psutil  # noqa: PLC0415

    if not isinstance(process, psutil.Process):
        return 0.0
    try:
        times = process.cpu_times()
    except (psutil.Error, OSError):
        return 0.0
    return times.user + times.system + times.children_user + times.children_system


def cpu_counts() -> tuple[int | None, int | None]:
    """Physical cores, logical cores."""
    import psutil  # noqa: PLC0415

    try:
        return psutil.cpu_count(logical=False), psutil.cpu_count(logical=True)
    except (OSError, RuntimeError, ValueError):
        return None, None


def memory_bytes() -> tuple[int | None, int | None]:
    """Total and available memory."""
    import psutil  # noqa: PLC0415

    try:
        memory = psutil.virtual_memory()
    except (OSError, RuntimeError, ValueError):
        return None, None
    return memory.total, memory.available


def battery() -> Battery | None:
    """The battery; None where there is none or the system does not tell."""
    import psutil  # noqa: PLC0415

    read = getattr(psutil, "sensors_battery", None)
    try:
        found = read() if read is not None else None
    except (OSError, RuntimeError, ValueError):
        return None
    return None if found is None else Battery(found.percent, found.power_plugged)
