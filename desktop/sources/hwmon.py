"""What the drivers of graphics cards tell of their power on Linux, through hwmon under `/sys`.

Units by the kernel's hwmon interface: energy in microjoules, power in microwatts.
Kernel docs: hwmon/sysfs-interface, gpu/amdgpu/thermal, ABI sysfs-driver-intel-i915-hwmon and
sysfs-driver-intel-xe-hwmon.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from desktop.sources import files

ROOT = Path("/")
_DISPLAY, _ACCELERATOR = 0x03, 0x12
"""Base classes of PCI: display controllers, processing accelerators."""
_NORTHBRIDGE = "vddnb"
_MOST_CHANNELS = 4


@dataclass(frozen=True, slots=True)
class HwmonChannel:
    """One channel of a card: the files that it has."""

    number: int
    label: str | None
    """`card`, `pkg`, `PPT`, `slowPPT`; many drivers give none."""
    energy: Path | None
    average: Path | None
    now: Path | None


@dataclass(frozen=True, slots=True)
class HwmonCard:
    """One card that has at least one channel, or that tells how busy it is."""

    pci_address: str
    """`0000:03:00.0`."""
    driver: str
    """hwmon's name of it: `amdgpu`, `i915`, `xe`, `nouveau`."""
    channels: tuple[HwmonChannel, ...]
    has_northbridge: bool
    """amdgpu shows the northbridge's voltage on APUs only (kernel docs, gpu/amdgpu/thermal)."""
    busy: Path | None
    """amdgpu's `gpu_busy_percent`."""


def read_cards(root: Path = ROOT) -> tuple[HwmonCard, ...]:
    """All display and compute cards with power files, in the order of their PCI addresses."""
    folders = files.children(root / "sys/bus/pci/devices")
    return tuple(card for folder in folders if (card := _card(folder)) is not None)


def read_number(path: Path) -> int | None:
    """One file's number now; None when the driver refuses it (a sleeping card does)."""
    return files.read_integer(path)


def _card(folder: Path) -> HwmonCard | None:
    pci_class = files.read_integer(folder / "class")
    if pci_class is None or pci_class >> 16 not in (_DISPLAY, _ACCELERATOR):
        return None
    busy = _there(folder / "gpu_busy_percent")
    for monitor in files.children(folder, "hwmon/hwmon*"):
        name = files.read_line(monitor / "name") or "hwmon"
        # i915 shows each of its tiles beside the whole card: `i915_gt0`
        if "_gt" not in name:
            channels = tuple(_channels(monitor))
            return HwmonCard(folder.name.lower(), name, channels, _has_northbridge(monitor), busy)
    return HwmonCard(folder.name.lower(), "hwmon", (), False, busy) if busy else None


def _channels(monitor: Path) -> Iterator[HwmonChannel]:
    for n in range(1, _MOST_CHANNELS + 1):
        label = files.read_line(monitor / f"energy{n}_label")
        label = label or files.read_line(monitor / f"power{n}_label")
        energy = _there(monitor / f"energy{n}_input")
        average = _there(monitor / f"power{n}_average")
        now = _there(monitor / f"power{n}_input")
        if energy or average or now:
            yield HwmonChannel(n, label, energy, average, now)


def _there(path: Path) -> Path | None:
    return path if path.exists() else None


def _has_northbridge(monitor: Path) -> bool:
    labels = files.children(monitor, "in*_label")
    return any(files.read_line(label) == _NORTHBRIDGE for label in labels)
