"""Bytes of the cache, layer by layer, as llama.cpp allocates them.

Keys and values of attention, and the state of recurrent layers. Source: llama-kv-cache.cpp,
llama-kv-cache-iswa.cpp, llama-kv-cache-dsa.cpp, llama-memory-recurrent.cpp and llama-hparams.cpp of
the llama.cpp inside llama-cpp-python 0.3.36.
"""

from functools import lru_cache
from typing import Final

from desktop.errors import GramError
from desktop.estimate.layers import layers_of
from desktop.estimate.use import BLOCK_ELEMENTS, cells, check_use, window_cells
from desktop.records.estimate import Use
from desktop.records.model import Attention, LayerGroup, Model, Recurrent
from desktop.rules.ggml_types import size_bytes

_F32_BYTES: Final = 4
_KEPT: Final = 1024
CACHELESS: Final = frozenset(
    {"bert", "nomic-bert", "nomic-bert-moe", "neo-bert", "jina-bert-v2", "jina-bert-v3", "eurobert"}
    | {"modern-bert", "gemma-embedding", "dream", "llada", "llada-moe", "rnd1", "t5encoder"}
)
"""Architectures that compute all tokens at once and keep nothing: embeddings and diffusion."""


def cache_bytes(model: Model, use: Use) -> int:
    """Bytes of keys, values and state of all layers and sequences.

    Raises:
        GramError: `bad_number`, `cache_type`, `cache_rows`, `layers_unclear`, `header_lacks`.
    """
    return sum(layer_cache_bytes(model, use))


@lru_cache(_KEPT)
def layer_cache_bytes(model: Model, use: Use) -> tuple[int, ...]:
    """Bytes of the cache of each layer, all sequences together.

    Raises:
        GramError: as `cache_bytes`.
    """
    check_use(use)
    layers = layers_of(model)
    if model.architecture in CACHELESS:
        return (0,) * len(layers)
    widest = max(value_width(group) for group in layers)
    return tuple(_layer_bytes(model, group, use, widest) * use.sequences for group in layers)


def cache_read_bytes(model: Model, use: Use) -> int:
    """Bytes of keys, values and state that are read to generate one token at `use.depth`.

    The new token itself counts: at a depth of 1,024, full attention reads 1,025 tokens. Sliding
    layers read their window at most; recurrent layers read their whole state at any depth.

    Raises:
        GramError: as `cache_bytes`.
    """
    check_use(use)
    if model.architecture in CACHELESS:
        return 0
    return sum(_layer_read_bytes(model, group, use) for group in layers_of(model))


def state_bytes(model: Model, state: Recurrent) -> int:
    """Bytes of one recurrent layer's state for one sequence: convolution and state, in f32.

    Raises:
        GramError: `header_lacks`.
    """
    return _state_elements(model, state) * _F32_BYTES


def _state_elements(model: Model, state: Recurrent) -> int:
    def told(key: str) -> int:
        value = getattr(state, key)
        if value is None:
            raise GramError("header_lacks", name=model.name, key=key)
        return int(value)

    if state.kind == "rwkv":
        return model.hidden * (told("shifts") + told("head_size"))
    if state.kind == "lightning":
        return told("head_size") ** 2 * told("time_step_rank")
    kernel = told("conv_kernel") - 1
    if state.kind == "short_conv":
        return model.hidden * kernel
    if state.kind == "kimi_delta":
        return (3 * kernel + told("head_size")) * told("head_size") * told("time_step_rank")
    inner, size = told("inner_size"), told("state_size")
    return kernel * (inner + 2 * (state.groups or 0) * size) + size * inner


def _layer_bytes(model: Model, group: LayerGroup, use: Use, widest: int) -> int:
    """For one sequence. `widest`: without flash attention all value rows are as the widest."""
    state = state_bytes(model, group.recurrent) if group.recurrent else 0
    if not _keeps(group):
        return state + _empty_layer_bytes(model, use, widest)
    kept = window_cells(use, group.window or 0) if _slides(group) else cells(use)
    values = value_width(group) if use.flash_attention else widest
    return state + kept * _token_bytes(model, group, use, values)


def _empty_layer_bytes(model: Model, use: Use, widest: int) -> int:
    """What a layer without keys takes: value rows where the engine makes all rows as the widest."""
    if model.architecture != "deci" or use.flash_attention:
        return 0
    return cells(use) * size_bytes(use.cache_value_type, widest)


def _layer_read_bytes(model: Model, group: LayerGroup, use: Use) -> int:
    state = state_bytes(model, group.recurrent) if group.recurrent else 0
    if group.attention in {Attention.RECURRENT, Attention.NONE}:
        return state
    tokens = use.depth + 1
    if _slides(group):
        tokens = min(tokens, group.window or tokens)
    return state + tokens * _token_bytes(model, group, use, value_width(group))


def _token_bytes(model: Model, group: LayerGroup, use: Use, values: int) -> int:
    """Bytes of one token's key and value in one layer; `values` elements of value."""
    keys = key_width(group)
    _check_rows(model, group.key_size, use.cache_key_type)
    total = size_bytes(use.cache_key_type, keys)
    if group.indexer_size:
        total += size_bytes(use.cache_key_type, group.indexer_size)
    if group.attention is Attention.LATENT:
        _check_one_type(use)
        return total
    _check_rows(model, group.value_size, use.cache_value_type)
    return total + size_bytes(use.cache_value_type, values)


def key_width(group: LayerGroup) -> int:
    """Elements of one token's key over all heads; 0 where none is kept."""
    if group.attention is Attention.LATENT:
        return (group.latent_size or 0) + (group.rope_size or 0)
    return _heads_width(group, group.key_size)


def value_width(group: LayerGroup) -> int:
    """Elements of one token's value over all heads; 0 where none is kept."""
    return 0 if group.attention is Attention.LATENT else _heads_width(group, group.value_size)


def _heads_width(group: LayerGroup, size: int | None) -> int:
    if group.attention in {Attention.RECURRENT, Attention.NONE}:
        return 0
    return (group.kv_heads or 0) * (size or 0)


def _keeps(group: LayerGroup) -> bool:
    return not group.shares_cache and key_width(group) > 0


def _slides(group: LayerGroup) -> bool:
    return group.attention is Attention.SLIDING


def _check_one_type(use: Use) -> None:
    """Values of latent attention are a part of the keys."""
    if use.cache_value_type != use.cache_key_type:
        raise GramError("cache_type", found=use.cache_value_type, allowed=use.cache_key_type)


def _check_rows(model: Model, elements: int | None, kind: str) -> None:
    block = BLOCK_ELEMENTS[kind]
    if elements and elements % block:
        raise GramError("cache_rows", found=kind, block=block, name=model.name, elements=elements)
