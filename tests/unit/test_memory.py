"""The memory estimate."""

import pytest

from desktop.builds.header import read_header
from desktop.builds.synthetic import SMOLLM2_135M, make_synthetic
from desktop.errors import GramError
from desktop.estimate.memory import OVERHEAD_BYTES, MemoryNeed, memory_need, shortfall
from desktop.records.build import Header, TensorInfo

LOGITS = 512 * 4


def header(tensors=(), **keys) -> Header:
    metadata = {"general.architecture": "llama"}
    metadata |= {f"llama.{key.replace('__', '.')}": value for key, value in keys.items()}
    return Header(3, metadata, tuple(tensors))


def attention(**keys):
    base = {"block_count": 4, "embedding_length": 64, "attention__head_count": 8}
    return header(**(base | keys))


def test_the_reference_shapes(tmp_path):
    make_synthetic(tmp_path / "a.gguf", SMOLLM2_135M)
    need = memory_need(read_header(tmp_path / "a.gguf"), 512)
    assert need.weights_bytes == 96_576_768
    assert need.kv_cache_bytes == 30 * 3 * (64 + 64) * 2 * 512
    assert need.overhead_bytes == OVERHEAD_BYTES + 49_152 * LOGITS


def test_without_kv_heads_all_heads_count():
    assert memory_need(attention(), 256).kv_cache_bytes == 4 * 8 * (8 + 8) * 2 * 256


def test_kv_heads_and_lengths():
    keys = {
        "attention__head_count_kv": 2,
        "attention__key_length": 16,
        "attention__value_length": 4,
    }
    assert memory_need(attention(**keys), 256).kv_cache_bytes == 4 * 2 * 20 * 2 * 256


def test_kv_heads_by_layer():
    need = memory_need(attention(attention__head_count_kv=(2, 0, 1, 0)), 256)
    assert need.kv_cache_bytes == 3 * 16 * 2 * 256


@pytest.mark.parametrize(
    "keys",
    [
        {"attention__head_count_kv": (2, 2)},
        {"attention__head_count_kv": (2, 2, 2, "x")},
        {"attention__head_count_kv": (2, 2, 2, 1 << 40)},
    ],
)
def test_nonsense_by_layer_is_not_used(keys):
    assert memory_need(attention(**keys), 256).kv_cache_bytes is None


def test_unknown_is_none():
    assert memory_need(header(), 256).kv_cache_bytes is None
    assert memory_need(header(block_count=1 << 40), 256).kv_cache_bytes is None
    assert memory_need(header(block_count=2), 256).kv_cache_bytes is None
    need = memory_need(header([TensorInfo("a", (32,), "Q4_0", 0, 18)]), 256)
    assert need == MemoryNeed(18, None, OVERHEAD_BYTES)
    assert need.known_bytes == 18 + OVERHEAD_BYTES


def test_the_engine_rounds_the_context_up():
    assert memory_need(attention(), 1) == memory_need(attention(), 256)
    assert memory_need(attention(), 257) == memory_need(attention(), 512)


def test_the_output_matrix_decides_the_logits():
    tensors = [
        TensorInfo("token_embd.weight", (64, 10), "F16", 0, 1280),
        TensorInfo("output.weight", (64, 30), "F16", 1280, 3840),
    ]
    assert memory_need(header(tensors), 256).overhead_bytes == OVERHEAD_BYTES + 30 * LOGITS


@pytest.mark.parametrize("n_ctx", [0, -1, (1 << 24) + 1])
def test_absurd_contexts(n_ctx):
    with pytest.raises(GramError) as caught:
        memory_need(attention(), n_ctx)
    assert caught.value.code == "bad_number"
    assert str(n_ctx) in str(caught.value)


def test_shortfall():
    need = MemoryNeed(100, 20, 3)
    assert shortfall(need, 123) is None
    assert shortfall(need, 100) == 23
    assert shortfall(MemoryNeed(100, None, 3), 100) == 3
