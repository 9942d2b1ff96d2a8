"""Processor facts as Linux tells them."""

from pathlib import Path

from desktop.sources import files

ROOT = Path("/")


def read_cpuinfo(root: Path = ROOT) -> str | None:
    """`/proc/cpuinfo`."""
    return files.read_text(root / "proc/cpuinfo")


def read_governors(root: Path = ROOT) -> tuple[str, ...]:
    """The frequency governor of each core that has one."""
    folder = root / "sys/devices/system/cpu"
    paths = files.children(folder, "cpu[0-9]*/cpufreq/scaling_governor")
    lines = (files.read_line(path) for path in paths)
    return tuple(line for line in lines if line is not None)


def read_throttle_counts(root: Path = ROOT) -> tuple[int, ...]:
    """Times since boot that Intel's processors were slowed by heat; none where it is not told.

    Kernel docs, ABI sysfs-devices-system-cpu: `thermal_throttle/*_throttle_count`.
    """
    folder = root / "sys/devices/system/cpu"
    paths = files.children(folder, "cpu[0-9]*/thermal_throttle/*_throttle_count")
    counts = (files.read_integer(path) for path in paths)
    return tuple(count for count in counts if count is not None)


def read_cooling(root: Path = ROOT) -> tuple[tuple[str, int], ...]:
    """Each cooling device's type and present state (kernel docs, ABI sysfs-class-thermal)."""
    found = []
    for folder in files.children(root / "sys/class/thermal", "cooling_device*"):
        kind, state = files.read_line(folder / "type"), files.read_integer(folder / "cur_state")
        if kind is not None and state is not None:
            found.append((kind, state))
    return tuple(found)
