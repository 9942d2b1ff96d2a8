"""Display and compute cards as Linux lists them under `/sys`, and the system's tables of names."""

import contextlib
import errno
import re
from dataclasses import dataclass
from pathlib import Path

from desktop.sources import files

ROOT = Path("/")
DISPLAY_CLASS, ACCELERATOR_CLASS = 0x03, 0x12
"""Base classes of PCI: display controllers, processing accelerators."""
_REMOVABLE = {"removable": True, "fixed": False}
"""The third word is `unknown`."""
_PCI_IDS = ("usr/share/hwdata/pci.ids", "usr/share/misc/pci.ids")
_AMDGPU_IDS = ("usr/share/libdrm/amdgpu.ids", "opt/amdgpu/share/libdrm/amdgpu.ids")


@dataclass(frozen=True, slots=True)
class PciCard:
    """One PCI function of a display or accelerator class, as `/sys` tells it."""

    pci_address: str
    """`0000:03:00.0`."""
    vendor_id: int
    device_id: int
    revision: int | None = None
    driver: str | None = None
    """The kernel driver's name, `amdgpu`."""
    vram_bytes: int | None = None
    """Dedicated memory, or an APU's carve-out (amdgpu, xe)."""
    gtt_bytes: int | None = None
    """System memory that the card may use (amdgpu)."""
    product_name: str | None = None
    has_northbridge_voltage: bool = False
    """amdgpu shows the northbridge's voltage on APUs only (kernel docs, gpu/amdgpu/thermal)."""
    base_class: int = DISPLAY_CLASS
    subsystem: tuple[int, int] | None = None
    """Vendor and number of the board that carries the chip."""
    removable: bool | None = None
    """Its user can take it off, says the firmware (kernel docs, ABI sysfs-devices-removable); None
    where it does not tell."""


@dataclass(frozen=True, slots=True)
class DeviceTree:
    """What the board's description names; empty on machines with firmware tables (DMI)."""

    model: str | None = None
    compatible: tuple[str, ...] = ()
    """Most special first: the board, last the chip, `nvidia,tegra234`."""


def check_listed(root: Path = ROOT) -> None:
    """Look whether `/sys` shows anything: a hardened system or a bare root folder hides it.

    Raises:
        OSError: it is empty, not there, or may not be listed.
    """
    if not any((root / "sys").iterdir()):
        raise FileNotFoundError(errno.ENOENT, "/sys is empty")
    for folder in ("bus/pci/devices", "class/drm"):
        # not there: a machine without such a bus
        with contextlib.suppress(FileNotFoundError):
            any((root / "sys" / folder).iterdir())


def read_cards(root: Path = ROOT) -> tuple[PciCard, ...]:
    """All cards on the PCI bus, those without a driver too."""
    folders = files.children(root / "sys/bus/pci/devices")
    cards = (_card(folder) for folder in folders)
    return tuple(card for card in cards if card is not None)


def _card(folder: Path) -> PciCard | None:
    pci_class = files.read_integer(folder / "class")
    vendor_id = files.read_integer(folder / "vendor")
    device_id = files.read_integer(folder / "device")
    if pci_class is None or vendor_id is None or device_id is None:
        return None
    if vendor_id < 0 or device_id < 0 or pci_class >> 16 not in {DISPLAY_CLASS, ACCELERATOR_CLASS}:
        return None
    return PciCard(
        pci_address=folder.name.lower(),
        vendor_id=vendor_id,
        device_id=device_id,
        revision=files.read_integer(folder / "revision"),
        driver=files.link_name(folder / "driver"),
        vram_bytes=_vram(folder),
        gtt_bytes=files.read_integer(folder / "mem_info_gtt_total"),
        product_name=files.read_line(folder / "product_name"),
        has_northbridge_voltage=_has_northbridge_voltage(folder),
        base_class=pci_class >> 16,
        subsystem=_subsystem(folder),
        removable=_REMOVABLE.get(files.read_line(folder / "removable") or ""),
    )


def _vram(folder: Path) -> int | None:
    vram = files.read_integer(folder / "mem_info_vram_total")
    if vram is not None and vram >= 0:
        return vram
    tiles = files.children(folder, "tile*/physical_vram_size_bytes")
    sizes = [size for size in map(files.read_integer, tiles) if size is not None]
    return sum(sizes) if sizes else None


def _has_northbridge_voltage(folder: Path) -> bool:
    labels = files.children(folder, "hwmon/hwmon*/in*_label")
    return any(files.read_line(label) == "vddnb" for label in labels)


def _subsystem(folder: Path) -> tuple[int, int] | None:
    vendor = files.read_integer(folder / "subsystem_vendor")
    device = files.read_integer(folder / "subsystem_device")
    return (vendor, device) if vendor is not None and device is not None else None


def read_platform_cards(root: Path = ROOT) -> tuple[str, ...]:
    """`uevent` of each graphics unit that is no PCI card: those of single-board computers' chips.

    Adreno's own unit is listed by its driver, since the card of `msm` is the display controller's.
    """
    cards = (c for c in files.children(root / "sys/class/drm") if re.fullmatch(r"card\d+", c.name))
    paths = [card / "device/uevent" for card in cards]
    paths += files.children(root / "sys/bus/platform/drivers/adreno", "*/uevent")
    texts = (files.read_text(path) for path in paths)
    return tuple(text for text in texts if text is not None and "PCI_ID=" not in text)


def read_device_tree(root: Path = ROOT) -> DeviceTree:
    """The board's description. Its serial number is never read."""
    folder = root / "proc/device-tree"
    compatible = files.read_text(folder / "compatible") or ""
    words = tuple(word for word in compatible.split("\0") if word.strip())
    return DeviceTree(files.read_line(folder / "model"), words)


def read_connectors(root: Path = ROOT) -> dict[str, str]:
    """`status` of each connector, `card1-HDMI-A-1`; the screens' own data is never read."""
    paths = files.children(root / "sys/class/drm", "card*-*/status")
    lines = {path.parent.name: files.read_line(path) for path in paths}
    return {name: line for name, line in lines.items() if line is not None}


def read_pci_ids(root: Path = ROOT) -> str | None:
    """The system's table of PCI names, where it has one."""
    return _first(root, _PCI_IDS)


def read_amdgpu_ids(root: Path = ROOT) -> str | None:
    """AMD's marketing names by libdrm, where the system has it."""
    return _first(root, _AMDGPU_IDS)


def _first(root: Path, names: tuple[str, ...]) -> str | None:
    texts = (files.read_text(root / name) for name in names)
    return next((text for text in texts if text is not None), None)
