"""The types that llama.cpp's quantizer chooses, against its documentation and against itself."""

import dataclasses
import math

import pytest

from desktop.builds.header import read_header
from desktop.builds.synthetic import SMOLLM2_135M
from desktop.records.model import Attention, LayerGroup, Model
from desktop.rules.ggml_types import FILE_TYPES, size_bytes
from desktop.rules.quant_mix import FILE_TYPES_COVERED, types_of
from desktop.rules.tensor_shapes import tensors_of
from devtools.tiny_models import tiny

CONVERTED = {"F32", "F16", "BF16"}
"""Made by the converter, not by the quantizer."""


def llama(layers, hidden, heads, kv_heads, feed_forward, vocabulary, *, tied=False):
    head = hidden // heads
    group = LayerGroup(
        layers, Attention.FULL, heads=heads, kv_heads=kv_heads, key_size=head, value_size=head,
        feed_forward=feed_forward,
    )  # fmt: skip
    return Model("m", "M", "llama", 1, hidden, vocabulary, (group,), tied=tied)


LLAMA_3_1_8B = llama(32, 4096, 32, 8, 14336, 128256)
LLAMA_2_7B = llama(32, 4096, 32, 32, 11008, 32000)
SMOLLM2 = llama(30, 576, 9, 3, 1536, 49152, tied=True)


def weights_bytes(model, file_type):
    tensors = tensors_of(model)
    types = types_of(model, file_type)
    return sum(size_bytes(kind, math.prod(s)) for kind, (_, s) in zip(types, tensors, strict=True))


def bits_per_weight(model, file_type):
    elements = sum(math.prod(shape) for _, shape in tensors_of(model))
    return weights_bytes(model, file_type) * 8 / elements


@pytest.mark.parametrize(
    ("file_type", "documented"),
    # tools/quantize/README.md of llama.cpp, Llama 3.1 8B
    [
        ("IQ1_S", 2.0042), ("IQ1_M", 2.1460), ("IQ2_XXS", 2.3824), ("IQ2_XS", 2.5882),
        ("IQ2_S", 2.7403), ("IQ2_M", 2.9294), ("IQ3_XXS", 3.2548), ("IQ3_XS", 3.4977),
        ("IQ3_S", 3.6606), ("IQ3_M", 3.7628), ("IQ4_XS", 4.4597), ("IQ4_NL", 4.6818),
        ("Q2_K_S", 2.9697), ("Q2_K", 3.1593), ("Q3_K_S", 3.6429), ("Q3_K_M", 3.9960),
        ("Q3_K_L", 4.2979), ("Q4_K_S", 4.6672), ("Q4_K_M", 4.8944), ("Q5_K_S", 5.5704),
        ("Q5_K_M", 5.7036), ("Q6_K", 6.5633), ("Q8_0", 8.5008), ("F16", 16.0005),
    ],
)  # fmt: skip
def test_documented_sizes_of_llama_3_1_8b(file_type, documented):
    assert bits_per_weight(LLAMA_3_1_8B, file_type) == pytest.approx(documented, abs=0.0001)


@pytest.mark.parametrize(
    ("file_type", "gib"),
    # the list that llama.cpp's quantizer prints as help, Llama 3 8B
    [("Q4_0", 4.34), ("Q4_1", 4.78), ("Q5_0", 5.21), ("Q5_1", 5.65)],
)
def test_documented_sizes_of_the_older_types(file_type, gib):
    assert weights_bytes(LLAMA_3_1_8B, file_type) / 2**30 == pytest.approx(gib, rel=0.005)


@pytest.mark.parametrize(
    ("file_type", "documented"),
    # Llama 2 7B, documentation of k-quants
    [
        ("Q3_K_M", 3.91), ("Q3_K_L", 4.27), ("Q4_K_S", 4.58), ("Q4_K_M", 4.84), ("Q5_K_S", 5.52),
        ("Q5_K_M", 5.68), ("Q6_K", 6.56),
    ],
)  # fmt: skip
def test_documented_sizes_of_llama_2_7b(file_type, documented):
    assert bits_per_weight(LLAMA_2_7B, file_type) == pytest.approx(documented, rel=0.005)


def test_the_reference_build_to_the_byte(reference_file):
    header = read_header(reference_file)
    assert weights_bytes(SMOLLM2, "Q4_1") == 98_362_432 - header.data_offset_bytes
    types = dict(zip((n for n, _ in tensors_of(SMOLLM2)), types_of(SMOLLM2, "Q4_1"), strict=True))
    assert types == {t.name: t.type for t in header.tensors}


def test_the_reference_shapes_to_the_byte():
    tensors = [(shape, kind) for _, shape, kind in SMOLLM2_135M.tensors()]
    ours = weights_bytes(SMOLLM2, "Q4_1")
    assert ours == sum(size_bytes(kind, math.prod(shape)) for shape, kind in tensors)


def test_experts_published_in_mxfp4_stay_so():
    model = dataclasses.replace(tiny("gpt-oss"), native_precision="mxfp4")
    names = [name for name, _ in tensors_of(model)]
    for file_type in ("Q4_K_M", "Q2_K", "F16"):
        types = dict(zip(names, types_of(model, file_type), strict=True))
        assert types["blk.0.ffn_up_exps.weight"] == "MXFP4"
        assert types["blk.0.attn_q.weight"] != "MXFP4"


def test_layers_that_predict_move_the_thresholds():
    """The quantizer counts them: layer 3 is in the first eighth of 32 layers, and not of 24."""
    alone, more = tiny("qwen35"), dataclasses.replace(tiny("qwen35"), predict_layers=8)
    names = [name for name, _ in tensors_of(alone)]
    early = names.index("blk.3.ffn_down.weight")
    assert types_of(alone, "Q4_K_S")[early] == "Q4_K"
    assert types_of(more, "Q4_K_S")[early] == "Q5_K"


def test_an_importance_matrix_where_there_must_be_one():
    assert types_of(LLAMA_3_1_8B, "IQ3_XXS") == types_of(LLAMA_3_1_8B, "IQ3_XXS", matrix=True)
    assert types_of(LLAMA_3_1_8B, "IQ4_XS") == types_of(LLAMA_3_1_8B, "IQ4_XS", matrix=False)
    assert types_of(LLAMA_3_1_8B, "Q4_0") != types_of(LLAMA_3_1_8B, "Q4_0", matrix=True)


def test_no_answer():
    assert types_of(LLAMA_3_1_8B, "Q9_K") is None
    assert types_of(dataclasses.replace(LLAMA_3_1_8B, architecture="unheard-of"), "Q4_0") is None
    assert set(FILE_TYPES.values()) >= FILE_TYPES_COVERED


@pytest.mark.engine
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("architecture", "experts"),
    [
        ("llama", 0), ("qwen2", 0), ("qwen3moe", 8), ("qwen3next", 4), ("gemma3n", 0),
        ("gemma4", 0), ("phi3", 0), ("gpt-oss", 32), ("deepseek2", 16), ("granitehybrid", 0),
        ("glm4moe", 16), ("lfm2moe", 2), ("nemotron_h", 0), ("falcon-h1", 0), ("jamba", 0),
    ],
)  # fmt: skip
def test_the_engine_chooses_the_same(tmp_path, architecture, experts, whole):
    """All architectures, and the catalogue's own models: `benchmarks/quant_check.py`."""
    from devtools.ask_engine import engine_types
    from devtools.sparse_gguf import write_sparse

    model = tiny(architecture, whole=whole, experts=experts)
    if architecture == "glm4moe":
        model = dataclasses.replace(model, predict_layers=8)
    write_sparse(tmp_path / "a.gguf", model, "BF16")
    kinds = sorted(FILE_TYPES_COVERED - CONVERTED)
    names = [name for name, _ in tensors_of(model)]
    found = engine_types(tmp_path / "a.gguf", [*kinds, *(f"{kind}+matrix" for kind in kinds)])
    for kind in kinds:
        for matrix, theirs in ((False, found[kind]), (True, found[f"{kind}+matrix"])):
            ours = dict(zip(names, types_of(model, kind, matrix=matrix), strict=True))
            assert theirs == ours, (kind, matrix)


@pytest.mark.engine
def test_the_engine_finds_the_tensors_that_it_wants(tmp_path):
    from devtools.ask_engine import check_tensors
    from devtools.sparse_gguf import write_sparse

    for architecture in ("llama", "qwen35moe", "gemma4", "deepseek2", "nemotron_h", "lfm2"):
        write_sparse(tmp_path / "a.gguf", tiny(architecture), "BF16")
        check_tensors(tmp_path / "a.gguf")
