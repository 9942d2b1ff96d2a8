"""Synthetic builds: the same bytes everywhere, the reference's shapes, and the engine runs them."""

import dataclasses
import subprocess
import sys
from collections import Counter

import gguf
import numpy as np
import pytest

from desktop.builds.describe import describe, parameters
from desktop.builds.hashes import sha256_of
from desktop.builds.header import data_end, read_header
from desktop.builds.reference import SYNTHETIC_SHA256
from desktop.builds.synthetic import HALF_BILLION_Q4_0, SMOLLM2_135M, Shapes, make_synthetic
from desktop.errors import BuildError

SMALL = Shapes("small", 64, 2, 128, 2, 1, 96, 256, 10_000.0, "Q4_0", "Q8_0")
SMALL_SHA256 = "a4a2d905dc59466062b546216e9289ab172dfb8206deaa9c19487abc586520f1"


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    path = tmp_path_factory.mktemp("full") / "full.gguf"
    make_synthetic(path, SMOLLM2_135M)
    return path


def test_golden_bytes(tmp_path):
    make_synthetic(tmp_path / "a.gguf", SMALL)
    assert sha256_of(tmp_path / "a.gguf") == SMALL_SHA256
    assert [p.name for p in tmp_path.iterdir()] == ["a.gguf"]


def test_golden_bytes_of_the_reference_shapes(full):
    assert sha256_of(full) == SYNTHETIC_SHA256


def test_shapes_are_the_reference_builds(full):
    header = read_header(full)
    assert data_end(header) - header.data_offset_bytes == 98_362_432 - 1_785_664
    assert parameters(header) == 134_515_008
    assert Counter(t.type for t in header.tensors) == {"Q4_1": 210, "F32": 61, "Q8_0": 1}


def test_tensors_are_the_reference_builds(full, reference_file):
    ours, real = read_header(full), read_header(reference_file)
    assert ours.tensors == real.tensors
    for key in (
        "block_count",
        "embedding_length",
        "feed_forward_length",
        "attention.head_count",
        "attention.head_count_kv",
        "context_length",
        "vocab_size",
        "rope.dimension_count",
    ):
        assert ours.integer(key) == real.integer(key), key
    for key in ("llama.rope.freq_base", "llama.attention.layer_norm_rms_epsilon"):
        assert ours.metadata[key] == real.metadata[key]


def test_it_says_that_it_is_synthetic(tmp_path):
    make_synthetic(tmp_path / "a.gguf", SMALL)
    build = describe(tmp_path / "a.gguf")
    assert build.synthetic
    assert build.model_name == "Synthetic small"
    assert build.quantization == "Q4_0"
    assert build.context_trained == 256


def test_half_a_billion():
    total = sum(int(np.prod(shape)) for _, shape, _ in HALF_BILLION_Q4_0.tensors())
    assert 0.45e9 < total < 0.55e9
    assert {kind for _, _, kind in HALF_BILLION_Q4_0.tensors()} == {"Q4_0", "F32"}


@pytest.mark.parametrize("kind", ["F32", "F16", "Q4_0", "Q4_1", "Q8_0"])
def test_weights_are_small_around_zero(tmp_path, kind):
    shapes = dataclasses.replace(SMALL, matrix_type=kind, vocabulary=2048)
    make_synthetic(tmp_path / "a.gguf", shapes)
    tensors = {t.name: t for t in gguf.GGUFReader(tmp_path / "a.gguf").tensors}
    for name in ("blk.0.ffn_up.weight", "token_embd.weight"):
        found = tensors[name]
        values = gguf.quants.dequantize(found.data, found.tensor_type).astype(np.float64)
        assert 0.008 < values.std() < 0.03, name
        assert abs(values.mean()) < 0.001, name
    assert (tensors["output_norm.weight"].data == 1.0).all()


def test_tensors_differ(full):
    tensors = {t.name: t for t in gguf.GGUFReader(full).tensors}
    assert (tensors["blk.0.ffn_up.weight"].data != tensors["blk.1.ffn_up.weight"].data).any()


def test_progress_and_stop(tmp_path):
    seen = []
    make_synthetic(tmp_path / "a.gguf", SMALL, lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    assert seen == sorted(seen)

    class StopError(Exception):
        pass

    def stop(done, total):
        raise StopError

    with pytest.raises(StopError):
        make_synthetic(tmp_path / "b" / "b.gguf", SMALL, stop)
    assert not list((tmp_path / "b").iterdir())


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BuildError) as caught:
        make_synthetic(tmp_path / "file" / "a.gguf", SMALL)
    assert caught.value.code == "build_write"
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"matrix_type": "Q6_K"},
        {"embedding_type": "Q6_K"},
        {"embedding": 72},
        {"feed_forward": 72},
        {"heads": 3},
        {"kv_heads": 3},
    ],
)
def test_impossible_shapes(change):
    with pytest.raises(ValueError, match=r"must|writer"):
        dataclasses.replace(SMALL, **change)


DECODE = """
import ctypes, math, pathlib, sys
import llama_cpp as L
folder = pathlib.Path(L.__file__).parent / "lib"
names = ("libggml.so.0", "libggml.0.dylib", "libggml.dylib", "ggml.dll")
ggml = next(ctypes.CDLL(str(folder / n)) for n in names if (folder / n).exists())
ggml.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
L.llama_backend_init()
ggml.ggml_backend_load_all_from_path(str(folder).encode())
model_params = L.llama_model_default_params()
model_params.n_gpu_layers = 0
model = L.llama_model_load_from_file(sys.argv[1].encode(), model_params)
assert model, "not loaded"
params = L.llama_context_default_params()
params.n_ctx = 256
params.n_threads = params.n_threads_batch = 1
context = L.llama_init_from_model(model, params)
vocabulary = L.llama_vocab_n_tokens(L.llama_model_get_vocab(model))
assert vocabulary == int(sys.argv[2]), vocabulary
tokens = (L.llama_token * 3)(1, 7, vocabulary - 1)
assert L.llama_decode(context, L.llama_batch_get_one(tokens, 3)) == 0
L.llama_synchronize(context)
logits = L.llama_get_logits(context)
values = [logits[i] for i in range(vocabulary)]
assert all(map(math.isfinite, values)) and len(set(values)) > vocabulary // 2
print("decoded")
"""


@pytest.mark.engine
@pytest.mark.parametrize("shapes", [SMALL, SMOLLM2_135M], ids=["small", "reference"])
def test_the_engine_runs_it(tmp_path, shapes):
    path = tmp_path / "a.gguf"
    make_synthetic(path, shapes)
    argv = [sys.executable, "-c", DECODE, str(path), str(shapes.vocabulary)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=100)
    assert done.stdout.strip() == "decoded", done.stderr[-2000:]
