"""Numbers as systems print them, believed only while they can be true.

Python reads thousands of digits, at a price and not into a float; no file or tool has such a
number to tell.
"""

import re
from typing import Final

DIGITS: Final = 18
"""Enough for an exabyte and for a terajoule in microjoules; what is longer is no number here."""


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
