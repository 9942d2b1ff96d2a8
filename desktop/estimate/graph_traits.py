"""How the engine's graphs of the architectures differ, where it moves what has to lie in memory.

Source: src/models of the llama.cpp inside llama-cpp-python 0.3.36.
"""

from typing import Final

HEAD_NORMS: Final = frozenset(
    {
        "afmoe", "apertus", "bailingmoe2", "dots1", "exaone-moe", "exaone4", "gemma-embedding",
        "gemma3", "gemma3n", "gemma4", "glm4moe", "grovemoe", "hunyuan-dense", "hunyuan-moe",
        "hunyuan_vl", "hy_v3", "laguna", "lfm2", "lfm2moe", "llada-moe", "maincoder",
        "maple", "mellum", "muse-glimmer", "openelm", "plamo2", "plamo3", "qwen3", "qwen35",
        "qwen35moe", "qwen3moe", "qwen3next", "qwen3vl", "qwen3vlmoe", "rnd1",
    }
)  # fmt: skip
"""Queries and keys have a norm, head by head."""
BIASED_HEADS: Final = frozenset(
    {
        "glm4moe", "gpt-oss", "phi2", "phimoe", "qwen2", "qwen2moe", "qwen2vl", "seed_oss",
        "starcoder2",
    }
)  # fmt: skip
"""Queries, keys and values have biases."""
VALUE_NORMS: Final = frozenset({"gemma3n", "gemma4"})
"""Values have a norm, head by head."""
WIDE_NORMS: Final = frozenset({"minimax-m2", "olmo2", "olmoe", "step35"})
"""Queries and keys have a norm over all heads together."""
ENCODERS: Final = frozenset(
    {"bert", "jina-bert-v2", "jina-bert-v3", "nomic-bert", "nomic-bert-moe"}
)
"""No output matrix; norms stand behind the sums."""
LAYER_NORMS: Final = frozenset(
    {
        "bert", "bloom", "codeshell", "cohere2", "cohere2moe", "command-r", "dbrx", "falcon",
        "gpt2", "gptj", "gptneox", "jais", "jais2", "modern-bert", "mpt", "nemotron", "neo-bert",
        "nomic-bert", "nomic-bert-moe", "olmo", "orion", "phi2", "rwkv6", "rwkv7", "stablelm",
        "starcoder", "starcoder2",
    }
)  # fmt: skip
"""Norms that cannot be computed in place."""
PARALLEL: Final = frozenset(
    {
        "cohere2", "cohere2moe", "command-r", "falcon", "gptj", "gptneox", "phi2",
    }
)  # fmt: skip
"""Attention and the feed-forward part read the same norm."""
BARE: Final = frozenset({"exaone4", "olmo2"})
"""Norms stand behind attention and the feed-forward part, none before."""
SANDWICHED: Final = frozenset(
    {
        "afmoe", "gemma-embedding", "gemma2", "gemma3", "gemma3n", "gemma4", "glm4", "grok",
        "muse-glimmer", "plamo2", "plamo3",
    }
)  # fmt: skip
"""Norms stand before and behind."""
UNROTATED: Final = frozenset(
    {
        "bert", "bloom", "gpt2", "jais", "jamba", "jina-bert-v2", "kimi-linear", "mpt",
        "nemotron_h", "nemotron_h_moe", "refact", "starcoder",
    }
)  # fmt: skip
"""Positions are not turned into rotations of queries and keys."""
UNROTATED_WHERE_FULL: Final = frozenset(
    {"afmoe", "cohere2", "cohere2moe", "exaone-moe", "exaone4", "llama4"}
)
"""They are in sliding layers only."""
RESIDUAL_FIRST: Final = frozenset({"jamba", "lfm2", "lfm2moe"})
"""The sum after attention takes the place of the residual where it can."""
RESIDUAL_FIRST_LATER: Final = frozenset({"jamba", "lfm2", "lfm2moe", "phi3", "phimoe"})
"""The sum after the feed-forward part takes the place of the residual where it can."""
LATE_ROWS: Final = frozenset(
    {
        "cohere2moe", "gemma4", "gpt-oss", "hy_v3", "mimo2", "nemotron_h", "nemotron_h_moe",
        "qwen35", "qwen35moe", "qwen3next", "step35",
    }
)  # fmt: skip
"""The rows that give outputs are picked after the last layer; else in it."""
GATED_QUERIES: Final = frozenset({"qwen35", "qwen35moe", "qwen3next"})
"""Queries come with a gate for what attention gives."""
GATED_VALUES: Final = frozenset({"afmoe"})
"""A gate for what attention gives is a matrix of its own."""
PAIRED: Final = frozenset({"chatglm", "glm4", "phi3"})
"""Gate and up are one matrix."""
PAIRED_EXPERTS: Final = frozenset({"gemma4"})
"""The same of experts."""
SEPARATELY_NORMED: Final = frozenset({"gemma4"})
"""A dense part beside the experts has norms of its own."""
BIASED_ROUTERS: Final = frozenset(
    {
        "afmoe", "bailingmoe2", "deepseek2", "dots1", "ernie4_5-moe", "exaone-moe", "glm-dsa",
        "glm4moe", "kimi-linear", "lfm2", "lfm2moe", "llama4", "minimax-m2", "nemotron_h",
        "nemotron_h_moe", "step35",
    }
)  # fmt: skip
"""Experts are chosen by scores with a bias, and weighed by those without."""
PLAIN_ROUTERS: Final = frozenset(
    {"deepseek", "jamba", "llada-moe", "llama4", "nomic-bert-moe", "olmoe", "qwen2moe"}
)
"""The chosen experts' weights are not normed to a sum of one."""
SCALED_QUERIES: Final = frozenset({"llama4"})
"""Queries of full layers are scaled by position."""
SCALED_EMBEDDING: Final = frozenset(
    {
        "gemma", "gemma-embedding", "gemma2", "gemma3", "gemma3n", "gemma4", "granite",
        "granitehybrid", "granitemoe", "minicpm", "minicpm3",
    }
)  # fmt: skip
"""The embedding is scaled, in place."""
SHARED_GATE: Final = frozenset({"qwen2moe", "qwen35moe", "qwen3next"})
"""The shared expert has a gate of its own."""
MANY_POSITIONS: Final = frozenset({"qwen2vl", "qwen35", "qwen35moe", "qwen3vl", "qwen3vlmoe"})
"""Four positions a token (pictures); the others have one."""
FUSED: Final = frozenset(
    {
        "bailingmoe2", "bloom", "chatglm", "dbrx", "falcon", "gpt2", "gptneox", "jais", "mpt",
        "openelm", "phi3", "plamo2", "qwen", "starcoder",
    }
)  # fmt: skip
"""Queries, keys and values are one product, and what is kept is a part of it."""
UNNORMED_STATES: Final = frozenset({"falcon-h1", "plamo2"})
"""No norm behind Mamba 2's scan."""
