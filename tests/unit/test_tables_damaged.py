"""Typos in the tables that ship with Gram: each ends in `resource_damaged` with file and line."""

import csv
import io
import json

import pytest

from desktop import resources
from desktop.builds import shipped
from desktop.errors import GramError
from desktop.estimate import device_row, held_back, page_tables, quant_row, targets
from desktop.estimate.catalogue import (
    DEVICES,
    MODELS,
    QUANTS,
    configurations_by_row,
    read_configurations,
    read_models,
    read_quants,
)
from desktop.estimate.held_back import read_held_back
from desktop.estimate.memory import needs
from desktop.estimate.page_tables import page_profile
from desktop.estimate.placement import ON_HOST
from desktop.estimate.sizes import weights_of
from desktop.estimate.targets import read_targets
from desktop.records.estimate import Use
from desktop.rules.catalogue import read_catalogue
from desktop.rules.table_rows import figure, listed, number, read_table, shown

QUANT = next(q for q in read_quants(resources.text(QUANTS)) if q.id == "q4_k_m")
PAGE = (page_tables.QUANTS, page_tables.CONFIGURATIONS, page_tables.TARGETS)


def page_reader(changed):
    """Reads the page's tables with one of them changed."""

    def read(text):
        return page_profile(*(text if name == changed else resources.text(name) for name in PAGE))

    return read


READERS = {
    QUANTS: read_quants,
    DEVICES: lambda text: (
        read_catalogue(text), read_configurations(text), configurations_by_row(text)
    ),
    shipped.RESOURCE: shipped.read_files,
    targets.RESOURCE: read_targets,
    held_back.RESOURCE: read_held_back,
    **{name: page_reader(name) for name in PAGE},
}  # fmt: skip
REQUIRED = {
    QUANTS: quant_row.COLUMNS,
    DEVICES: device_row.COLUMNS,
    shipped.RESOURCE: shipped.COLUMNS,
    targets.RESOURCE: targets.COLUMNS,
    held_back.RESOURCE: held_back.COLUMNS,
    page_tables.QUANTS: quant_row.COLUMNS,
}
STRANGE = (
    "", "text", "-1", "0", "0.5", "1.5", "1e400", "-1e400", "nan", "inf", "9" * 400, "9" * 5000,
    "1_000", "٣", "0x10", " 1", "1 ", "\x00", "\x1b[2J", "a|a", "|", "{gb}", "💥", "1,000", "a\nb",
)  # fmt: skip
NO_NUMBERS = ("text", "-1", "1e400", "nan", "inf", "9" * 400, "1_000", "٣", " 1")
NUMBERS = {
    QUANTS: ("bits_per_weight", "rank"),
    DEVICES: ("memory_gib", "usable_share", "bandwidth_gb_s", "fp16_tflops", "fp32_tflops",
              "power_w", "price_usd", "year", "gpu_cores"),
    shipped.RESOURCE: ("size_bytes",),
    targets.RESOURCE: ("share_low", "share_high", "weight_flop_low", "attention_high",
                       "layer_us_low", "token_us_high", "experts_us_low", "state_us_high",
                       "latent_us_low", "compute_high", "flop_per_byte", "overhead_mib", "devices"),
    held_back.RESOURCE: ("least_mib", "share", "tight_share"),
    page_tables.CONFIGURATIONS: ("memory_gb", "usable_gb", "bandwidth_gb_s", "price_usd"),
    page_tables.TARGETS: ("share_low", "share_high", "overhead_gb", "regime_from_gb"),
}  # fmt: skip
ENUMS = {
    QUANTS: ("quality",),
    DEVICES: ("bf16",),
    held_back.RESOURCE: ("memory",),
}
EMPTY = {
    QUANTS: ("id", "label", "family", "source", "bits_source", "bits_per_weight", "rank"),
    DEVICES: ("id", "name", "title", "vendor", "class", "usable_share", "usable_source", "bf16",
              "memory_gib", "bandwidth_source", "source"),
    shipped.RESOURCE: ("model", "repository", "file", "quantization"),
    targets.RESOURCE: ("engine", "backend", "class", "families", "share_low", "layer_us_high",
                       "token_us_low", "overhead_mib", "devices", "source", "regime"),
    held_back.RESOURCE: held_back.COLUMNS,
    page_tables.CONFIGURATIONS: ("id", "name", "vendor", "memory_gb", "bandwidth_gb_s"),
    page_tables.TARGETS: ("id", "engine", "backend", "families", "share_low", "overhead_gb"),
}  # fmt: skip


def rows_of(name):
    return list(csv.DictReader(io.StringIO(resources.text(name))))


def table(rows, columns=None):
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or list(rows[0]), extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def damaged(name, text):
    """The words of the error; None where the table is taken."""
    try:
        READERS[name](text)
    except GramError as e:
        refused = e
    else:
        return None
    words = str(refused)
    assert refused.code == "resource_damaged"
    assert name in words
    assert "line " in words
    assert len(words) < 600
    return words


@pytest.mark.parametrize("name", READERS)
class TestRows:
    def sample(self, name):
        rows = rows_of(name)
        return [rows[i] for i in sorted({0, len(rows) // 3, len(rows) // 2, len(rows) - 1})]

    def test_as_it_is(self, name):
        assert damaged(name, resources.text(name)) is None

    def test_a_strange_value_ends_in_no_other_error(self, name):
        for row in self.sample(name):
            for column in row:
                for value in STRANGE:
                    damaged(name, table([row | {column: value}]))

    def test_what_is_no_number_is_named(self, name):
        for row in self.sample(name):
            for column in NUMBERS.get(name, ()):
                for value in NO_NUMBERS if row[column] else ():
                    words = damaged(name, table([row | {column: value}]))
                    assert words, (column, value)
                    assert column in words
                    assert "line 2" in words

    def test_a_wrong_word_is_named(self, name):
        for row in self.sample(name):
            for column in ENUMS.get(name, ()):
                for value in ("superb", "Yes", ""):
                    words = damaged(name, table([row | {column: value}]))
                    assert words, (column, value)
                    assert column in words

    def test_an_empty_cell_is_named(self, name):
        row = rows_of(name)[0]
        for column in EMPTY.get(name, ()):
            words = damaged(name, table([row | {column: ""}]))
            assert words, column
            assert "empty" in words or "source" in words or column in words

    def test_a_column_missing_is_named(self, name):
        rows = rows_of(name)
        for column in REQUIRED.get(name, rows[0]):
            left = [other for other in rows[0] if other != column]
            words = damaged(name, table(rows, left))
            assert words, column
            assert f"no column {column}" in words

    def test_another_column_is_harmless(self, name):
        rows = [row | {"colour": "blue"} for row in rows_of(name)]
        assert damaged(name, table(rows)) is None

    def test_a_column_twice(self, name):
        header, *lines = resources.text(name).splitlines()
        first = header.split(",")[0]
        text = "\n".join([f"{header},{first}", *(f"{line},x" for line in lines)])
        assert "stands twice" in (damaged(name, text) or "")

    @pytest.mark.parametrize(
        "change", [lambda line: line + ",", lambda line: line.rpartition(",")[0]]
    )
    def test_a_cell_too_many_or_too_few(self, name, change):
        header, first, *_ = resources.text(name).splitlines()
        words = damaged(name, f"{header}\n{change(first)}\n")
        assert words
        assert "cells for" in words

    def test_a_row_twice(self, name):
        header, first, *rest = resources.text(name).splitlines()
        words = damaged(name, "\n".join([header, first, *rest, first]))
        assert words
        assert "twice" in words or "rows, not one" in words

    @pytest.mark.parametrize("text", ["", "\n", "a", '"', "\x00", "id,id\n1,2\n"])
    def test_what_is_no_such_table(self, name, text):
        assert damaged(name, text)

    def test_an_open_quotation(self, name):
        header, first, *rest = resources.text(name).splitlines()
        assert damaged(name, "\n".join([header, '"' + first, *rest]))

    def test_blank_lines_are_harmless(self, name):
        assert damaged(name, resources.text(name).replace("\n", "\n\n")) is None


def test_the_line_of_a_typo_is_told():
    lines = resources.text(DEVICES).splitlines()
    lines[30] = lines[30].replace(",yes,", ",yess,").replace(",no,", ",noo,")
    assert "line 31: bf16" in (damaged(DEVICES, "\n".join(lines)) or "")


def test_both_kinds_of_memory():
    row = rows_of(DEVICES)[0] | {"system_memory_gb": "16"}
    assert "both given" in (damaged(DEVICES, table([row])) or "")


def test_several_sizes_without_a_place_for_them():
    row = next(row for row in rows_of(DEVICES) if "|" in row["system_memory_gb"])
    changed = row | {"id": "one", "title": "One"}
    assert "{gb}" in (damaged(DEVICES, table([changed])) or "")


def test_rows_of_one_target_that_contradict_each_other():
    rows = rows_of(targets.RESOURCE)
    rows[1]["overhead_mib"] = "7"
    assert "overhead_mib is 7" in (damaged(targets.RESOURCE, table(rows)) or "")
    rows = rows_of(targets.RESOURCE)
    rows[1]["families"] = rows[0]["families"]
    assert "twice" in (damaged(targets.RESOURCE, table(rows)) or "")


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"id\na\n\xff\n")
    with pytest.raises(GramError, match="line 3: the byte 0xff") as caught:
        resources.text_of(path, "a/table.csv")
    assert caught.value.code == "resource_damaged"
    assert "a/table.csv" in str(caught.value)


LINES = {
    json.loads(line)["id"]: json.loads(line) for line in resources.text(MODELS).splitlines() if line
}
MODEL_IDS = (
    "llama-3.2-1b-instruct", "gemma-3-1b-it", "qwen3-30b-a3b", "granite-4.0-h-tiny",
    "deepseek-v2-lite-chat", "lfm2-350m", "jamba-reasoning-3b",
)  # fmt: skip
STRANGE_JSON = (
    "null", '""', '"text"', "-1", "0", "1", "1.5", "1e400", "NaN", "Infinity", "9" * 390, "9" * 5000,
    "true", "[]", "{}", "[1]", '["a", "a"]', '{"a": 1}', '"\\u0000"', '"\\ud800"', "[[[]]]", "",
)  # fmt: skip
MARK = "@@@"


def places(value, path=()):
    """The path of each value inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in list(inner):
        yield (*path, key)
        if isinstance(child, dict | list):
            yield from places(child, (*path, key))


def changed(row, path, *, gone=False):
    copy = json.loads(json.dumps(row))
    parent = copy
    for key in path[:-1]:
        parent = parent[key]
    if gone:
        del parent[path[-1]]
    else:
        parent[path[-1]] = MARK
    return json.dumps(copy)


def read_model(text):
    """What a line ends in: an error with a code, or a model that can be counted."""
    try:
        (model,) = read_models(text)
        needs(model, weights_of(model, QUANT), Use(256), ON_HOST)
    except GramError as e:
        refused = e
    else:
        return ""
    if refused.code == "resource_damaged":
        assert f"{MODELS} is damaged: line 1" in str(refused)
    return refused.code


@pytest.mark.parametrize("model_id", MODEL_IDS)
class TestModels:
    def test_strange_values(self, model_id):
        row = LINES[model_id]
        assert read_model(json.dumps(row)) == ""
        for path in places(row):
            text = changed(row, path)
            for value in STRANGE_JSON:
                read_model(text.replace(f'"{MARK}"', value))

    def test_fields_missing(self, model_id):
        row = LINES[model_id]
        for path in places(row):
            read_model(changed(row, path, gone=True))
        for field in ("id", "name", "architecture", "parameters", "hidden", "vocabulary", "groups",
                      "tied", "family", "publisher", "released", "context_trained", "sources"):  # fmt: skip
            assert read_model(changed(row, (field,), gone=True)) == "resource_damaged", field

    def test_a_field_more(self, model_id):
        assert read_model(json.dumps(LINES[model_id] | {"colour": 1})) == "resource_damaged"


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"kind": "steam"}, "kind is steam"),
        ({"conv_kernel": 10**300}, "conv_kernel is 1000"),
        ({"colour": 1}, "no field colour"),
    ],
)
def test_a_damaged_state_is_named(change, detail):
    row = json.loads(json.dumps(LINES["granite-4.0-h-tiny"]))
    state = next(group["recurrent"] for group in row["groups"] if "recurrent" in group)
    state |= change
    with pytest.raises(GramError, match=detail) as caught:
        read_models(json.dumps(row))
    assert caught.value.code == "resource_damaged"


def test_a_model_twice_is_told_with_both_lines():
    line = json.dumps(LINES["gemma-3-1b-it"])
    with pytest.raises(GramError, match="line 3: gemma-3-1b-it stands twice, first in line 1"):
        read_models(f"{line}\n\n{line}\n")


class TestCells:
    def test_numbers(self):
        assert number("x", "1e3", most=1e4) == 1000
        assert number("x", "0", most=1) == 0
        assert figure({"x": ""}, "x", 5) is None

    @pytest.mark.parametrize("text", ["6", "0", "-0.5", "1e", "1__0", "1.5.2"])
    def test_figures_that_are_none(self, text):
        with pytest.raises(ValueError, match="x is"):
            figure({"x": text}, "x", 5)

    def test_lists(self):
        assert listed({"x": "a|b"}, "x") == ("a", "b")
        assert listed({"x": ""}, "x") == ()

    def test_long_values_are_cut(self):
        assert shown("a" * 100) == "a" * 40 + "…"

    def test_a_reader_may_say_several_things_of_a_row(self):
        text = "a,b\n1,2\n3,4\n"
        assert read_table("t", text, ("a",), lambda row: row.values()) == ("1", "2", "3", "4")
