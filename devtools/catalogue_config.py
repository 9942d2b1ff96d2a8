"""The layers of a model, rebuilt from its config.json, for the kinds of model in the packages."""

from collections.abc import Callable, Mapping
from typing import Any

from desktop.records.model import Attention, LayerGroup, Recurrent
from devtools.catalogue_packages import Config

Layer = Mapping[str, Any]
"""The fields of a `LayerGroup`, without the number of layers and their indices."""


def groups_of(config: Config) -> tuple[LayerGroup, ...] | None:
    """Its layer groups, each with its indices; None for a kind that is not known here."""
    layer = _LAYERS.get(config["model_type"])
    if layer is None:
        return None
    kinds: list[tuple[Layer, list[int]]] = []
    for i in range(config["num_hidden_layers"]):
        fields = layer(config, i)
        known = next((indices for kind, indices in kinds if kind == fields), None)
        if known is None:
            kinds.append((fields, [i]))
        else:
            known.append(i)
    return tuple(LayerGroup(layers=len(ix), indices=tuple(ix), **kind) for kind, ix in kinds)


def _full(config: Config, kv_heads: int | None = None, size: int | None = None) -> Layer:
    heads = config["num_attention_heads"]
    size = size or config.get("head_dim") or config["hidden_size"] // heads
    return {
        "attention": Attention.FULL, "heads": heads,
        "kv_heads": kv_heads or config["num_key_value_heads"],
        "key_size": size, "value_size": size,
    }  # fmt: skip


def _sliding(config: Config, window: int) -> Layer:
    return {**_full(config), "attention": Attention.SLIDING, "window": window}


def _latent(config: Config) -> Layer:
    """llama.cpp keeps the compressed vector once for all heads."""
    rope = config["qk_rope_head_dim"]
    return {
        "attention": Attention.LATENT, "heads": config["num_attention_heads"], "kv_heads": 1,
        "key_size": config["qk_nope_head_dim"] + rope, "value_size": config["v_head_dim"],
        "latent_size": config["kv_lora_rank"], "rope_size": rope,
        "query_latent_size": config["q_lora_rank"],
    }  # fmt: skip


def _experts(config: Config, width: int, shared: int | None = None) -> Layer:
    """Experts go by five names."""
    counts = ("num_experts", "num_local_experts", "n_routed_experts")
    return {
        "experts": next(config[name] for name in counts if config.get(name)),
        "experts_used": config.get("num_experts_per_tok") or config["top_k_experts"],
        "expert_feed_forward": width,
        **({"shared_feed_forward": shared} if shared else {}),
    }


def _dense(config: Config) -> Layer:
    return {"feed_forward": config["intermediate_size"]}


def _llama(config: Config, _: int) -> Layer:
    return {**_full(config), **_dense(config)}


def _mixtral(config: Config, _: int) -> Layer:
    return {**_full(config), **_experts(config, config["intermediate_size"])}


def _qwen3_moe(config: Config, _: int) -> Layer:
    return {**_full(config), **_experts(config, config["moe_intermediate_size"])}


def _llama4(config: Config, i: int) -> Layer:
    """Every fourth layer sees all tokens; dense layers stand between those with experts."""
    attention = _full(config) if i % 4 == 3 else _sliding(config, config["attention_chunk_size"])  # noqa: PLR2004
    if (i + 1) % config["interleave_moe_layer_step"]:
        return {**attention, "feed_forward": config["intermediate_size_mlp"]}
    return {**attention, **_experts(config, *[config["intermediate_size"]] * 2)}


def _deepseek(config: Config, i: int) -> Layer:
    if i < config["first_k_dense_replace"]:
        return {**_latent(config), **_dense(config)}
    width = config["moe_intermediate_size"]
    return {**_latent(config), **_experts(config, width, width * config["n_shared_experts"])}


def _gpt_oss(config: Config, i: int) -> Layer:
    slides = config["layer_types"][i] == "sliding_attention"
    attention = _sliding(config, config["sliding_window"]) if slides else _full(config)
    return {**attention, **_experts(config, config["intermediate_size"])}


def _gemma4(config: Config, i: int) -> Layer:
    slides = config["layer_types"][i] == "sliding_attention"
    full = _full(config, config["num_global_key_value_heads"], config["global_head_dim"])
    attention = _sliding(config, config["sliding_window"]) if slides else full
    experts = config.get("enable_moe_block")
    mixture = _experts(config, config["moe_intermediate_size"]) if experts else {}
    return {**attention, **_dense(config), **mixture}


def _qwen35(config: Config, i: int) -> Layer:
    full = config["layer_types"][i] == "full_attention"
    attention = _full(config) if full else _delta_net(config)
    if not config.get("num_experts"):
        return {**attention, **_dense(config)}
    width, shared = config["moe_intermediate_size"], config["shared_expert_intermediate_size"]
    return {**attention, **_experts(config, width, shared)}


def _delta_net(config: Config) -> Layer:
    heads = config["linear_num_value_heads"]
    state = Recurrent(
        kind="gated_delta_net",
        conv_kernel=config["linear_conv_kernel_dim"],
        inner_size=heads * config["linear_value_head_dim"],
        state_size=config["linear_key_head_dim"],
        groups=config["linear_num_key_heads"],
        time_step_rank=heads,
    )
    return {"attention": Attention.RECURRENT, "recurrent": state}


def _nemotron_h(config: Config, i: int) -> Layer:
    """A letter a layer: M Mamba 2, E experts, * attention, - feed-forward."""
    width = config["moe_intermediate_size"]
    shared = config["moe_shared_expert_intermediate_size"]
    none = {"attention": Attention.NONE, "gated": False}
    kinds: Mapping[str, Layer] = {
        "M": {"attention": Attention.RECURRENT, "recurrent": _mamba2(config)},
        "E": {**none, **_experts(config, width, shared)},
        "*": _full(config),
        "-": {**none, **_dense(config)},
    }
    return kinds[config["hybrid_override_pattern"][i]]


def _mamba2(config: Config) -> Recurrent:
    heads = config["mamba_num_heads"]
    return Recurrent(
        kind="mamba2",
        conv_kernel=config["conv_kernel"],
        inner_size=heads * config["mamba_head_dim"],
        state_size=config["ssm_state_size"],
        groups=config["n_groups"],
        time_step_rank=heads,
    )


def _nemotron_nas(config: Config, i: int) -> Layer:
    """Layers were searched for: some have no attention, and widths differ by a factor."""
    block, heads = config["block_configs"][i], config["num_attention_heads"]
    width = int(2 * block["ffn"]["ffn_mult"] * config["hidden_size"] / 3)
    dense = {"feed_forward": -(-width // 256) * 256}
    if block["attention"]["no_op"]:
        return {"attention": Attention.NONE, **dense}
    return {**_full(config, heads // block["attention"]["n_heads_in_group"]), **dense}


_LAYERS: Mapping[str, Callable[[Config, int], Layer]] = {
    "llama": _llama,
    "qwen3": _llama,
    "mixtral": _mixtral,
    "minimax_m2": _mixtral,
    "qwen3_moe": _qwen3_moe,
    "qwen3_vl_text": _llama,
    "qwen3_vl_moe_text": _qwen3_moe,
    "llama4_text": _llama4,
    "deepseek_v3": _deepseek,
    "kimi_k2": _deepseek,
    "gpt_oss": _gpt_oss,
    "gemma4_text": _gemma4,
    "qwen3_5_text": _qwen35,
    "qwen3_5_moe_text": _qwen35,
    "nemotron_h": _nemotron_h,
    "nemotron-nas": _nemotron_nas,
}
