"""Where a card sits on the PCI bus: one way of writing it, whoever tells it."""

import re
from typing import Final

_ADDRESS: Final = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])")
_DOMAIN_DIGITS: Final = 4


def pci_address(told: str | None) -> str | None:
    """`0000:c1:00.0`, as the kernel writes it; None for what is no such address.

    Args:
        told: NVML's `00000000:C1:00.0`, the kernel's, or a backend's id of a device, which may
            leave the domain out. Other ids (UUIDs, LUIDs, serial numbers) are no addresses.
    """
    found = _ADDRESS.fullmatch((told or "").strip().lower())
    if found is None:
        return None
    domain = (found[1] or "").lstrip("0").rjust(_DOMAIN_DIGITS, "0")
    return f"{domain}:{found[2]}"


def same_address(one: str | None, other: str | None) -> bool:
    """Whether both are addresses, and of one card."""
    known = pci_address(one)
    return known is not None and known == pci_address(other)
