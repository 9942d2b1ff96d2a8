"""Power supplies as Linux lists them."""

import sys
from pathlib import Path

from desktop.sources import files, system

ROOT = Path("/sys/class/power_supply")
_FILES = ("type", "scope", "online", "capacity", "status")


def read_supplies(root: Path = ROOT) -> dict[str, dict[str, str]]:
    """By supply, the content of its files. Model names and serial numbers are never read."""
    return {folder.name: files.read_lines_of(folder, _FILES) for folder in files.children(root)}


def battery() -> system.Battery | None:
    """The battery outside Linux; there psutil takes a mouse's for the machine's."""
    return system.battery() if sys.platform != "linux" else None


def has_battery() -> bool:
    """Whether a battery can run this machine; those of mice and headsets do not count."""
    listed = read_supplies().values()
    own = (s for s in listed if s.get("scope") != "Device")
    return battery() is not None or any(s.get("type") == "Battery" for s in own)
