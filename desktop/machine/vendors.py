"""Who makes cards that can compute, and how an integrated one is told from a discrete one."""

import re
from typing import Final

NVIDIA, AMD, INTEL, APPLE = "NVIDIA", "AMD", "Intel", "Apple"

PCI_VENDORS: Final = {0x10DE: NVIDIA, 0x1002: AMD, 0x8086: INTEL}
"""Source: the PCI ID repository. All others are left out: virtual adapters (bochs 0x1234, virtio
0x1af4, QXL 0x1b36, VMware 0x15ad, Hyper-V 0x1414, VirtualBox 0x80ee, Cirrus 0x1013) and servers'
management chips (ASPEED 0x1a03, Matrox 0x102b) show a picture and compute nothing."""

_DISCRETE = {
    AMD: r"RX|Instinct|FirePro|W\d{4}|VII|MI\d{2,3}X?",
    INTEL: r"[AB]\d{3}M?|B\d{2}|A\d{2}|Flex|Max",
}
_INTEGRATED = {
    AMD: r"Graphics|\d{3}M|\d{4}S|R[2-7]|APU|Renoir|Cezanne|Raphael|Rembrandt|Phoenix\d?|Strix",
    INTEL: r"UHD|HD|Iris|Xe|Graphics|1[34]0[VTM]",
    NVIDIA: r"Orin|Xavier|Thor|GB10|Tegra",
}


def is_integrated(vendor: str, name: str) -> bool:
    """By whole words of the marketing name; a name that tells neither is taken for discrete."""
    if vendor == APPLE:
        return True
    if _has_word(_DISCRETE.get(vendor), name):
        return False
    return _has_word(_INTEGRATED.get(vendor), name)


def _has_word(words: str | None, name: str) -> bool:
    return words is not None and re.search(rf"(?<!\w)(?:{words})(?!\w)", name) is not None
