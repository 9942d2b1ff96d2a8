"""How much memory a build would need: an estimate from its header, never a measurement."""

import math
from dataclasses import dataclass
from typing import Final

from desktop.errors import GramError
from desktop.records.build import Header

MAX_CONTEXT: Final = 1 << 24
"""The longest context asked about, in tokens; the longest declared today is 10 million."""
OVERHEAD_BYTES: Final = 64 << 20
"""An allowance for the engine's code, vocabulary and scratch. Besides the logits, llama.cpp's
compute buffers had 2 to 4 MiB for dense models of 0.1 and 0.5 B on the CPU."""
_F16_BYTES: Final = 2
_F32_BYTES: Final = 4
_MICRO_BATCH: Final = 512
"""llama.cpp's default `n_ubatch`: it reserves logits for that many tokens."""
_CONTEXT_STEP: Final = 256
"""llama.cpp rounds the context up to a multiple of it."""
_MAX_FIELD: Final = 1 << 20
"""Layers, heads and sizes beyond it are nonsense; headers come from strangers."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """An estimate, by use."""

    weights_bytes: int
    kv_cache_bytes: int | None
    """None when the header does not say (architectures without attention)."""
    overhead_bytes: int

    @property
    def known_bytes(self) -> int:
        """The sum of what is known; without the KV cache a lower bound."""
        return self.weights_bytes + (self.kv_cache_bytes or 0) + self.overhead_bytes


def memory_need(header: Header, n_ctx: int) -> MemoryNeed:
    """Estimate the memory to run the build with a context of `n_ctx` tokens.

    Weights are the file's tensors. The KV cache is f16 for every layer and token: an upper bound
    for models with sliding windows. Backends that repack weights (Q4_0 on the CPU) may keep the
    file's pages besides. The overhead is the logits of one micro-batch plus a constant.

    Raises:
        GramError: `bad_number` unless 1 ≤ n_ctx ≤ 2²⁴.
    """
    if not 1 <= n_ctx <= MAX_CONTEXT:
        raise GramError("bad_number", name="n_ctx", low=1, high=MAX_CONTEXT, found=n_ctx)
    weights = sum(t.size_bytes for t in header.tensors)
    logits = _vocabulary(header) * _MICRO_BATCH * _F32_BYTES
    per_token = kv_bytes_per_token(header)
    cells = -(-n_ctx // _CONTEXT_STEP) * _CONTEXT_STEP
    kv_cache = None if per_token is None else per_token * cells
    return MemoryNeed(weights, kv_cache, OVERHEAD_BYTES + logits)


def kv_bytes_per_token(header: Header) -> int | None:
    """f16 keys and values of one token over all layers; None when the header does not say."""
    layers = _field(header, "block_count")
    if layers is None:
        return None
    heads = _per_layer(header, "attention.head_count", layers)
    grouped = f"{header.architecture}.attention.head_count_kv" in header.metadata
    kv_heads = _per_layer(header, "attention.head_count_kv", layers) if grouped else heads
    default = _head_size(header, heads)
    key = _field(header, "attention.key_length") or default
    value = _field(header, "attention.value_length") or default
    if kv_heads is None or key is None or value is None:
        return None
    return sum(kv_heads) * (key + value) * _F16_BYTES


def shortfall(need: MemoryNeed, available_bytes: int) -> int | None:
    """Bytes that are missing to run it; None when nothing is known to be missing."""
    missing = need.known_bytes - available_bytes
    return missing if missing > 0 else None


def _head_size(header: Header, heads: tuple[int, ...] | None) -> int | None:
    embedding = _field(header, "embedding_length")
    widest = max(heads or (0,))
    return embedding // widest if embedding and widest else None


def _field(header: Header, key: str) -> int | None:
    value = header.integer(key)
    return value if value is not None and 0 < value <= _MAX_FIELD else None


def _per_layer(header: Header, key: str, layers: int) -> tuple[int, ...] | None:
    """One number a layer: the header has one for all, or an array (0 where a layer has none)."""
    value = header.metadata.get(f"{header.architecture}.{key}")
    if isinstance(value, tuple):
        numbers = tuple(v for v in value if isinstance(v, int) and 0 <= v <= _MAX_FIELD)
        return numbers if len(numbers) == len(value) == layers else None
    single = _field(header, key)
    return None if single is None else (single,) * layers


def _vocabulary(header: Header) -> int:
    """Rows of the output matrix, from the tensor itself; 0 when there is none."""
    for name in ("output.weight", "token_embd.weight"):
        for tensor in header.tensors:
            if tensor.name == name:
                return math.prod(tensor.shape[1:])
    return 0
