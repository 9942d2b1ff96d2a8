"""Which tensors a layer of each architecture has, as llama.cpp names them: data, read as text.

A line names a tensor and its measures, fastest first; `tensor_shapes` knows what each letter is.
Source: the loaders in src/models of llama.cpp, as of llama-cpp-python 0.3.36; optional tensors are
those that the published models have. Tables of RoPE factors (some hundred bytes) are left out
where they are optional.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

NORMS: Final = "attn_norm.weight n; ffn_norm.weight n; "
POST_NORM: Final = "attn_norm.weight n; post_attention_norm.weight n; "
POST_NORMS: Final = "post_attention_norm.weight n; post_ffw_norm.weight n; "
SANDWICH: Final = NORMS + POST_NORMS

OUT: Final = "attn_output.weight o n; "
SEPARATE: Final = "attn_q.weight n q; attn_k.weight n k; attn_v.weight n v; " + OUT
FUSED: Final = "attn_qkv.weight n qkv; " + OUT
BIASES: Final = "attn_q.bias q; attn_k.bias k; attn_v.bias v; "
HEAD_NORMS: Final = "attn_q_norm.weight e; attn_k_norm.weight e; "
NORMS_PER_HEAD: Final = "attn_q_norm.weight e h; attn_k_norm.weight e hk; "
NORMS_PER_HEAD_FROM: Final = 64
"""Layers, of Command R."""
WIDE_NORMS: Final = "attn_q_norm.weight q; attn_k_norm.weight k; "
GATED_QUERY: Final = SEPARATE.replace("n q;", "n 2q;") + HEAD_NORMS

LATENT_QUERY: Final = "attn_q_a.weight n a; attn_q_a_norm.weight a; attn_q_b.weight a q; "
PLAIN_QUERY: Final = "attn_q.weight n q; "
LATENT: Final = (
    "attn_kv_a_mqa.weight n lr; attn_kv_a_norm.weight l; attn_k_b.weight en l h; "
    "attn_v_b.weight l ev h; " + OUT
)

GATED: Final = "ffn_gate.weight n f; ffn_up.weight n f; ffn_down.weight f n; "
PLAIN: Final = "ffn_up.weight n f; ffn_down.weight f n; "
PAIRED: Final = "ffn_up.weight n 2f; ffn_down.weight f n; "
"""The gate and up in one."""
ROUTER: Final = "ffn_gate_inp.weight n x; "
BIASED_ROUTER: Final = ROUTER + "exp_probs_b.bias x; "
STACK: Final = "ffn_gate_exps.weight n xf x; ffn_up_exps.weight n xf x; ffn_down_exps.weight xf n x"
PLAIN_STACK: Final = "ffn_up_exps.weight n xf x; ffn_down_exps.weight xf n x"
EXPERTS: Final = ROUTER + STACK
BIASED_EXPERTS: Final = BIASED_ROUTER + STACK
SHARED: Final = "ffn_gate_shexp.weight n s; ffn_up_shexp.weight n s; ffn_down_shexp.weight s n; "
PLAIN_SHARED: Final = "ffn_up_shexp.weight n s; ffn_down_shexp.weight s n; "
GATED_SHARED: Final = SHARED + "ffn_gate_inp_shexp.weight n; "

MAMBA: Final = (
    "ssm_in.weight n 2d; ssm_conv1d.weight c d; ssm_conv1d.bias d; ssm_x.weight d r2t; "
    "ssm_dt.weight r d; ssm_dt.bias d; ssm_a t d; ssm_d d; ssm_out.weight d n; "
)
MAMBA2: Final = (
    "ssm_in.weight n dz; ssm_conv1d.weight c dc; ssm_conv1d.bias dc; ssm_dt.bias r; ssm_a 1 r; "
    "ssm_d 1 r; ssm_out.weight d n; "
)
MAMBA2_NORM: Final = "ssm_norm.weight dg g; "
DELTA: Final = (
    "attn_qkv.weight n kkv; attn_gate.weight n tr; ssm_conv1d.weight c kkv; ssm_dt.bias r; "
    "ssm_a r; ssm_norm.weight t; ssm_out.weight tr n; "
)
SHORT_CONV: Final = (
    "shortconv.conv.weight c n; shortconv.in_proj.weight n 3n; shortconv.out_proj.weight n n; "
)

PER_LAYER: Final = "inp_gate.weight n p; proj.weight p n; post_norm.weight n; "
PER_LAYER_TABLES: Final = (
    "per_layer_token_embd.weight pl V; per_layer_model_proj.weight n pl; "
    "per_layer_proj_norm.weight p; "
)
GEMMA_3N_LAYER: Final = (
    "altup_correct_coef.weight 4 4; altup_correct_scale.weight n; altup_predict_coef.weight 4 16; "
    "altup_router.weight n 4; altup_router_norm.weight n; laurel_l.weight n 64; "
    "laurel_r.weight 64 n; laurel_post_norm.weight n; "
)
GEMMA_3N_TABLES: Final = "altup_proj.weight n n 3; altup_unembd_proj.weight n n 3; "
GEMMA_4_EXPERTS: Final = (
    "ffn_gate_inp.weight n x; ffn_gate_inp.scale n; pre_ffw_norm_2.weight n; "
    "post_ffw_norm_1.weight n; post_ffw_norm_2.weight n; ffn_gate_up_exps.weight n 2xf x; "
    "ffn_down_exps.weight xf n x; ffn_down_exps.scale x; "
)
GPT_OSS_BIASES: Final = (
    "; ffn_gate_inp.bias x; ffn_gate_exps.bias xf x; ffn_up_exps.bias xf x; ffn_down_exps.bias n x"
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The tensors of an architecture; a part is there where a layer's facts call for it."""

    layer: str = NORMS
    """In every layer."""
    attention: str = SEPARATE
    recurrent: str = ""
    dense: str = GATED
    experts: str = EXPERTS
    shared: str = SHARED
    per_layer: str = ""
    """In every layer of a model with per-layer embeddings."""
    outside: str = "output_norm.weight n; "
    """Outside the layers, besides the embedding and the output matrix."""
    tables: str = ""
    """Outside the layers, of a model with per-layer embeddings."""


_LLAMA: Final = Recipe()
_QWEN2: Final = Recipe(attention=SEPARATE + BIASES, shared=GATED_SHARED)
_QWEN3: Final = Recipe(attention=SEPARATE + HEAD_NORMS)
_QWEN35: Final = Recipe(
    POST_NORM, GATED_QUERY, DELTA + "ssm_alpha.weight n r; ssm_beta.weight n r; ",
    shared=GATED_SHARED,
)  # fmt: skip
_DEEPSEEK2: Final = Recipe(experts=BIASED_EXPERTS)
_GRANITE: Final = Recipe(recurrent=MAMBA2 + MAMBA2_NORM)
_LFM2: Final = Recipe(
    attention=SEPARATE + HEAD_NORMS, recurrent=SHORT_CONV, experts=BIASED_EXPERTS,
    outside="token_embd_norm.weight n; ",
)  # fmt: skip
_NEMOTRON_H: Final = Recipe(
    "attn_norm.weight n; ", recurrent=MAMBA2 + MAMBA2_NORM, dense=PLAIN,
    experts=BIASED_ROUTER + PLAIN_STACK, shared=PLAIN_SHARED,
)  # fmt: skip
_NORMED_HEADS: Final = Recipe(attention=SEPARATE + HEAD_NORMS, experts=BIASED_EXPERTS)

RECIPES: Final[Mapping[str, Recipe]] = MappingProxyType(
    {
        "llama": _LLAMA,
        "llama4": _LLAMA,
        "mistral3": _LLAMA,
        "qwen2": _QWEN2,
        "qwen2vl": _QWEN2,
        "qwen2moe": _QWEN2,
        "qwen3": _QWEN3,
        "qwen3vl": _QWEN3,
        "qwen3moe": _QWEN3,
        "qwen3vlmoe": _QWEN3,
        "qwen3next": Recipe(
            POST_NORM, GATED_QUERY, DELTA + "ssm_ba.weight n 2r; ", shared=GATED_SHARED
        ),
        "qwen35": _QWEN35,
        "qwen35moe": _QWEN35,
        "gemma": _LLAMA,
        "gemma2": Recipe(SANDWICH),
        "gemma3": Recipe(SANDWICH, SEPARATE + HEAD_NORMS),
        "gemma3n": Recipe(
            SANDWICH + GEMMA_3N_LAYER, SEPARATE + HEAD_NORMS, per_layer=PER_LAYER,
            outside="output_norm.weight n; " + GEMMA_3N_TABLES, tables=PER_LAYER_TABLES,
        ),
        "gemma4": Recipe(
            SANDWICH + "layer_output_scale.weight 1; ", SEPARATE + HEAD_NORMS,
            experts=GEMMA_4_EXPERTS, per_layer=PER_LAYER, tables=PER_LAYER_TABLES,
            outside="output_norm.weight n; rope_freqs.weight eh; ",
        ),
        "phi3": Recipe(attention=FUSED, dense=PAIRED),
        "phimoe": Recipe(
            NORMS + "attn_norm.bias n; ffn_norm.bias n; ",
            SEPARATE + BIASES + "attn_output.bias n; ",
            outside="output_norm.weight n; output_norm.bias n; output.bias V; ",
        ),
        "phi2": Recipe(
            "attn_norm.weight n; attn_norm.bias n; ",
            SEPARATE + BIASES + "attn_output.bias n; ",
            dense=PLAIN + "ffn_up.bias f; ffn_down.bias n; ",
            outside="output_norm.weight n; output_norm.bias n; output.bias V; ",
        ),
        "deci": Recipe("", "attn_norm.weight n; " + SEPARATE, dense="ffn_norm.weight n; " + GATED),
        "gpt-oss": Recipe(
            POST_NORM, SEPARATE + BIASES + "attn_output.bias n; attn_sinks.weight h; ",
            experts=EXPERTS + GPT_OSS_BIASES,
        ),
        "deepseek2": _DEEPSEEK2,
        "deepseek": _LLAMA,
        "chatglm": Recipe(attention=FUSED + "attn_qkv.bias qkv; ", dense=PAIRED),
        "glm4": Recipe(SANDWICH, dense=PAIRED),
        "glm4moe": Recipe(POST_NORM, SEPARATE + BIASES, experts=BIASED_EXPERTS),
        "granite": _GRANITE,
        "granitemoe": _GRANITE,
        "granitehybrid": _GRANITE,
        "lfm2": _LFM2,
        "lfm2moe": _LFM2,
        "smollm3": _LLAMA,
        "olmo2": Recipe(POST_NORMS, SEPARATE + WIDE_NORMS),
        "olmoe": Recipe(attention=SEPARATE + WIDE_NORMS),
        "command-r": Recipe("attn_norm.weight n; "),
        "cohere2": Recipe("attn_norm.weight n; "),
        "cohere2moe": Recipe("attn_norm.weight n; "),
        "nemotron": Recipe(
            NORMS + "attn_norm.bias n; ffn_norm.bias n; ", dense=PLAIN,
            outside="output_norm.weight n; output_norm.bias n; ",
        ),
        "nemotron_h": _NEMOTRON_H,
        "nemotron_h_moe": _NEMOTRON_H,
        "mamba": Recipe("attn_norm.weight n; ", recurrent=MAMBA),
        "mamba2": Recipe("attn_norm.weight n; ", recurrent=MAMBA2 + MAMBA2_NORM),
        "jamba": Recipe(
            recurrent=MAMBA
            + "ssm_dt_norm.weight r; ssm_b_norm.weight t; ssm_c_norm.weight t; "
        ),
        "falcon-h1": Recipe("attn_norm.weight n; ffn_norm n; ", recurrent=MAMBA2),
        "exaone": _LLAMA,
        "exaone4": Recipe(POST_NORMS, SEPARATE + HEAD_NORMS),
        "exaone-moe": _NORMED_HEADS,
        "ernie4_5": _LLAMA,
        "ernie4_5-moe": Recipe(experts=BIASED_EXPERTS),
        "hunyuan-dense": _QWEN3,
        "hunyuan-moe": _QWEN3,
        "minimax-m2": Recipe(attention=SEPARATE + WIDE_NORMS, experts=BIASED_EXPERTS),
        "bailingmoe2": Recipe(attention=FUSED + HEAD_NORMS, experts=BIASED_EXPERTS),
        "dots1": _NORMED_HEADS,
        "seed_oss": Recipe(POST_NORM, SEPARATE + BIASES),
        "internlm2": _LLAMA,
        "minicpm": _LLAMA,
        "smallthinker": _LLAMA,
        "stablelm": Recipe(
            NORMS + "attn_norm.bias n; ffn_norm.bias n; ",
            outside="output_norm.weight n; output_norm.bias n; ",
        ),
        "starcoder2": Recipe(
            NORMS + "attn_norm.bias n; ffn_norm.bias n; ",
            SEPARATE + BIASES + "attn_output.bias n; ",
            dense=PLAIN + "ffn_up.bias f; ffn_down.bias n; ",
            outside="output_norm.weight n; output_norm.bias n; ",
        ),
        "apertus": Recipe(attention=SEPARATE + HEAD_NORMS, dense=PLAIN),
        "arcee": Recipe(dense=PLAIN),
        "afmoe": Recipe(
            SANDWICH, SEPARATE + HEAD_NORMS + "attn_gate.weight n q; ", experts=BIASED_EXPERTS
        ),
        "step35": Recipe(
            attention=SEPARATE + HEAD_NORMS + "attn_gate.weight n h; ", experts=BIASED_EXPERTS
        ),
    }
)  # fmt: skip
"""By GGUF's name of the architecture; one that is not here is not covered."""
