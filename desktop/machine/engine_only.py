"""Cards that only the engine sees: ROCm's under WSL2, a guest's share of its host's (GPU-P)."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from desktop.machine.names import clean, cut, vendor_of
from desktop.machine.vendors import UNKNOWN, is_integrated
from desktop.records.machine import CARD_KINDS, Accelerator, Device, DeviceKind
from desktop.rules.pci import pci_address

"""What a card is in the engine's list; software devices, processors and BLAS are none."""
_NO_CARDS: Final = frozenset(
    {"virtual", "paravirtual", "virtio", "virtgpu", "venus", "virgl", "gfxstream", "vmware"}
    | {"svga3d", "qxl", "parallels", "virtualbox", "remote", "basic", "v3d", "videocore"}
)
"""Words of virtual adapters' names, and of VideoCore's, which computes nothing here."""


def unlisted_cards(
    cards: Sequence[Accelerator], devices: Iterable[Device]
) -> list[tuple[Accelerator, Device]]:
    """A card for each device that cannot be one of the system's under another name.

    Args:
        cards: what the system lists. A device of a maker that is among them is never added: two
            names for one card would make two.
        devices: of one backend and of this machine, those that are no card of the list.
    """
    makers = {card.vendor for card in cards}
    found = ((_card(device), device) for device in devices if device.kind in CARD_KINDS)
    return [
        (card, device)
        for card, device in found
        if card is not None
        and card.vendor not in makers
        # without a maker it may be any of the system's
        and (card.vendor != UNKNOWN or not makers)
    ]


def _card(device: Device) -> Accelerator | None:
    told = clean(device.description)
    vendor = vendor_of(told)
    if not told or (vendor is None and _NO_CARDS & set(re.findall(r"[a-z]\w*", told.lower()))):
        return None
    return Accelerator(
        vendor or UNKNOWN,
        _name(told, vendor),
        None,
        device.kind is DeviceKind.IGPU or is_integrated(vendor or UNKNOWN, told),
        pci_address(device.pci_address),
    )


def _name(told: str, vendor: str | None) -> str:
    """Without what Mesa writes behind it, `(RADV NAVI31)`; not where the name itself is there."""
    plain = re.sub(r"\s*\([^()]*\)$", "", cut(told))
    return plain if plain and vendor_of(plain) == vendor else told
