"""Which keys of a GGUF header the engine reads for which architectures: data.

llama.cpp does not look at a key that an architecture's loader does not ask for. So a stray one may
not change what is counted either: `llama.attention.shared_kv_layers` hides no cache. Keys that are
not in the table are read for every architecture, or for every layer of the kind they describe.
Source: `load_hparams` of llama-model.cpp and `load_arch_hparams` of src/models, of the llama.cpp
inside llama-cpp-python 0.3.36.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_LATENT: Final = frozenset({"deepseek2", "deepseek32", "glm-dsa", "kimi-linear", "mistral4"})
_UNFOLDED: Final = frozenset({"minicpm3", "plm"})
"""Latent attention whose keys and values are written out before they are kept."""
_INTERVALS: Final = frozenset({"minimax-01", "qwen35", "qwen35moe", "qwen3next"})
_GROUPED_STATES: Final = frozenset(
    {"falcon-h1", "granitehybrid", "mamba2", "nemotron_h", "nemotron_h_moe", "plamo2"}
    | {"qwen35", "qwen35moe", "qwen3next"}
)

READ_BY: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "attention.shared_kv_layers": frozenset({"gemma4"}),
        "attention.key_length_mla": _LATENT,
        "attention.value_length_mla": _LATENT,
        "attention.kv_lora_rank": _LATENT | _UNFOLDED,
        "attention.q_lora_rank": _LATENT - {"kimi-linear"} | {"minicpm3"},
        "attention.indexer.key_length": frozenset({"deepseek32", "glm-dsa"}),
        "attention.indexer.types": frozenset({"glm-dsa"}),
        "attention.recurrent_layers": _INTERVALS,
        "full_attention_interval": _INTERVALS,
        "embedding_length_per_layer_input": frozenset({"gemma4"}),
        "ssm.group_count": _GROUPED_STATES,
    }
)
"""Architectures by key, without the architecture's own name in front."""
SHARED_FROM: Final[Mapping[str, int]] = MappingProxyType({"gemma3n": 20})
"""Layers from this one on read the cache of earlier ones: a constant of the engine."""
PER_LAYER_WIDTHS: Final[Mapping[str, int]] = MappingProxyType({"gemma3n": 256})
"""Of the per-layer embeddings, where it is a constant of the engine."""


def is_read(architecture: str, key: str) -> bool:
    """Whether the engine looks at `key` in the header of a file of that architecture."""
    readers = READ_BY.get(key)
    return readers is None or architecture in readers
