"""Cards of the PCI bus and of NVML to accelerators."""

import re
from dataclasses import dataclass

from desktop.machine.parse_ids import amdgpu_name, pci_name
from desktop.machine.vendors import AMD, INTEL, NVIDIA, PCI_VENDORS, is_integrated
from desktop.records.machine import Accelerator
from desktop.sources.cards import PciCard
from desktop.sources.nvml import NvmlCard

_INTEL_INTEGRATED_AT = "0000:00:02.0"
"""Intel's integrated graphics is always device 2 of the root bus (Intel datasheets, volume 2)."""
_NO_COMPUTE_DRIVERS = frozenset({"vfio-pci", "pci-stub", "xen-pciback"})
"""The card is handed to a virtual machine and cannot be used here."""


@dataclass(frozen=True, slots=True)
class NameTables:
    """The texts of the system's tables; None where it has none."""

    pci_ids: str | None = None
    amdgpu_ids: str | None = None


def normal_address(bus_id: str) -> str:
    """NVML's `00000000:01:00.0` and `0000:01:00.0` as the kernel writes them."""
    domain, _, rest = bus_id.strip().lower().partition(":")
    return f"{domain[-4:].rjust(4, '0')}:{rest}"


def from_nvml(card: NvmlCard) -> Accelerator:
    """One NVIDIA card; its memory is None where it shares the system's (Jetson, GB10)."""
    address = normal_address(card.pci_bus_id) if card.pci_bus_id else None
    integrated = is_integrated(NVIDIA, card.name)
    return Accelerator(NVIDIA, card.name, card.memory_bytes, integrated, address, card.driver)


def from_pci(card: PciCard, tables: NameTables) -> Accelerator | None:
    """One card of a known maker; None for virtual adapters, other makers and passed-on cards."""
    vendor = PCI_VENDORS.get(card.vendor_id)
    if vendor is None or card.driver in _NO_COMPUTE_DRIVERS:
        return None
    name = _name(card, vendor, tables)
    integrated = _integrated(card, vendor, name)
    memory_bytes = _memory(card, integrated=integrated)
    return Accelerator(vendor, name, memory_bytes, integrated, card.pci_address, card.driver)


def _name(card: PciCard, vendor: str, tables: NameTables) -> str:
    found = card.product_name
    if found is None and vendor == AMD and tables.amdgpu_ids and card.revision is not None:
        found = amdgpu_name(tables.amdgpu_ids, card.device_id, card.revision)
    if found is None and tables.pci_ids:
        found = pci_name(tables.pci_ids, card.vendor_id, card.device_id)
    if found is None:
        return f"{vendor} graphics {card.device_id:04x}"
    return found if re.match(vendor, found, re.IGNORECASE) else f"{vendor} {found}"


def _integrated(card: PciCard, vendor: str, name: str) -> bool:
    if vendor == INTEL:
        return card.pci_address == _INTEL_INTEGRATED_AT
    return card.has_northbridge_voltage or is_integrated(vendor, name)


def _memory(card: PciCard, *, integrated: bool) -> int | None:
    # an APU's engine can use the carve-out and the shared part; a discrete card its own only
    if integrated and card.vram_bytes is not None and card.gtt_bytes is not None:
        return card.vram_bytes + card.gtt_bytes
    return card.vram_bytes or None
