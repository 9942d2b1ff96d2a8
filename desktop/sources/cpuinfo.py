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
