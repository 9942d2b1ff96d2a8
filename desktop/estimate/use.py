"""How a build is run: what is asked, checked, and rounded as llama.cpp rounds it."""

from typing import Final

from desktop.errors import GramError
from desktop.records.estimate import Use
from desktop.rules.ggml_types import TYPES

MAX_CONTEXT: Final = 1 << 24
"""The longest context asked about, in tokens; the longest declared today is 10 million."""
MAX_BATCH: Final = 1 << 17
MAX_SEQUENCES: Final = 256
"""llama.cpp's `LLAMA_MAX_SEQ`."""
CONTEXT_STEP: Final = 256
"""The cache's cells are rounded up to a multiple of it (llama-context.cpp, llama.cpp of
llama-cpp-python 0.3.36)."""
CACHE_TYPES: Final = ("F32", "F16", "BF16", "Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0", "IQ4_NL")
"""The types that llama.cpp's tools take for keys and values."""
BLOCK_ELEMENTS: Final = {kind.name: kind.block_elements for kind in TYPES.values()}


def check_use(use: Use) -> None:
    """Refuse what llama.cpp would refuse, and what nobody can mean.

    Raises:
        GramError: `bad_number`; `cache_type` for a type that is no cache type, and for packed
            values without flash attention.
    """
    _within("context", use.context, 1, MAX_CONTEXT)
    _within("depth", use.depth, 0, use.context)
    _within("batch", use.batch, 1, MAX_BATCH)
    _within("micro_batch", use.micro_batch, 1, MAX_BATCH)
    _within("sequences", use.sequences, 1, MAX_SEQUENCES)
    allowed = ", ".join(CACHE_TYPES)
    for name in (use.cache_key_type, use.cache_value_type):
        if name not in CACHE_TYPES:
            raise GramError("cache_type", found=name, allowed=allowed)
    if BLOCK_ELEMENTS[use.cache_value_type] > 1 and not use.flash_attention:
        plain = "F32, F16, BF16 without flash attention"
        raise GramError("cache_type", found=use.cache_value_type, allowed=plain)


def cells(use: Use) -> int:
    """Tokens that each sequence's cache holds."""
    share = padded(use.context) if use.sequences == 1 else padded(use.context) // use.sequences
    return padded(share)


def batch_tokens(use: Use) -> int:
    """Tokens computed at once: a micro-batch, or a short context whole."""
    return min(use.context, use.batch, use.micro_batch)


def window_cells(use: Use, window: int) -> int:
    """Tokens that a sliding layer keeps for each sequence: the window and a micro-batch."""
    if use.full_sliding_cache:
        return cells(use)
    return padded(min(cells(use), window + batch_tokens(use)))


def padded(tokens: int) -> int:
    """Rounded up to a multiple of 256."""
    return -(-tokens // CONTEXT_STEP) * CONTEXT_STEP


def _within(name: str, found: int, low: int, high: int) -> None:
    if not low <= found <= high:
        raise GramError("bad_number", name=name, low=low, high=high, found=found)
