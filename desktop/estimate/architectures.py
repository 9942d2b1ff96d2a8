"""What llama.cpp does with each architecture beyond what a header says: data.

Source: the loaders and graphs in src/models, and `create_memory` of llama-model.cpp, of the
llama.cpp inside llama-cpp-python 0.3.36. Architectures that are not in the table are not estimated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class StateRule(StrEnum):
    """How the engine knows which layers are recurrent."""

    NONE = "none"
    ALL = "all"
    BESIDE = "beside"
    """Every layer has attention and a state."""
    NO_KV_HEADS = "no_kv_heads"
    NO_KV_HEADS_NO_FEED_FORWARD = "no_kv_heads_no_feed_forward"
    INTERVAL = "interval"
    """All but every n-th layer, or as an array says."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Which layers slide."""

    every: int | None
    """Every n-th layer does not slide, unless the header says otherwise; 0: all layers with
    attention slide; None: the header's array tells, and without one no layer slides."""
    first_full: bool = False
    """The first of n layers is the one that does not slide; else the last."""
    default: int | None = None
    """Tokens, where the header does not say."""
    fixed: int | None = None
    """Tokens, whatever the header says."""
    optional: bool = False
    """Without the header's word nothing slides."""
    only_layers: int | None = None
    """Models with another number of layers do not slide."""


@dataclass(frozen=True, slots=True)
class Traits:
    """One architecture."""

    windows: Windows | None = None
    state: StateRule = StateRule.NONE
    state_kind: str = ""
    interval: int = 4
    """Of `StateRule.INTERVAL`, unless the header says otherwise."""
    idle_layers: bool = False
    """Some layers have neither attention nor a state."""
    gated: bool = True
    """The feed-forward part has a gate."""
    cacheless: bool = False
    """All tokens at once, and nothing kept: embeddings and diffusion."""


_PLAIN: Final = Traits()
_UNGATED: Final = Traits(gated=False)
_EMBEDS: Final = Traits(gated=False, cacheless=True)
_DIFFUSES: Final = Traits(cacheless=True)
_DELTA: Final = Traits(state=StateRule.INTERVAL, state_kind="gated_delta_net")
_SHORT: Final = Traits(state=StateRule.NO_KV_HEADS, state_kind="short_conv")
_KIMI: Final = Traits(state=StateRule.NO_KV_HEADS, state_kind="kimi_delta")
_RWKV: Final = Traits(state=StateRule.ALL, state_kind="rwkv", gated=False)
_NEMOTRON_H: Final = Traits(
    state=StateRule.NO_KV_HEADS_NO_FEED_FORWARD, state_kind="mamba2", gated=False, idle_layers=True
)


def _slides(every: int | None = None, **rules: object) -> Traits:
    return Traits(windows=Windows(every, **rules))  # type: ignore[arg-type]


_NAMES_OF_PLAIN: Final = (
    "arctic", "baichuan", "bailingmoe", "bailingmoe2", "bitnet", "chatglm",
    "command-r", "dbrx", "deepseek", "deepseek2", "deepseek32", "dots1", "ernie4_5",
    "ernie4_5-moe", "exaone", "gemma", "glm-dsa", "glm4", "glm4moe", "granite", "granitemoe",
    "grok", "grovemoe", "hunyuan-dense", "hunyuan-moe", "hunyuan_vl", "hy_v3", "internlm2", "llama",
    "maincoder", "minicpm", "minicpm3", "minimax-m2", "mistral3", "mistral4", "olmo", "olmoe",
    "openelm", "orion", "paddleocr", "pangu-embedded", "phi3", "phimoe", "plamo", "qwen",
    "qwen2", "qwen2moe", "qwen2vl", "qwen3", "qwen3moe", "qwen3vl", "qwen3vlmoe", "refact",
    "seed_oss", "smollm3", "stablelm", "xverse",
)  # fmt: skip
_NAMES_OF_UNGATED: Final = (
    "apertus", "arcee", "bloom", "codeshell", "falcon", "gpt2", "gptj", "gptneox", "jais", "jais2",
    "mpt", "nemotron", "phi2", "plm", "starcoder", "starcoder2",
)  # fmt: skip

TRAITS: Final[Mapping[str, Traits]] = MappingProxyType(
    {
        **dict.fromkeys(_NAMES_OF_PLAIN, _PLAIN),
        **dict.fromkeys(_NAMES_OF_UNGATED, _UNGATED),
        "afmoe": _slides(4, optional=True),
        "cohere2": _slides(4),
        "cohere2moe": _slides(4, first_full=True),
        "deci": Traits(idle_layers=True),
        "exaone-moe": _slides(4),
        "exaone4": _slides(4, default=4096, only_layers=64),
        "gemma2": _slides(2, default=4096),
        "gemma3": _slides(6, optional=True),
        "gemma3n": _slides(5),
        "gemma4": _slides(),
        "gpt-oss": _slides(2),
        "granite_swa": _slides(),
        "laguna": _slides(4, first_full=True, optional=True),
        "llama4": _slides(4, default=8192, fixed=8192),
        "maple": _slides(),
        "mellum": _slides(4, optional=True),
        "mimo2": _slides(),
        "muse-glimmer": _slides(4),
        "olmo2": _slides(4, optional=True),
        "plamo3": _slides(8, optional=True),
        "smallthinker": _slides(4, first_full=True, fixed=4096, optional=True),
        "step35": _slides(),
        "mamba": Traits(state=StateRule.ALL, state_kind="mamba"),
        "mamba2": Traits(state=StateRule.ALL, state_kind="mamba2"),
        "rwkv6": _RWKV,
        "rwkv6qwen2": replace(_RWKV, gated=True),
        "rwkv7": _RWKV,
        "arwkv7": replace(_RWKV, gated=True),
        "falcon-h1": Traits(state=StateRule.BESIDE, state_kind="mamba2"),
        "granitehybrid": Traits(state=StateRule.NO_KV_HEADS, state_kind="mamba2"),
        "jamba": Traits(state=StateRule.NO_KV_HEADS, state_kind="mamba"),
        "kimi-linear": _KIMI,
        "lfm2": replace(_SHORT, windows=Windows(0, optional=True)),
        "lfm2moe": _SHORT,
        "minimax-01": Traits(state=StateRule.INTERVAL, state_kind="lightning", interval=8),
        "nemotron_h": _NEMOTRON_H,
        "nemotron_h_moe": _NEMOTRON_H,
        "plamo2": Traits(state=StateRule.NO_KV_HEADS, state_kind="mamba2"),
        "qwen35": _DELTA,
        "qwen35moe": _DELTA,
        "qwen3next": _DELTA,
        "bert": _EMBEDS,
        "gemma-embedding": replace(_DIFFUSES, windows=Windows(6)),
        "jina-bert-v2": _DIFFUSES,
        "jina-bert-v3": _EMBEDS,
        "modern-bert": replace(_DIFFUSES, windows=Windows(3, first_full=True, optional=True)),
        "neo-bert": _DIFFUSES,
        "nomic-bert": _DIFFUSES,
        "nomic-bert-moe": _EMBEDS,
        "dream": _DIFFUSES,
        "llada": _DIFFUSES,
        "llada-moe": _DIFFUSES,
        "rnd1": _DIFFUSES,
    }
)
