"""A small model of each architecture that the tensors' table covers: for checks with the engine.

Their widths are either whole (rows of 256) or odd (rows that no block of 256, or none at all,
fills), so that the quantizer's fallbacks are met too.
"""

from dataclasses import replace
from typing import Final

from desktop.records.model import Attention, LayerGroup, Model, Recurrent
from desktop.rules.tensor_table import RECIPES

LAYERS: Final = 24
_TIED: Final = frozenset({"gemma", "gemma2", "gemma3", "gemma3n", "gemma4", "command-r", "cohere2"})
_MIXTURES: Final = frozenset(
    {"llama4", "qwen2moe", "qwen3moe", "qwen3vlmoe", "qwen3next", "qwen35moe", "phimoe", "gpt-oss",
     "deepseek", "deepseek2", "glm4moe", "granitemoe", "lfm2moe", "olmoe", "cohere2moe",
     "nemotron_h_moe", "exaone-moe", "ernie4_5-moe", "hunyuan-moe", "minimax-m2", "bailingmoe2",
     "dots1", "smallthinker", "afmoe", "step35"}
)  # fmt: skip
_SHARED: Final = frozenset(
    {"llama4", "qwen2moe", "qwen3next", "qwen35moe", "deepseek", "deepseek2", "glm4moe",
     "nemotron_h_moe", "exaone-moe", "ernie4_5-moe", "hunyuan-moe", "bailingmoe2", "dots1", "afmoe",
     "step35"}
)  # fmt: skip
_DENSE_FIRST: Final = frozenset(
    {"deepseek", "deepseek2", "glm4moe", "lfm2moe", "exaone-moe", "ernie4_5-moe", "bailingmoe2",
     "dots1", "afmoe", "cohere2moe"}
)  # fmt: skip
_SLIDING: Final = frozenset(
    {"gemma2", "gemma3", "gemma3n", "gemma4", "gpt-oss", "cohere2", "cohere2moe", "exaone-moe",
     "afmoe", "step35", "smallthinker"}
)  # fmt: skip
_ALL_HEADS_KEYED: Final = frozenset({"dots1", "olmoe"})
_PER_LAYER: Final = {"gemma3n": 256, "gemma4": 0}
_PLAIN_RECURRENT: Final = frozenset({"mamba", "mamba2"})
_DELTA: Final = Recurrent("gated_delta_net", 4, None, 64, 2, 4)


def tiny(architecture: str, *, whole: bool = True, experts: int = 16) -> Model:
    """A model of `LAYERS` layers.

    Raises:
        KeyError: the table does not cover the architecture.
    """
    assert architecture in RECIPES, architecture  # noqa: S101 - our own mistake
    hidden = 512 if whole else 288
    attention = LayerGroup(
        LAYERS, Attention.FULL, heads=8, kv_heads=8 if architecture in _ALL_HEADS_KEYED else 2,
        key_size=hidden // 8, value_size=hidden // 8, feed_forward=768 if whole else 336,
    )  # fmt: skip
    groups = _mixed(architecture, _kinds(architecture, attention, hidden), experts)
    return Model(
        id=f"tiny-{architecture}", name=f"Tiny {architecture}", architecture=architecture,
        parameters=1, hidden=hidden, vocabulary=512, groups=groups,
        tied=architecture in _TIED, context_trained=512,
        per_layer_embedding=_PER_LAYER.get(architecture),
    )  # fmt: skip


def _kinds(architecture: str, attention: LayerGroup, hidden: int) -> tuple[LayerGroup, ...]:
    if architecture == "deepseek2":
        return (_latent(attention, hidden),)
    if architecture in _SLIDING:
        window = replace(attention, attention=Attention.SLIDING, window=128)
        return _every(4, window, attention)
    recurrent = _recurrent(architecture, hidden)
    if recurrent is None or architecture == "falcon-h1":
        return (replace(attention, recurrent=recurrent),)
    return _hybrid(
        architecture, attention, LayerGroup(LAYERS, Attention.RECURRENT, recurrent=recurrent)
    )


def _latent(attention: LayerGroup, hidden: int) -> LayerGroup:
    size = hidden // 8
    return replace(
        attention, attention=Attention.LATENT, kv_heads=None, key_size=size + 16,
        value_size=size, latent_size=hidden // 2, rope_size=16, query_latent_size=hidden,
    )  # fmt: skip


def _hybrid(architecture: str, attention: LayerGroup, state: LayerGroup) -> tuple[LayerGroup, ...]:
    if architecture in _PLAIN_RECURRENT:
        return (state,)
    if architecture.startswith("nemotron_h"):
        wide = LayerGroup(LAYERS, Attention.NONE, feed_forward=attention.feed_forward)
        return _three(state, replace(attention, feed_forward=None), wide)
    return _every(4, replace(state, feed_forward=attention.feed_forward), attention)


def _recurrent(architecture: str, hidden: int) -> Recurrent | None:
    if architecture in {"qwen3next", "qwen35", "qwen35moe"}:
        return replace(_DELTA, inner_size=256)
    if architecture.startswith("lfm2"):
        return Recurrent("short_conv", 3)
    if architecture in {"mamba", "jamba"}:
        return Recurrent("mamba", 4, 2 * hidden, 16, None, 32)
    if architecture in {"mamba2", "granitehybrid", "falcon-h1", "nemotron_h", "nemotron_h_moe"}:
        return Recurrent("mamba2", 4, 2 * hidden, 64, 2, 16)
    return None


def _every(step: int, most: LayerGroup, others: LayerGroup) -> tuple[LayerGroup, ...]:
    """`others` in every `step`-th layer."""
    ours = tuple(i for i in range(LAYERS) if i % step == step - 1)
    rest = tuple(i for i in range(LAYERS) if i % step != step - 1)
    return (
        replace(most, layers=len(rest), indices=rest),
        replace(others, layers=len(ours), indices=ours),
    )


def _three(*kinds: LayerGroup) -> tuple[LayerGroup, ...]:
    return tuple(
        replace(kind, layers=LAYERS // 3, indices=tuple(range(i, LAYERS, 3)))
        for i, kind in enumerate(kinds)
    )


def _mixed(
    architecture: str, kinds: tuple[LayerGroup, ...], experts: int
) -> tuple[LayerGroup, ...]:
    """The feed-forward parts turned into experts, where the architecture has them."""
    if architecture not in _MIXTURES:
        return kinds
    mixed = tuple(_mixture(architecture, kind, experts) for kind in kinds)
    if architecture not in _DENSE_FIRST:
        return mixed
    return tuple(part for pair in zip(kinds, mixed, strict=True) for part in _split(*pair))


def _split(dense: LayerGroup, mixed: LayerGroup) -> tuple[LayerGroup, ...]:
    """The first layer dense, the others with experts."""
    indices = dense.indices or tuple(range(LAYERS))
    if indices[0]:
        return (mixed,)
    rest = indices[1:]
    return (
        replace(dense, layers=1, indices=(0,)),
        replace(mixed, layers=len(rest), indices=rest),
    )


def _mixture(architecture: str, kind: LayerGroup, experts: int) -> LayerGroup:
    if not kind.feed_forward:
        return kind
    width = kind.feed_forward // 2
    return replace(
        kind, feed_forward=None, experts=experts, experts_used=2, expert_feed_forward=width,
        shared_feed_forward=width if architecture in _SHARED else None,
    )  # fmt: skip
