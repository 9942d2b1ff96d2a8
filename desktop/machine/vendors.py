"""Who makes cards that can compute, and how an integrated one is told from a discrete one."""

import re
from types import MappingProxyType
from typing import Final

NVIDIA, AMD, INTEL, APPLE = "NVIDIA", "AMD", "Intel", "Apple"
MOORE_THREADS, QUALCOMM, ARM = "Moore Threads", "Qualcomm", "Arm"
UNKNOWN = "unknown"
"""Of a card that only the engine lists, under a name that speaks of no maker."""

PCI_VENDORS: Final = MappingProxyType(
    {0x10DE: NVIDIA, 0x1002: AMD, 0x8086: INTEL, 0x1ED5: MOORE_THREADS}
)
"""Source: the PCI ID repository. All others are left out: virtual adapters (bochs 0x1234, virtio
0x1af4, QXL 0x1b36, VMware 0x15ad, Hyper-V 0x1414, VirtualBox 0x80ee, Cirrus 0x1013) and servers'
management chips (ASPEED 0x1a03, Matrox 0x102b) show a picture and compute nothing."""

_ON_CHIPS: Final = frozenset({APPLE, QUALCOMM, ARM})
"""Their graphics units are parts of a processor, always."""

_SURELY_INTEGRATED = {
    # the small Vegas are parts of Ryzen chips, though some drivers write "RX Vega 11"
    AMD: r"Vega (?:[36789]|1[01])",
    # three digits after A or B are a card's, but for these of Panther Lake
    INTEL: r"B3[79]0",
}
_DISCRETE = {
    AMD: r"RX|Instinct|FirePro|W\d{4}|VII|MI\d{2,3}[AX]?|Pro Vega",
    # DG1 is sold as "Iris Xe Graphics", Battlemage in part as "Intel Graphics"
    INTEL: r"[AB]\d{3}M?|B\d{2}|A\d{2}M?|Flex|Max|MAX|DG[12]|SG1|Battlemage|BMG",
}
_INTEGRATED = {
    AMD: (
        r"Graphics|\d{3}M|80[456]0S|APU|Custom GPU|Vega (?:Series|Mobile)"
        r"|Renoir|Lucienne|Cezanne|Barcelo|Picasso|Raven\d?|Dali|Mendocino|VanGogh|Van Gogh"
        r"|Raphael|Granite Ridge|Rembrandt|Phoenix\d?|HawkPoint\d?|Strix|Krackan\d?"
    ),
    INTEL: r"UHD|HD|Iris|Xe|Graphics|1[34]0[VTU]",
    NVIDIA: r"Orin|Xavier|Thor|GB10|Tegra|Jetson",
}


def is_integrated(vendor: str, name: str, chip: str = "") -> bool:
    """By whole words of the names; names that tell neither are taken for discrete.

    Args:
        vendor: one of the above.
        name: the marketing name.
        chip: the chip's working name, where a table has it. Its numbers mean other things: Vega 10
            is the large chip of the RX Vega 56 and 64, Vega 10 in a marketing name a small part.
    """
    if vendor in _ON_CHIPS or _has_word(_SURELY_INTEGRATED.get(vendor), name):
        return True
    both = f"{name} {chip}"
    if _has_word(_DISCRETE.get(vendor), both):
        return False
    return _has_word(_INTEGRATED.get(vendor), both)


def _has_word(words: str | None, name: str) -> bool:
    # "Radeon(TM) Graphics": what stands in brackets parts two words as a space does
    plain = " ".join(re.sub(r"\((?:R|TM|C)\)", " ", name, flags=re.IGNORECASE).split())
    return words is not None and re.search(rf"(?<!\w)(?:{words})(?!\w)", plain) is not None
