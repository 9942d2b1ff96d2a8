"""Names of cards from the system's tables: `pci.ids` and libdrm's `amdgpu.ids`."""

import re

from desktop.machine.names import cut


def pci_name(
    table: str, vendor_id: int, device_id: int, subsystem: tuple[int, int] | None = None
) -> str | None:
    """The device's name in `pci.ids`: the marketing name in brackets where there is one.

    Where one chip is sold under several names (`RX 7900 XT/7900 XTX`), the board that carries it
    decides, if the table knows it and calls it by one of them.

    The format: a vendor line `10de  NVIDIA Corporation`, below it its devices, each after one tab,
    below each its boards after two.
    """
    device = _device(table, vendor_id, device_id)
    if device is None:
        return None
    name = _marketing(device.group(1).strip())
    board = _board(device.group(2), subsystem) if "/" in name and subsystem else None
    return board if board is not None and _words(board) < _words(name) else name


def pci_line(table: str, vendor_id: int, device_id: int) -> str | None:
    """The whole line, with the chip's working name: `Phoenix1 [Radeon 780M]`."""
    device = _device(table, vendor_id, device_id)
    return None if device is None else device.group(1).strip()


def amdgpu_name(table: str, device_id: int, revision: int) -> str | None:
    """The marketing name in `amdgpu.ids`: lines of `device, revision, name` in hexadecimal."""
    pattern = rf"^{device_id:04X},[ \t]*{revision:02X},[ \t]*(\S.*)$"
    found = re.search(pattern, table, re.MULTILINE | re.IGNORECASE)
    return None if found is None else found.group(1).strip()


def _device(table: str, vendor_id: int, device_id: int) -> re.Match[str] | None:
    vendor = re.search(rf"^{vendor_id:04x}  .*\n((?:[\t#].*\n?|\n)*)", table, re.MULTILINE)
    if vendor is None:
        return None
    pattern = rf"^\t{device_id:04x}  (.+)\n?((?:\t\t.*\n?)*)"
    return re.search(pattern, vendor.group(1), re.MULTILINE)


def _board(boards: str, subsystem: tuple[int, int]) -> str | None:
    vendor, device = subsystem
    found = re.search(rf"^\t\t{vendor:04x} {device:04x}  (.+)$", boards, re.MULTILINE)
    return None if found is None else _marketing(found.group(1).strip())


def _marketing(name: str) -> str:
    short = cut(name)
    bracket = re.search(r"\[([^\]]{1,200})\]$", short.rstrip())
    return bracket.group(1) if bracket else short


def _words(name: str) -> set[str]:
    return set(re.findall(r"\w+", name.lower()))
