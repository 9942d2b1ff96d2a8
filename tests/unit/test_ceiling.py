"""The ceiling and its house rule."""

import pytest

from desktop.builds.header import read_header
from desktop.builds.synthetic import SMOLLM2_135M, make_synthetic
from desktop.errors import GramError
from desktop.records.build import Header, TensorInfo
from desktop.rules.ceiling import active_bytes, ceiling_tok_s, ceiling_verdict_tok_s

EMBEDDING = TensorInfo("token_embd.weight", (64, 10), "F16", 0, 1280)
OUTPUT = TensorInfo("output.weight", (64, 10), "F16", 1280, 1281)
LAYER = TensorInfo("blk.0.ffn_up.weight", (64, 10), "F16", 2560, 700)
POSITIONS = TensorInfo("position_embd.weight", (64, 10), "F16", 4096, 999)


def header(*tensors, experts=None) -> Header:
    metadata = {"general.architecture": "llama"}
    return Header(3, metadata | ({"llama.expert_count": experts} if experts else {}), tensors)


def test_untied():
    assert active_bytes(header(EMBEDDING, OUTPUT, LAYER, POSITIONS)) == 1281 + 700


def test_tied():
    assert active_bytes(header(EMBEDDING, LAYER, POSITIONS)) == 1280 + 700


def test_mixtures_and_empty_files_have_no_answer():
    assert active_bytes(header(EMBEDDING, LAYER, experts=8)) is None
    assert active_bytes(header()) is None


def test_the_reference_shapes(tmp_path):
    make_synthetic(tmp_path / "a.gguf", SMOLLM2_135M)
    assert active_bytes(read_header(tmp_path / "a.gguf")) == 96_576_768


def test_ceiling():
    assert ceiling_tok_s(20e9, 100_000_000) == 200.0


@pytest.mark.parametrize(
    ("bandwidth", "size"),
    [(0.0, 1), (-1.0, 1), (float("nan"), 1), (float("inf"), 1), (1.0, 0), (1.0, -5)],
)
def test_bad_numbers(bandwidth, size):
    with pytest.raises(GramError) as caught:
        ceiling_tok_s(bandwidth, size)
    assert caught.value.code == "bad_number"


def test_no_verdict_where_caches_may_help():
    assert ceiling_verdict_tok_s(20e9, 100_000_000, 32 << 20) is None
    assert ceiling_verdict_tok_s(20e9, 100_000_000, 25_000_000) == 200.0
    assert ceiling_verdict_tok_s(20e9, 100_000_000, 25_000_001) is None
    assert ceiling_verdict_tok_s(20e9, 100_000_000, None) is None
