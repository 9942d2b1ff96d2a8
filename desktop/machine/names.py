"""Whether two sources speak of the same card: its maker and the whole words of its name."""

import re
from typing import Final

from desktop.machine.vendors import (
    AMD,
    APPLE,
    ARM,
    INTEL,
    MOORE_THREADS,
    NVIDIA,
    QUALCOMM,
)
from desktop.sources.texts import MOST_CHARACTERS, printable

_VENDOR_WORDS: Final = (
    (NVIDIA, {"nvidia", "geforce", "quadro", "tesla", "rtx", "gtx", "orin", "xavier", "tegra"}),
    (AMD, {"amd", "ati", "radeon", "instinct", "firepro"}),
    (INTEL, {"intel", "arc", "iris", "uhd"}),
    (APPLE, {"apple"}),
    (QUALCOMM, {"qualcomm", "adreno"}),
    (ARM, {"arm", "mali"}),
    (MOORE_THREADS, {"moore", "mtt"}),
)
_MARKS: Final = re.compile(r"\((?:R|TM|C)\)|[®™]", re.IGNORECASE)
_IN_NO_NAME: Final = frozenset(
    {"nvidia", "amd", "ati", "intel", "apple", "qualcomm", "arm"}
    | {"corporation", "inc", "graphics", "gpu", "radeon", "series"}
)


def cut(name: str) -> str:
    """At most 256 characters, none of them one that is not shown."""
    return printable(name[:MOST_CHARACTERS])


def clean(name: str) -> str:
    """A card's name as all systems would write it: without trade marks and double spaces."""
    return " ".join(_MARKS.sub(" ", cut(name)).split())


def words(name: str) -> frozenset[str]:
    """The words that tell one card from another.

    Makers' names and trade marks are left out, and what stands in brackets (`(RADV NAVI31)`,
    `(16GB)`); also a number that stands for a name nobody knows (`Intel graphics 46a6`).
    """
    name = cut(name)
    if re.fullmatch(r"[\w ]+ graphics [0-9a-f]{4}", name):
        return frozenset()
    plain = re.sub(r"\([^)]*\)?", " ", _MARKS.sub(" ", name)).lower()
    return frozenset(re.findall(r"\w+", plain)) - _IN_NO_NAME


def vendor_of(name: str) -> str | None:
    """The maker that a card's name speaks of; None where it names none."""
    plain = set(re.findall(r"[a-z]\w*", clean(name).lower()))
    return next((vendor for vendor, marks in _VENDOR_WORDS if plain & marks), None)


def likeness(one: str, other: str) -> int:
    """How well two names of one maker's cards agree.

    3 for the same words, 2 where one name has all words of the other, 1 where one says nothing, 0
    for two different cards.
    """
    first, second = words(one), words(other)
    if not first or not second:
        return 3 if first == second else 1
    if first == second:
        return 3
    return 2 if first < second or second < first else 0
