"""The written-out memory says where each of its numbers comes from."""

# ruff: noqa: RUF001 - signs as they are printed

import pytest

from desktop.cli.estimate_tables import sizes
from desktop.errors import GramError
from desktop.estimate.catalogue import find
from desktop.estimate.device_page import device_page_of
from desktop.estimate.page import page_of
from desktop.estimate.sheet import sheet_of
from desktop.services import profiles

GRAM = profiles.own_profile()


def model(name):
    return find(name, profiles.models())


def lines(name, device, quant="q4_k_m"):
    sheet = sheet_of(model(name), GRAM, 1024)
    page = device_page_of(sheet, find(device, GRAM.configurations), find(quant, GRAM.quants))
    return {line.what[0].code: line for line in page.arithmetic}


def test_a_line_subtracts_the_embedding_that_lies_in_the_hosts_memory():
    found = lines("qwen3-30b-a3b", "geforce-rtx-3090-24gb")
    less, weights = found["written.there.less"], found["written.weights"]
    assert less.expression.startswith(f"{weights.result} − ")
    assert less.value < weights.value
    assert "host's memory" in less.text()
    assert found["written.need"].expression.startswith(f"{less.result} + ")


def test_what_lies_twice_is_added():
    found = lines("llama-3.2-1b-instruct", "apple-m4-16gb")
    assert found["written.there.more"].value > found["written.weights"].value


def test_cells_scratch_and_the_back_ends_own_name_their_source():
    found = lines("llama-3.1-8b-instruct", "geforce-rtx-3090-24gb")
    cache = found["written.there.cache"]
    assert "1,280 cells for a context of 1,025, in steps of 256" in cache.text()
    # 1,280 cells instead of the 1,025 that a token reads
    assert cache.value * 1025 == found["written.group"].value * 1280
    need = found["written.need"].text()
    assert "scratch of the graph of a micro-batch of 512, llama.cpp's largest" in need
    assert "by the table of llama-cpp-cuda" in need
    assert "not measured" in need


def test_bits_of_a_model_stand_beside_those_of_the_table():
    """Two thirds of this model's weights are its embedding, which Q4_K_M keeps in Q8_0."""
    page = page_of(model("gemma-3-270m-it"), GRAM)
    columns = {
        c.head: c.cells for c in sizes(page.sizes, page.sheet.model.parameters, page.profile.id)
    }
    bits = dict(zip(columns["quantization"], columns["here"], strict=True))
    size = next(row.weights.capacity_bytes for row in page.sizes if row.quant.id == "q4_k_m")
    assert float(bits["Q4_K_M"]) == pytest.approx(8 * size / page.model.parameters, abs=0.006)
    assert float(bits["Q4_K_M"]) > 5.5


def test_mxfp4_is_offered_to_mixtures_alone():
    """Of a dense model such a file would be Q8_0 under another name."""
    for name, offered in (("llama-3.1-8b-instruct", False), ("qwen3-30b-a3b", True)):
        sheet = sheet_of(model(name), GRAM, 1024)
        assert ("mxfp4" in {quant.id for quant, _ in sheet.weights}) == offered
        found = device_page_of(sheet, find("geforce-rtx-3090-24gb", GRAM.configurations))
        assert ("mxfp4" in {row.quant.id for row in found.quants}) == offered
    assert any(q.id == "mxfp4" for q in GRAM.quants)


def test_mxfp4_of_a_dense_model_is_refused_with_a_reason():
    mxfp4 = find("mxfp4", GRAM.quants)
    with pytest.raises(GramError) as raised:
        sheet_of(model("llama-3.1-8b-instruct"), GRAM, 1024, (mxfp4,))
    assert raised.value.code == "estimate_mixtures_only"


def test_where_nothing_fits_the_smallest_shows_why():
    page = device_page_of(
        sheet_of(model("llama-3.1-405b-instruct"), GRAM, 1024),
        find("geforce-rtx-3090-24gb", GRAM.configurations),
    )
    assert page.choice.best is None
    shown = next(row for row in page.quants if row.quant.id == page.shown.id)
    needs = [row.option.need_bytes for row in page.quants if row.option]
    assert shown.option.need_bytes == min(needs) > page.configuration.usable_bytes
    assert page.choice.reason.params["quant"] == page.shown.label
    lines = {line.what[0].code: line.value for line in page.arithmetic}
    assert lines["written.need.told"] > lines["written.usable"]
    assert "written.low" not in lines
