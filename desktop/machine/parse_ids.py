"""Names of cards from the system's tables: `pci.ids` and libdrm's `amdgpu.ids`."""

import re


def pci_name(table: str, vendor_id: int, device_id: int) -> str | None:
    """The device's name in `pci.ids`: the marketing name in brackets where there is one.

    The format: a vendor line `10de  NVIDIA Corporation`, below it its devices, each after one tab.
    """
    vendor = re.search(rf"^{vendor_id:04x}  .*\n((?:[\t#].*\n?|\n)*)", table, re.MULTILINE)
    if vendor is None:
        return None
    device = re.search(rf"^\t{device_id:04x}  (.+)$", vendor.group(1), re.MULTILINE)
    return None if device is None else _marketing(device.group(1).strip())


def amdgpu_name(table: str, device_id: int, revision: int) -> str | None:
    """The marketing name in `amdgpu.ids`: lines of `device, revision, name` in hexadecimal."""
    pattern = rf"^{device_id:04X},\s*{revision:02X},\s*(.+)$"
    found = re.search(pattern, table, re.MULTILINE | re.IGNORECASE)
    return None if found is None else found.group(1).strip()


def _marketing(name: str) -> str:
    bracket = re.search(r"\[([^\]]+)\]\s*$", name)
    return bracket.group(1) if bracket else name
