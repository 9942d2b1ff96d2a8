"""Numbers as systems print them, believed only while they can be true.

Python reads thousands of digits, at a price and not into a float; no file or tool has such a
number to tell.
"""

import re
from typing import Final

DIGITS: Final = 18
"""Enough for an exabyte and for a terajoule in microjoules; what is longer is no number here."""

MOST_CARD_BYTES: Final = 2**44
"""16 TiB: no card has as much memory."""
MOST_RAM_BYTES: Final = 2**46
"""64 TiB: no machine of one system has more."""


def whole(told: object, digits: int = DIGITS) -> int | None:
    """A whole number of at most so many digits, from a text or a number; None for all else.

    A truth value is no number, and neither is a text with anything but ASCII digits in it.
    """
    if isinstance(told, str):
        words = told.strip()
        return int(words) if re.fullmatch(rf"[+-]?[0-9]{{1,{digits}}}", words) else None
    if not isinstance(told, int) or isinstance(told, bool):
        return None
    return told if abs(told) < 10**digits else None


def above_zero(told: object) -> int | None:
    """As `whole`, for sizes and counts: one of 0 or less is not known."""
    number = whole(told)
    return number if number is not None and number > 0 else None


def card_bytes(told: object) -> int | None:
    """The memory of one card: not known where it is 0, negative, or more than any card has."""
    size = above_zero(told)
    return size if size is not None and size <= MOST_CARD_BYTES else None


def ram_bytes(told: object) -> int | None:
    """The system's memory, or a part of it: as `card_bytes`, with a machine's bound."""
    size = above_zero(told)
    return size if size is not None and size <= MOST_RAM_BYTES else None
