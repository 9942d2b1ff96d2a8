"""Names of cards and chips as drivers, systems and engines write them, made comparable."""

import re
from typing import Final

_VENDOR_WORDS: Final = {
    "nvidia": "NVIDIA",
    "geforce": "NVIDIA",
    "quadro": "NVIDIA",
    "tesla": "NVIDIA",
    "amd": "AMD",
    "ati": "AMD",
    "radeon": "AMD",
    "instinct": "AMD",
    "intel": "Intel",
    "arc": "Intel",
    "apple": "Apple",
}
_NOISE: Final = frozenset(
    {
        "nvidia",
        "geforce",
        "tesla",
        "amd",
        "ati",
        "radeon",
        "instinct",
        "intel",
        "apple",
        "corporation",
        "graphics",
        "gpu",
        "generation",
        "edition",
    }
)
"""Words that say nothing more than who made it. `quadro`, `arc`, `pro` and `laptop` do say more."""
_MOST_CHARACTERS: Final = 256
"""No name has more to say, and patterns stay quick."""
_ASIDES: Final = re.compile(
    r"\((?:tm|r|c|radv[^)]*|llvm[^)]*|(?:bmg|dg2|lnl|mtl|arl|acm)\b[^)]*)\)|[™®©]", re.IGNORECASE
)
"""Trade marks, and what Mesa adds: `(RADV NAVI31)`, `(BMG G21)`."""
_MEMORY: Final = re.compile(r"(?<![\w.])([0-9]{1,9})\s?Gi?B(?!\w)", re.IGNORECASE)
_CHIP: Final = re.compile(r"\[([^\[\]]{1,200})\]")
"""The PCI ID repository's `GA102 [GeForce RTX 3090]`."""


def words_of(name: str) -> frozenset[str]:
    """The words that tell one device from another: `NVIDIA GeForce RTX 3080` → rtx, 3080."""
    plain = _ASIDES.sub(" ", name[:_MOST_CHARACTERS])
    chips = _CHIP.findall(plain)
    inside = str(chips[-1]) if chips else plain
    without_memory = _MEMORY.sub(" ", inside)
    return frozenset(re.findall(r"[^\W_]+", without_memory.lower())) - _NOISE


def makers(name: str) -> set[str]:
    """The vendors that the name speaks of; empty where it speaks of none."""
    words = re.findall(r"[^\W_]+", _ASIDES.sub(" ", name[:_MOST_CHARACTERS]).lower())
    return {_VENDOR_WORDS[word] for word in words if word in _VENDOR_WORDS}


def memory_gib_in(name: str) -> float | None:
    """The memory that the name states: `A100 80GB PCIe` → 80."""
    found = _MEMORY.search(name[:_MOST_CHARACTERS])
    return float(found.group(1)) if found else None
