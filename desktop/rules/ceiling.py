"""The ceiling: how fast tokens can be generated at most, by memory bandwidth.

To generate a token, the active weights are read from memory once, so no honest decode rate is above
bandwidth ÷ bytes per token, unless the weights fit in the processor's caches.
"""

import math
from typing import Final

from desktop.errors import GramError
from desktop.records.build import Header

CACHE_FACTOR: Final = 4
"""Below this many last-level caches, part of the weights may be read from the cache."""
_OUTPUT: Final = "output.weight"
_EMBEDDING: Final = "token_embd.weight"
_LOOKUPS: Final = frozenset(
    {"position_embd.weight", "token_types.weight", "per_layer_token_embd.weight"}
)
"""Tables of which a token reads one row."""


def active_bytes(header: Header) -> int | None:
    """Bytes of weights that are read for each generated token; None unless the model is dense.

    All tensors but the embedding lookup. Where the embedding is also the output (no
    `output.weight`), it is read as a whole and counts. Mixtures of experts read a part of their
    weights that the tensors do not tell.
    """
    if header.integer("expert_count"):
        return None
    lookups = set(_LOOKUPS)
    if any(t.name == _OUTPUT for t in header.tensors):
        lookups.add(_EMBEDDING)
    total = sum(t.size_bytes for t in header.tensors if t.name not in lookups)
    return total or None


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
