"""Sizes of weights by each basis."""

import dataclasses

import pytest

from desktop import resources
from desktop.errors import GramError
from desktop.estimate.catalogue import read_models, read_quants
from desktop.estimate.sizes import (
    bits_weights,
    from_header,
    size_table,
    totals,
    weights_of,
)
from desktop.records.build import Header, TensorInfo
from desktop.records.model import Attention, LayerGroup, Model, Quant, SizeBasis, WeightUse

FULL = LayerGroup(
    4, Attention.FULL, heads=8, kv_heads=2, key_size=64, value_size=64, feed_forward=2048
)
SMALL = Model("small", "Small", "llama", 15_720_960, 512, 1000, (FULL,), tied=True)
Q4_K_M = Quant("q4_k_m", "Q4_K_M", "gguf_kquant", 4.8944, "good", 74, "Q4_K_M")
AWQ = Quant("awq_4bit", "AWQ 4-bit", "awq", 4.25, "acceptable", 68)


def test_the_page_charges_parameters():
    weights = bits_weights(dataclasses.replace(SMALL, active_parameters=1_000_000), AWQ)
    assert weights.capacity_bytes == round(15_720_960 * 4.25 / 8)
    assert weights.active_bytes == round(1_000_000 * 4.25 / 8)
    assert weights.basis is SizeBasis.BITS


def test_by_tensors():
    weights = weights_of(SMALL, Q4_K_M)
    assert weights.basis is SizeBasis.TENSORS
    assert {part.type for part in weights.parts} == {"Q4_K", "Q6_K", "F32"}
    assert {part.layer for part in weights.parts} == {None, 0, 1, 2, 3}
    assert weights.active_bytes == weights.capacity_bytes  # dense and tied: all is read


def test_formats_that_llama_cpp_has_not_are_by_bits():
    weights = weights_of(SMALL, AWQ)
    assert weights.basis is SizeBasis.BITS
    assert weights.capacity_bytes == round(SMALL.parameters * 4.25 / 8)
    assert {part.type for part in weights.parts} == {"AWQ 4-bit"}


@pytest.mark.parametrize("tied", [True, False])
def test_an_architecture_without_a_recipe_is_by_bits(tied):
    model = dataclasses.replace(SMALL, architecture="unheard-of", tied=tied)
    weights = weights_of(model, Q4_K_M)
    assert weights.basis is SizeBasis.BITS
    assert weights.capacity_bytes == pytest.approx(15_720_960 * 4.8944 / 8, abs=2)
    lookup = 0 if tied else 512_000 * 4.8944 / 8
    assert weights.capacity_bytes - weights.active_bytes == pytest.approx(lookup, abs=2)
    by_layer = [part.bytes for part in weights.parts if part.layer is not None]
    assert len(by_layer) == 4
    assert max(by_layer) - min(by_layer) <= 1


def test_a_file_is_believed():
    header = Header(
        3,
        {"general.architecture": "llama"},
        (TensorInfo("output.weight", (64, 10), "Q8_0", 0, 680),),
    )
    weights = weights_of(SMALL, Q4_K_M, header=header)
    assert (weights.quant, weights.basis, weights.capacity_bytes) == ("q4_k_m", "exact", 680)


def test_a_files_size_alone_is_spread_in_proportion():
    whole = weights_of(SMALL, Q4_K_M)
    weights = weights_of(SMALL, Q4_K_M, file_bytes=12_345_678)
    assert weights.basis is SizeBasis.EXACT
    assert weights.capacity_bytes == 12_345_678
    ratio = 12_345_678 / whole.capacity_bytes
    for ours, theirs in zip(weights.parts, whole.parts, strict=True):
        assert ours.bytes == pytest.approx(theirs.bytes * ratio, abs=2)


def test_bad_input_gets_a_reason():
    with pytest.raises(GramError) as caught:
        weights_of(SMALL, Q4_K_M, file_bytes=0)
    assert caught.value.code == "bad_number"
    mixture = {"general.architecture": "qwen3moe", "qwen3moe.expert_count": 8}
    with pytest.raises(GramError) as caught:
        from_header(Header(3, mixture, ()))
    assert caught.value.code == "mixture_unclear"


def test_the_table_is_the_parts_added_up():
    models = read_models(resources.text("catalogue/models.jsonl"))[::9]
    quants = read_quants(resources.text("catalogue/quants.csv"))
    table = size_table(models, quants)
    for row, model in enumerate(models):
        for column, quant in enumerate(quants):
            weights = weights_of(model, quant)
            found = (int(table.capacity[row, column]), int(table.active[row, column]))
            assert found == (weights.capacity_bytes, weights.active_bytes), (model.id, quant.id)
            assert found == totals(model, quant)


@pytest.mark.parametrize(
    ("model", "quant", "gib"),
    # as llama-bench prints the files of ggml-org: llama.cpp's benches/dgx-spark and benches/nemotron
    [
        ("gpt-oss-20b", "mxfp4", 11.27), ("gpt-oss-120b", "mxfp4", 59.02),
        ("qwen3-30b-a3b", "q8_0", 30.25), ("qwen2.5-7b-instruct", "q8_0", 7.54),
        ("glm-4.7-flash", "q8_0", 29.65), ("nemotron-3-nano-4b", "q8_0", 3.94),
        ("llama-2-7b-chat", "q4_0", 3.56), ("llama-2-7b-chat", "fp16", 12.55),
        ("qwen2.5-14b-instruct", "q4_k_m", 8.37),
    ],
)  # fmt: skip
def test_published_files_to_their_last_printed_digit(model, quant, gib):
    models = {m.id: m for m in read_models(resources.text("catalogue/models.jsonl"))}
    quants = {q.id: q for q in read_quants(resources.text("catalogue/quants.csv"))}
    held, _ = totals(models[model], quants[quant])
    assert round(held / 2**30, 2) == gib


def test_nothing_reads_more_than_it_holds():
    for model in read_models(resources.text("catalogue/models.jsonl")):
        for part in weights_of(model, Q4_K_M).parts:
            assert 0 <= part.active_bytes <= part.bytes, (model.id, part)
            assert part.bytes > 0, (model.id, part)


def test_mixtures_of_the_catalogue_read_less():
    models = read_models(resources.text("catalogue/models.jsonl"))
    for model in (m for m in models if m.is_mixture):
        held, read = totals(model, Q4_K_M)
        assert read < 0.6 * held, model.id


def test_uses_add_up_to_the_model():
    uses = {part.use for part in weights_of(SMALL, Q4_K_M).parts}
    assert uses == {
        WeightUse.OUTPUT, WeightUse.ATTENTION, WeightUse.FEED_FORWARD, WeightUse.OTHER
    }  # fmt: skip
