"""The ceiling: how fast tokens can be generated at most, by memory bandwidth.

To generate a token, the active weights are read from memory once, so no honest decode rate is above
bandwidth ÷ bytes per token, unless the weights fit in the processor's caches.
"""

import math

from desktop.errors import GramError
from desktop.records.build import Header
from desktop.rules.caches import CACHE_FACTOR
from desktop.rules.weight_parts import parts_of_header


def active_bytes(header: Header) -> int | None:
    """Bytes of weights that are read for each generated token, as the tensors tell.

    All but the lookup tables; of a mixture the used share of the experts; where the embedding is
    also the output (no `output.weight`), it is read as a whole and counts. None for a mixture that
    does not say how many of its experts are used, and where nothing is read.
    """
    parts = parts_of_header(header)
    return sum(part.active_bytes for part in parts) or None if parts else None


def ceiling_tok_s(bandwidth_bytes_s: float, bytes_per_token: int) -> float:
    """Tokens per second that the memory allows at most.

    `bytes_per_token` are the active weights, plus the KV cache that is read where that is known.

    Raises:
        GramError: `bad_number` when one of them is not positive and finite.
    """
    for name, found in (("bandwidth", bandwidth_bytes_s), ("bytes per token", bytes_per_token)):
        if not (math.isfinite(found) and found > 0):
            raise GramError("bad_number", name=name, low=1, high="∞", found=str(found))
    return bandwidth_bytes_s / bytes_per_token


def ceiling_verdict_tok_s(
    bandwidth_bytes_s: float, bytes_per_token: int, last_level_cache_bytes: int | None
) -> float | None:
    """The ceiling by which a rate may be judged; None where there is no verdict.

    There is none when the bytes are under four times the last-level cache, nor when the cache's
    size is not known.

    Raises:
        GramError: as `ceiling_tok_s`.
    """
    ceiling = ceiling_tok_s(bandwidth_bytes_s, bytes_per_token)
    if last_level_cache_bytes is None or bytes_per_token < CACHE_FACTOR * last_level_cache_bytes:
        return None
    return ceiling
