"""The written-out memory says where each of its numbers comes from."""

# ruff: noqa: RUF001 - signs as they are printed

from desktop.cli.estimate_tables import sizes
from desktop.estimate.catalogue import find
from desktop.estimate.device_page import device_page_of
from desktop.estimate.page import page_of
from desktop.estimate.ranking import choose
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
    assert "for 1,025 tokens 1,280 cells, in steps of 256" in cache.text()
    # 1,280 cells instead of the 1,025 that a token reads
    assert cache.value * 1025 == found["written.group"].value * 1280
    need = found["written.need"].text()
    assert "scratch of the graph of 512 tokens, llama.cpp's largest" in need
    assert "by the table of llama-cpp-cuda" in need
    assert "not measured" in need


def test_bits_of_a_model_stand_beside_those_of_the_table():
    """MXFP4 of a dense model is Q8_0 with another name: 4.25 bits stood beside 8.7 GB."""
    page = page_of(model("llama-3.1-8b-instruct"), GRAM)
    columns = {c.head: c.cells for c in sizes(page.sizes, page.sheet.model.parameters)}
    bits = dict(zip(columns["quantization"], columns["here"], strict=True))
    assert float(bits["MXFP4"]) > 8
    assert {row.quant.label: row.weights.capacity_bytes for row in page.sizes}["MXFP4"] >= next(
        row.weights.capacity_bytes for row in page.sizes if row.quant.id == "q8_0"
    )


def test_no_device_is_sent_to_mxfp4_of_a_dense_model():
    sheet = sheet_of(model("llama-3.1-8b-instruct"), GRAM, 1024)
    chosen = [choose(sheet, configuration) for configuration in GRAM.configurations]
    quants = {o.quant.id for c in chosen for o in (c.best, c.runner_up) if o}
    assert quants
    assert "mxfp4" not in quants
