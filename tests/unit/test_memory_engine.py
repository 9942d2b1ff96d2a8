"""The estimate of memory against the engine's own count, which allocates nothing."""

import pytest

from desktop import resources
from desktop.builds.header import read_header
from desktop.errors import GramError
from desktop.estimate.cache import cache_bytes
from desktop.estimate.catalogue import read_models
from desktop.estimate.header_model import model_of
from desktop.records.estimate import Use
from devtools.ask_memory import Refused, engine_memory
from devtools.compare_memory import compare_file, compare_model
from devtools.sparse_gguf import write_sparse

pytestmark = pytest.mark.engine

MIB = 1 << 20
LOG_DIGITS_BYTES = MIB // 10
"""The engine's log has two decimals of a MiB, in one line for each of up to four buffers."""
MODELS = {model.id: model for model in read_models(resources.text("catalogue/models.jsonl"))}
PACKED = {"cache_key_type": "Q8_0", "cache_value_type": "Q8_0"}
USES = (
    Use(2048), Use(16384, micro_batch=2048), Use(4096, flash_attention=False),
    Use(8192, **PACKED), Use(8192, sequences=4), Use(8192, full_sliding_cache=True),
    Use(6000, batch=100, micro_batch=100),
)  # fmt: skip


def assert_same(rows):
    for row in rows:
        assert row.ours.weights_bytes == row.engines.weights_bytes, row
        for purpose in ("cache_bytes", "compute_bytes", "output_bytes"):
            off = getattr(row.ours, purpose) - getattr(row.engines, purpose)
            assert abs(off) <= LOG_DIGITS_BYTES, (purpose, row)


@pytest.mark.parametrize(
    "model_id",
    [
        "llama-3.2-1b-instruct", "llama-4-scout-17b-16e-instruct", "qwen3-30b-a3b",
        "qwen3-next-80b-a3b-instruct", "gemma-3-27b-it", "gemma-3n-e4b-it", "gemma-4-e4b-it",
        "phi-4", "gpt-oss-20b", "deepseek-v2-lite-chat", "granite-4.0-h-tiny", "mamba-2.8b",
        "falcon-h1-7b-instruct", "nemotron-nano-9b-v2", "lfm2-8b-a1b", "command-r7b-12-2024",
        "trinity-mini", "llama-3.3-nemotron-super-49b-v1",
    ],
)  # fmt: skip
def test_as_the_engine_counts(model_id):
    rows = compare_model(MODELS[model_id], USES)
    assert len(rows) == len(USES)
    assert_same(rows)


def test_the_longest_contexts():
    for model_id in ("llama-3.2-1b-instruct", "gemma-3-27b-it", "qwen3.5-9b"):
        assert_same(compare_model(MODELS[model_id], [Use(131072), Use(131072, micro_batch=2048)]))


def test_the_reference_build(reference_file):
    rows = compare_file(reference_file, [Use(512), Use(2048), Use(2048, flash_attention=False)])
    assert_same(rows)
    assert len(rows) == 3


@pytest.mark.parametrize(
    ("model_id", "use"),
    [
        ("phi-3-mini-4k-instruct", Use(2048, cache_value_type="Q8_0", flash_attention=False)),
        ("deepseek-v2-lite-chat", Use(2048, cache_key_type="Q8_0")),
        ("phi-2", Use(2048, **PACKED)),
    ],
)
def test_both_refuse_the_same(tmp_path, model_id, use):
    path = tmp_path / "a.gguf"
    write_sparse(path, MODELS[model_id], "Q8_0")
    (engines,) = engine_memory(path, [use])
    assert isinstance(engines, Refused)
    with pytest.raises(GramError) as refused:
        cache_bytes(model_of(read_header(path)), use)
    assert refused.value.code in {"cache_type", "cache_rows"}
