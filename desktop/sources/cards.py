"""Display and compute cards as Linux lists them under `/sys`, and the system's tables of names."""

from dataclasses import dataclass
from pathlib import Path

from desktop.sources import files

ROOT = Path("/")
_DISPLAY, _ACCELERATOR = 0x03, 0x12
"""Base classes of PCI: display controllers, processing accelerators."""
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
    if pci_class >> 16 not in (_DISPLAY, _ACCELERATOR):
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
    )


def _vram(folder: Path) -> int | None:
    vram = files.read_integer(folder / "mem_info_vram_total")
    if vram is not None:
        return vram
    tiles = files.children(folder, "tile*/physical_vram_size_bytes")
    sizes = [size for size in map(files.read_integer, tiles) if size is not None]
    return sum(sizes) if sizes else None


def _has_northbridge_voltage(folder: Path) -> bool:
    labels = files.children(folder, "hwmon/hwmon*/in*_label")
    return any(files.read_line(label) == "vddnb" for label in labels)


def read_pci_ids(root: Path = ROOT) -> str | None:
    """The system's table of PCI names, where it has one."""
    return _first(root, _PCI_IDS)


def read_amdgpu_ids(root: Path = ROOT) -> str | None:
    """AMD's marketing names by libdrm, where the system has it."""
    return _first(root, _AMDGPU_IDS)


def _first(root: Path, names: tuple[str, ...]) -> str | None:
    texts = (files.read_text(root / name) for name in names)
    return next((text for text in texts if text is not None), None)
