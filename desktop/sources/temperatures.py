"""Temperatures as Linux's hwmon tree tells them. Other systems tell none without a driver."""

from collections.abc import Collection
from pathlib import Path

from desktop.sources import files

ROOT = Path("/")


def read_chips(chips: Collection[str], root: Path = ROOT) -> dict[str, tuple[int, ...]]:
    """Thousandths of a degree Celsius by chip, of the chips of these names only.

    The others are not touched: asking them wakes disks and cards that sleep.
    """
    found: dict[str, tuple[int, ...]] = {}
    for folder in files.children(root / "sys/class/hwmon"):
        name = files.read_line(folder / "name")
        if name is not None and name in chips:
            found[name] = (*found.get(name, ()), *_inputs(folder))
    return found


def _inputs(folder: Path) -> tuple[int, ...]:
    values = (files.read_integer(path) for path in files.children(folder, "temp*_input"))
    return tuple(value for value in values if value is not None)
