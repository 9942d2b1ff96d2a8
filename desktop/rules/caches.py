"""From how many bytes on what is read again and again comes from memory, not from caches."""

from typing import Final

CACHE_FACTOR: Final = 4
"""Below this many last-level caches, part of what is read may come from the cache."""
MANY_CACHES_BYTES: Final = 512 * 2**20
"""Where the caches' size is not told: those of desktops and cards hold 4 to 128 MiB."""
_LEAST_BYTES: Final = 128 * 2**20
"""Whatever is told: a virtual machine may be shown less cache than its host has."""


def many_caches_bytes(last_level_cache_bytes: int | None) -> int:
    """The least set that caches do not help with, bytes.

    Args:
        last_level_cache_bytes: all last-level caches together; None where they are not told.
    """
    if last_level_cache_bytes is None:
        return MANY_CACHES_BYTES
    return max(_LEAST_BYTES, CACHE_FACTOR * last_level_cache_bytes)
