"""Cards of the PCI bus and of NVML to accelerators; memory_rule.py says what they can use."""

import re
from dataclasses import dataclass

from desktop.machine.names import clean, cut
from desktop.machine.parse_ids import amdgpu_name, pci_line, pci_name
from desktop.machine.vendors import AMD, INTEL, NVIDIA, PCI_VENDORS, is_integrated
from desktop.records.machine import Accelerator
from desktop.rules.pci import pci_address
from desktop.sources.cards import ACCELERATOR_CLASS, PciCard
from desktop.sources.numbers import card_bytes, ram_bytes
from desktop.sources.nvml import NvmlCard

INTEL_INTEGRATED_AT = "0000:00:02.0"
"""Intel's integrated graphics is device 2 of the root bus (Intel datasheets, volume 2), but for a
guest that it was given to, who sees it anywhere."""
_INTEL_CHIP = INTEL_INTEGRATED_AT[:-1]
_AMD_UNIT = "AMD Radeon Graphics"
_NO_COMPUTE_DRIVERS = frozenset({"vfio-pci", "pci-stub", "xen-pciback"})
"""The card is handed to a virtual machine and cannot be used here."""


@dataclass(frozen=True, slots=True)
class NameTables:
    """The texts of the system's tables; None where it has none."""

    pci_ids: str | None = None
    amdgpu_ids: str | None = None


def from_nvml(card: NvmlCard) -> Accelerator:
    """One NVIDIA card; its memory is None where it shares the system's (Jetson, GB10)."""
    return Accelerator(
        NVIDIA,
        clean(card.name),
        None,
        is_integrated(NVIDIA, card.name),
        pci_address(card.pci_bus_id),
        card.driver,
        dedicated_bytes=card_bytes(card.memory_bytes),
    )


def from_pci(card: PciCard, tables: NameTables) -> Accelerator | None:
    """One card of a known maker.

    None for virtual adapters, other makers, cards that were passed on, and parts of Intel's chips
    that are no graphics unit of their own.
    """
    vendor = PCI_VENDORS.get(card.vendor_id)
    if vendor is None or card.driver in _NO_COMPUTE_DRIVERS or _is_part(card, vendor):
        return None
    return Accelerator(
        vendor,
        _name(card, vendor, tables),
        None,
        _integrated(card, vendor, tables),
        card.pci_address,
        card.driver,
        dedicated_bytes=card_bytes(card.vram_bytes),
        shared_bytes=_share(card.gtt_bytes),
        external=card.removable,
    )


def _share(told_bytes: int | None) -> int | None:
    # 0 is told and true: the driver lends nothing
    return 0 if told_bytes == 0 else ram_bytes(told_bytes)


def _is_part(card: PciCard, vendor: str) -> bool:
    """Intel's NPU is a processing accelerator to PCI; further functions are virtual ones."""
    if vendor != INTEL:
        return False
    virtual = card.pci_address.startswith(_INTEL_CHIP) and card.pci_address != INTEL_INTEGRATED_AT
    return virtual or card.base_class == ACCELERATOR_CLASS


def _name(card: PciCard, vendor: str, tables: NameTables) -> str:
    found = _told_name(card, vendor, tables)
    if vendor == AMD and (found is None or found == _line(card, tables)):
        # no table knows more than the chip's working name: what AMD calls all such units
        found = _AMD_UNIT if _integrated(card, vendor, tables) else found
    if found is None:
        return f"{vendor} graphics {card.device_id:04x}"
    return cut(found if re.match(vendor, found, re.IGNORECASE) else f"{vendor} {found}")


def _told_name(card: PciCard, vendor: str, tables: NameTables) -> str | None:
    found = card.product_name
    if found is None and vendor == AMD and tables.amdgpu_ids and card.revision is not None:
        found = amdgpu_name(tables.amdgpu_ids, card.device_id, card.revision)
    if found is None and tables.pci_ids:
        found = pci_name(tables.pci_ids, card.vendor_id, card.device_id, card.subsystem)
    return found


def _integrated(card: PciCard, vendor: str, tables: NameTables) -> bool:
    if vendor == INTEL and card_bytes(card.vram_bytes):
        return False
    if card.has_northbridge_voltage or (vendor == INTEL and _at_intels(card)):
        return True
    line, told = _line(card, tables) or "", _told_name(card, vendor, tables) or ""
    # where a table has one name only, it is the chip's
    return is_integrated(vendor, "" if told == line else told, line)


def _at_intels(card: PciCard) -> bool:
    return card.pci_address == INTEL_INTEGRATED_AT


def _line(card: PciCard, tables: NameTables) -> str | None:
    table = tables.pci_ids
    return None if table is None else pci_line(table, card.vendor_id, card.device_id)
