"""What a token reads of a model's weights: by the tensors, for any file."""

import math

import pytest

from desktop.estimate.sizes import from_header, totals, weights_of
from desktop.records.build import Header, TensorInfo
from desktop.records.model import Attention, LayerGroup, Model, Quant, Recurrent, WeightUse
from desktop.rules.ceiling import active_bytes
from desktop.rules.ggml_types import size_bytes
from desktop.rules.tensor_shapes import tensors_of
from desktop.rules.weight_parts import parts_of_header, use_of

BF16 = Quant("bf16", "BF16", "bf16", 16.0, "excellent", 100, "BF16")
Q4_K_M = Quant("q4_k_m", "Q4_K_M", "gguf_kquant", 4.8944, "good", 74, "Q4_K_M")
Q5_K_M = Quant("q5_k_m", "Q5_K_M", "gguf_kquant", 5.7036, "good", 86, "Q5_K_M")


def file_of(architecture, shapes, **metadata):
    tensors = tuple(
        TensorInfo(name, shape, "F16", 0, size_bytes("F16", math.prod(shape)))
        for name, shape in shapes.items()
    )
    told = {f"{architecture}.{key}": value for key, value in metadata.items()}
    return Header(3, {"general.architecture": architecture} | told, tensors)


QWEN3_30B_A3B = Model(
    "qwen3-30b-a3b", "Qwen3 30B A3B", "qwen3moe", 30_532_122_624, 2048, 151_936,
    (LayerGroup(48, Attention.FULL, heads=32, kv_heads=4, key_size=128, value_size=128,
                experts=128, experts_used=8, expert_feed_forward=768),),
    tied=False, active_parameters=3_345_000_000,
)  # fmt: skip
_EXPERTS = {
    "experts": 512, "experts_used": 10, "expert_feed_forward": 512, "shared_feed_forward": 512,
}  # fmt: skip
QWEN3_CODER_NEXT = Model(
    "qwen3-coder-next", "Qwen3 Coder Next", "qwen3next", 79_674_391_296, 2048, 151_936,
    (LayerGroup(36, Attention.RECURRENT, tuple(i for i in range(48) if i % 4 != 3),
                recurrent=Recurrent("gated_delta_net", 4, 4096, 128, 16, 32), **_EXPERTS),
     LayerGroup(12, Attention.FULL, tuple(range(3, 48, 4)), heads=16, kv_heads=2, key_size=256,
                value_size=256, **_EXPERTS)),
    tied=False, active_parameters=3_000_000_000,
)  # fmt: skip


def test_c01_a_mixture_holds_all_its_experts_and_reads_the_used_ones():
    """Public case C01: Qwen3 30B, 472 tok/s predicted and 150 to 180 measured.

    Held are 30.5 B parameters; read are 3.03 B, and neither the total nor the name's 3 B.
    """
    weights = weights_of(QWEN3_30B_A3B, Q5_K_M)
    experts = [part for part in weights.parts if part.use is WeightUse.EXPERTS]
    assert sum(p.active_bytes for p in experts) * 16 == sum(p.bytes for p in experts)
    held, read = totals(QWEN3_30B_A3B, BF16)
    assert held / 2 == pytest.approx(30.53e9, rel=0.001)
    assert read / 2 == pytest.approx(3.03e9 + 2 * 12.6e6, rel=0.002)  # routers are F32
    assert weights.active_bytes == pytest.approx(2.21e9, rel=0.01)
    assert weights.capacity_bytes == pytest.approx(21.7e9, rel=0.01)


def test_c04_shared_and_recurrent_parts_are_read_whole():
    """Public case C04: Qwen3-Coder-Next, 28.3 tok/s predicted of 3 B, 10.3 measured.

    The tensors tell 3.57 B read for a token, without the embedding lookup. The report's own 5.46 B
    is no count: it is 5 % of all parameters, and 10 ÷ 512 of the rest.
    """
    elements = sum(math.prod(shape) for _, shape in tensors_of(QWEN3_CODER_NEXT))
    assert elements == pytest.approx(79.67e9, rel=0.001)
    weights = weights_of(QWEN3_CODER_NEXT, BF16)
    read = dict.fromkeys(WeightUse, 0)
    for part in weights.parts:
        wide = 4 if part.type == "F32" else 2
        read[part.use] += part.active_bytes // wide
    assert read[WeightUse.EXPERTS] == 48 * 10 * 3 * 2048 * 512
    assert read[WeightUse.FEED_FORWARD] == 48 * 3 * 2048 * 512
    assert read[WeightUse.EMBEDDING] == 0
    assert sum(read.values()) == pytest.approx(3.57e9, rel=0.002)
    report = 0.05 * elements + 0.95 * elements * 10 / 512
    assert report == pytest.approx(5.46e9, rel=0.001)


def test_an_untied_embedding_is_held_and_not_read():
    shapes = {"token_embd.weight": (64, 10), "output.weight": (64, 10)}
    parts = {part.use: part for part in parts_of_header(file_of("llama", shapes))}
    assert (parts[WeightUse.EMBEDDING].bytes, parts[WeightUse.EMBEDDING].active_bytes) == (1280, 0)
    assert parts[WeightUse.OUTPUT].active_bytes == 1280


def test_a_tied_embedding_is_the_output():
    (part,) = parts_of_header(file_of("llama", {"token_embd.weight": (64, 10)}))
    assert (part.use, part.bytes, part.active_bytes) == (WeightUse.OUTPUT, 1280, 1280)


def test_a_mixture_reads_the_used_experts():
    shapes = {
        "blk.0.ffn_up_exps.weight": (64, 32, 8),
        "blk.0.ffn_gate_inp.weight": (64, 8),
        "blk.0.ffn_up_shexp.weight": (64, 32),
        "blk.1.ffn_up_exps.weight": (64, 32, 8),
        "blk.1.ffn_up.3.weight": (64, 32),  # Mixtral of early 2024: a tensor for each expert
    }
    header = file_of("qwen2moe", shapes, expert_count=8, expert_used_count=2)
    read = {(part.use, part.layer): part.active_bytes for part in parts_of_header(header)}
    assert read[WeightUse.EXPERTS, 0] == 64 * 32 * 2 * 2
    assert read[WeightUse.EXPERTS, 1] == 64 * 32 * 2 * 2 + 64 * 32 * 2 // 4
    assert read[WeightUse.FEED_FORWARD, 0] == 64 * 32 * 2
    assert read[WeightUse.OTHER, 0] == 64 * 8 * 2
    assert active_bytes(header) == sum(read.values())


def test_experts_used_may_differ_from_layer_to_layer():
    shapes = {f"blk.{i}.ffn_up_exps.weight": (64, 32, 8) for i in (0, 1)}
    header = file_of("nemotron_h_moe", shapes, expert_count=8, expert_used_count=(2, 4))
    assert [part.active_bytes for part in parts_of_header(header)] == [8192, 16384]


@pytest.mark.parametrize("used", [None, 0, -1, 9, "8", True, (2,), 2.0])
def test_a_mixture_that_does_not_tell_has_no_answer(used):
    shapes = {"blk.1.ffn_up_exps.weight": (64, 32, 8), "token_embd.weight": (64, 10)}
    metadata = {} if used is None else {"expert_used_count": used}
    header = file_of("qwen2moe", shapes, expert_count=8, **metadata)
    assert parts_of_header(header) is None
    assert active_bytes(header) is None


def test_layers_for_drafting_are_not_loaded():
    shapes = {f"blk.{i}.ffn_up.weight": (64, 32) for i in range(3)}
    header = file_of("glm4moe", shapes, block_count=3, nextn_predict_layers=1)
    assert [part.layer for part in parts_of_header(header)] == [0, 1]
    nonsense = file_of("glm4moe", shapes, block_count=3, nextn_predict_layers=3)
    assert len(parts_of_header(nonsense)) == 3


def test_layers_that_share_a_cache_do_not_read_their_own_keys():
    shapes = {f"blk.{i}.attn_{name}.weight": (64, 32) for i in range(3) for name in "qkv"}
    header = file_of("gemma4", shapes, block_count=3, **{"attention.shared_kv_layers": 1})
    assert [part.active_bytes for part in parts_of_header(header)] == [12288, 12288, 4096]


def test_per_layer_tables_are_lookups():
    shapes = {"token_embd.weight": (64, 10), "per_layer_token_embd.weight": (640, 10)}
    parts = {part.use: part.active_bytes for part in parts_of_header(file_of("gemma3n", shapes))}
    assert parts == {WeightUse.OUTPUT: 1280, WeightUse.EMBEDDING: 0}


@pytest.mark.parametrize("prefix", ["v.", "a.", "mm.", "enc.", "nextn.", "cls.", "dense_"])
def test_what_is_not_read_for_each_token(prefix):
    """Projectors, encoders, drafting, what follows an embedding: a ceiling must not be too low."""
    (part,) = parts_of_header(file_of("t5", {f"{prefix}blk.0.attn_q.weight": (64, 32)}))
    assert (part.use, part.bytes, part.active_bytes) == (WeightUse.OTHER, 4096, 0)


def test_recurrent_parts_are_told_by_their_layer():
    shapes = {
        "blk.0.attn_qkv.weight": (64, 32), "blk.0.ssm_out.weight": (64, 32),
        "blk.1.attn_qkv.weight": (64, 32),
    }  # fmt: skip
    uses = {(part.layer, part.use) for part in parts_of_header(file_of("qwen35", shapes))}
    assert uses == {(0, WeightUse.RECURRENT), (1, WeightUse.ATTENTION)}


def test_absurd_headers_cost_no_memory():
    shapes = {"blk.999999.attn_k.weight": (64, 32)}
    for shared in (-(1 << 60), 1 << 60):
        header = file_of(
            "gemma4", shapes, block_count=1 << 60, **{"attention.shared_kv_layers": shared}
        )
        assert len(parts_of_header(header)) == 1


def test_uses_by_name():
    names = {
        "attn_norm.weight": WeightUse.OTHER, "attn_q_a.weight": WeightUse.ATTENTION,
        "ffn_gate_inp.weight": WeightUse.OTHER, "ffn_down_exps.weight": WeightUse.EXPERTS,
        "ffn_down_shexp.weight": WeightUse.FEED_FORWARD, "shortconv.in_proj.weight":
        WeightUse.RECURRENT, "exp_probs_b.bias": WeightUse.OTHER,
    }  # fmt: skip
    assert {name: use_of(name, vector=False, recurrent=False) for name in names} == names


def test_a_header_and_the_rule_agree():
    """The same tensors, once as a file and once from the facts."""
    tensors = tensors_of(QWEN3_30B_A3B)
    wide = {name: 1 if ".ffn_gate_inp" in name or len(s) == 1 else 0 for name, s in tensors}
    kinds = ("BF16", "F32")
    infos = tuple(
        TensorInfo(n, s, kinds[wide[n]], 0, size_bytes(kinds[wide[n]], math.prod(s)))
        for n, s in tensors
    )
    metadata = {"general.architecture": "qwen3moe", "qwen3moe.block_count": 48,
                "qwen3moe.expert_count": 128, "qwen3moe.expert_used_count": 8}  # fmt: skip
    found = from_header(Header(3, metadata, infos))
    rule = weights_of(QWEN3_30B_A3B, BF16)
    assert sorted(found.parts, key=str) == sorted(rule.parts, key=str)
