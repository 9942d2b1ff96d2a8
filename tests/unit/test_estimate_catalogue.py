"""The catalogue of models, quantizations and configurations: exact keys, and rows that add up."""

import csv
import io
import json
import tarfile
import zipfile
from dataclasses import replace

import pytest

from desktop import resources
from desktop.builds.shipped import RESOURCE as BUILDS
from desktop.errors import GramError
from desktop.estimate.catalogue import (
    DEVICES,
    MODELS,
    QUANTS,
    find,
    read_configurations,
    read_models,
    read_quants,
    suggestions,
)
from desktop.estimate.held_back import RESOURCE as HELD_BACK
from desktop.estimate.model_row import layers_of
from desktop.estimate.targets import RESOURCE as TARGETS
from desktop.records.model import Attention
from desktop.rules.catalogue import GIB
from devtools import catalogue_check
from devtools.catalogue_classes import KINDS
from devtools.catalogue_config import groups_of
from devtools.catalogue_rebuild import _sorted, differences

ALL_MODELS = read_models(resources.text(MODELS))
ALL_QUANTS = read_quants(resources.text(QUANTS))
ALL_CONFIGURATIONS = read_configurations(resources.text(DEVICES))
PAGE = list(
    csv.DictReader(io.StringIO(resources.text("estimate/page/configurations.csv"))),
)
"""The 60 configurations as page 003 has them."""
BETTER_THAN_PAGE = {"a100-sxm-80gb": ("bandwidth_bytes_s", 2039e9)}
"""Where the maker's data sheet says otherwise than page 003."""
LLAMA = find("llama-3.2-1b-instruct", ALL_MODELS)


def line_of(model_id):
    lines = resources.text(MODELS).splitlines()
    return next(json.loads(line) for line in lines if json.loads(line)["id"] == model_id)


def test_nothing_is_wrong_with_the_tables():
    assert catalogue_check.problems() == ()


def test_there_are_as_many_as_promised():
    assert len(ALL_MODELS) >= 120
    assert len(ALL_CONFIGURATIONS) >= 250
    assert len(ALL_QUANTS) >= 24


def test_page_003_has_60_configurations():
    assert len(PAGE) == 60


@pytest.mark.parametrize("row", PAGE, ids=lambda row: row["id"])
def test_each_configuration_of_page_003_is_here_with_its_figures(row):
    found = find(row["id"], ALL_CONFIGURATIONS)
    expected = {
        "name": row["name"],
        "memory_bytes": round(float(row["memory_gb"]) * GIB),
        "usable_bytes": round(float(row["usable_gb"]) * GIB),
        "bandwidth_bytes_s": float(row["bandwidth_gb_s"]) * 1e9,
    }
    field, value = BETTER_THAN_PAGE.get(row["id"], ("name", row["name"]))
    assert {name: getattr(found, name) for name in expected} == {**expected, field: value}


def test_llama_is_as_page_003_has_it():
    [group] = LLAMA.groups
    assert (LLAMA.name, LLAMA.architecture, LLAMA.released) == (
        "Llama 3.2 1B Instruct",
        "llama",
        "2024-09",
    )
    assert (LLAMA.parameters, LLAMA.layers, LLAMA.vocabulary) == (1_235_814_400, 16, 128_256)
    assert (group.heads, group.kv_heads, group.key_size) == (32, 8, 64)
    assert group.attention is Attention.FULL
    assert LLAMA.tied
    assert not LLAMA.is_mixture
    assert (LLAMA.context_trained, LLAMA.native_precision) == (131_072, "bf16")
    assert LLAMA.sources[0] == (
        "https://huggingface.co/meta-llama/Llama-3.2-1B-Instruct/raw/main/config.json"
    )


def test_bf16_goes_with_the_generation():
    without = ("tesla-p40-24gb", "instinct-mi50-32gb", "apple-m1-ultra-64gb", "tesla-t4-16gb")
    with_it = ("geforce-rtx-3090-24gb", "radeon-rx-7900-xtx-24gb", "apple-m2-24gb", "arc-b580-12gb")
    assert not any(find(name, ALL_CONFIGURATIONS).bf16 for name in without)
    assert all(find(name, ALL_CONFIGURATIONS).bf16 for name in with_it)


@pytest.mark.parametrize(
    "key",
    [
        "geforce-rtx-3090-24gb",
        "GeForce-RTX-3090-24GB",
        " NVIDIA GeForce RTX 3090 24 GB ",
        "geforce rtx 3090",
    ],
)
def test_a_whole_name_finds(key):
    assert find(key, ALL_CONFIGURATIONS).id == "geforce-rtx-3090-24gb"


@pytest.mark.parametrize(
    "key", ["3090", "rtx 3090", "geforce-rtx-3090", "geforce-rtx-3090-24gb-x", "", "Apple M4 Max"]
)
def test_a_part_of_a_name_or_one_that_several_have_finds_none(key):
    assert find(key, ALL_CONFIGURATIONS) is None


def test_other_names_of_models_find_them():
    for key in ("llama-3.2-1b", "meta-llama/Llama-3.2-1B-Instruct", "Llama 3.2 1B Instruct"):
        assert find(key, ALL_MODELS) is LLAMA
    assert find("q4_k_m", ALL_QUANTS) is find("Q4_K_M", ALL_QUANTS)


def test_near_ids_are_suggested():
    assert suggestions("geforce-rtx-3090", ALL_CONFIGURATIONS)[0] == "geforce-rtx-3090-24gb"
    assert "qwen3-8b" in suggestions("qwen3-8", ALL_MODELS)
    assert "q4_k_m" in suggestions("q4km", ALL_QUANTS)
    assert suggestions("zzzzzzzz", ALL_MODELS) == ()
    assert len(suggestions("qwen", ALL_MODELS)) <= 5


@pytest.mark.parametrize(
    ("key", "entries", "first"),
    [
        ("qwen3-30b", ALL_MODELS, "qwen3-30b-a3b"),
        ("Qwen3 30B", ALL_MODELS, "qwen3-30b-a3b"),
        ("rtx3090", ALL_CONFIGURATIONS, "geforce-rtx-3090-24gb"),
        ("rtx 3090", ALL_CONFIGURATIONS, "geforce-rtx-3090-24gb"),
        ("3090 geforce", ALL_CONFIGURATIONS, "geforce-rtx-3090-24gb"),
    ],
)
def test_names_that_have_the_words_are_suggested_before_those_spelt_alike(key, entries, first):
    assert suggestions(key, entries)[0] == first


def test_a_price_is_that_of_the_most_memory():
    prices = {
        gb: find(f"apple-m4-max-{gb}gb-546", ALL_CONFIGURATIONS).price_usd for gb in (48, 128)
    }
    assert prices == {48: None, 128: 5000}


def test_ranges_of_layers():
    assert layers_of("0-2,4,6-10:2") == (0, 1, 2, 4, 6, 8, 10)


@pytest.mark.parametrize("text", ["", "a", "3-", "2,1", "0-2,2", "5-1", "0-4:0", "-1", "99999"])
def test_ranges_that_are_none(text):
    with pytest.raises(ValueError, match=r"indices|range\(\)"):
        layers_of(text)


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"parameters": 0}, "parameters is 0"),
        ({"parameters": -1}, "parameters is -1"),
        ({"parameters": 1.5}, "parameters is 1.5"),
        ({"parameters": True}, "parameters is True"),
        ({"parameters": 10**15}, "parameters is"),
        ({"hidden": None}, "hidden is None"),
        ({"tied": "yes"}, "tied is neither"),
        ({"colour": "blue"}, "there is no field colour"),
        ({"sources": []}, "sources is missing"),
        ({"released": ""}, "released is missing"),
        ({"groups": []}, "no layer groups"),
    ],
)
def test_a_damaged_model_is_named_with_its_line(change, detail):
    text = json.dumps(line_of("llama-3.2-1b-instruct") | change)
    with pytest.raises(GramError, match=f"line 1: llama-3.2-1b-instruct: {detail}") as caught:
        read_models(text)
    assert caught.value.code == "resource_damaged"


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"kv_heads": 7}, "32 heads do not divide into 7"),
        ({"heads": None}, "heads is None"),
        ({"attention": "sliding"}, "a measure of sliding attention is missing"),
        ({"attention": "latent"}, "a measure of latent attention is missing"),
        ({"attention": "recurrent"}, "a measure of recurrent attention is missing"),
        ({"attention": "psychic"}, "psychic"),
        ({"layers": 15, "indices": "0-15"}, "16 indices of 15 layers"),
        ({"layers": 2, "indices": "1-2"}, "not each layer once"),
        ({"experts": 8}, "a measure of the experts is missing"),
        ({"heads": 10**9}, "heads is"),
    ],
)
def test_a_damaged_group_is_named(change, detail):
    row = line_of("llama-3.2-1b-instruct")
    row["groups"] = [row["groups"][0] | change]
    with pytest.raises(GramError, match=detail):
        read_models(json.dumps(row))


def test_a_model_that_stands_twice_is_refused():
    line = json.dumps(line_of("llama-3.2-1b-instruct"))
    with pytest.raises(GramError, match="1b-instruct stands twice"):
        read_models(f"{line}\n{line}\n")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("usable_share", "1.1"),
        ("usable_share", "0"),
        ("usable_share", "nan"),
        ("usable_source", ""),
        ("class", ""),
        ("bf16", "maybe"),
        ("memory_gib", "0"),
        ("memory_gib", "-24"),
        ("memory_gib", "inf"),
        ("bandwidth_gb_s", "0"),
        ("bandwidth_source", ""),
    ],
)
def test_a_damaged_device_is_named(column, value):
    rows = list(csv.DictReader(io.StringIO(resources.text(DEVICES))))
    row = next(row for row in rows if row["id"] == "geforce-rtx-3090-24gb") | {column: value}
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row))
    writer.writeheader()
    writer.writerow(row)
    with pytest.raises(GramError, match="line 2") as caught:
        read_configurations(text.getvalue())
    assert caught.value.code == "resource_damaged"


@pytest.mark.parametrize(
    ("column", "value"),
    [("bits_per_weight", "0"), ("bits_per_weight", "33"), ("rank", "101"), ("quality", "superb"),
     ("family", ""), ("source", "")],
)  # fmt: skip
def test_a_damaged_quantization_is_named(column, value):
    rows = list(csv.DictReader(io.StringIO(resources.text(QUANTS))))
    text = ",".join(rows[0]) + "\n" + ",".join((rows[0] | {column: value}).values()) + "\n"
    with pytest.raises(GramError, match="line 2") as caught:
        read_quants(text)
    assert caught.value.code == "resource_damaged"


@pytest.fixture
def copy(tmp_path):
    """The tables in a folder of their own, to be damaged."""
    pages = (catalogue_check.README, catalogue_check.CLASSES)
    for name in (MODELS, *catalogue_check.COLUMNS, *pages):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(resources.text(name), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        (MODELS, '"parameters": 1235814400', '"parameters": 1335814400', "its tensors have"),
        (MODELS, '"released": "2024-09"', '"released": "2024-13"', "is no month"),
        (MODELS, '"llmfit"', '"hearsay"', "is not in the README"),
        (MODELS, "/Llama-3.2-1B-Instruct/raw", "/Llama-3.2-1B/raw", "is not the config.json"),
        (MODELS, '"id": "llama-3-8b-instruct"', '"id": "Llama 3"', "lower case"),
        (MODELS, '"llama-3.2-1b"', '"llama-3.2-3b"', "is a name of"),
        (DEVICES, "nvidia-geforce", "hearsay", "source hearsay is not in the README"),
        (DEVICES, ",nvidia-ada,", ",nvidia-nowhere,", "class nvidia-nowhere"),
        (DEVICES, "rtx-3090-24gb", "rtx-3090-25gb", "does not say its memory"),
        (QUANTS, ",74,Q4_K_M", ",73,Q4_K_M", "have the rank 73"),
        (QUANTS, ",74,Q4_K_M,", ",74,Q4_K_XXL,", "has no mix Q4_K_XXL"),
        (QUANTS, ",mixtures,", ",mixture,", "models is mixture"),
        (QUANTS, ",excellent,", ",excelent,", "line 2: quality is excelent"),
        (MODELS, '"architecture": "gemma3"', '"architecture": "gemma33"', "is not known"),
        (MODELS, '"conv_kernel": 4, ', "", "a measure that its tensors need is missing"),
        (MODELS, '"attention": "latent"', '"attention": "latend"', "attention is latend"),
        (
            DEVICES,
            "RTX A1000 8 GB,NVIDIA,nvidia-ampere,",
            "RTX A1000 8 GB,NVIDIA,nvidia-ampere-hbm,",
            "rtx-a1000-8gb: memory_type is GDDR6, its class has HBM2 or HBM2e",
        ),
        (
            DEVICES,
            "Fury X 4 GB,AMD,amd-gcn-hbm,",
            "Fury X 4 GB,AMD,amd-gcn,",
            "radeon-r9-fury-x-4gb: memory_type is HBM, its class has GDDR5",
        ),
        (DEVICES, "RTX 3090 24 GB,NVIDIA,", "RTX 3090 24 GB,NVIDA,", "vendor is NVIDA"),
        (DEVICES, ",936.2,", ",9362,", "bandwidth_gb_s is 9362, which GDDR6X does not give"),
        (DEVICES, ",2039,", ",20390,", "bandwidth_gb_s is 20390, which HBM2e does not give"),
        (DEVICES, ",102.4,system-memory", ",10.24,system-memory", "bandwidth_gb_s is 10.24"),
        (DEVICES, ",71.16,hf x2,", ",7.116,hf x2,", "fp16_tflops is 0.20 of fp32_tflops"),
        (DEVICES, ",yes,350,1500,2020,", ",yes,350,1500,2002,", "year is 2002"),
        (DEVICES, ",yes,350,1500,2020,", ",no,350,1500,2020,", "bf16 is no"),
        (DEVICES, ",24,GDDR6X,,1,page", ",24,GDDR6X,,0.9,page", "usable_share of its own memory"),
        (DEVICES, ",power_w,", ",power_v,", "no column power_w"),
        (DEVICES, "year,source\n", "year,source,\n", "cells for"),
        (TARGETS, ",nvidia-ada,", ",nvidia-adda,", "on nvidia-adda: the class"),
        (TARGETS, "|mxfp4,", "|mxfp5,", "no quantization is of the family mxfp5"),
        (TARGETS, ",fitted,public-fit", ",law,public-fit", "regime law of public-fit"),
        (TARGETS, ",public-law", ",hearsay", "source hearsay is not in the README"),
        (TARGETS, ",0.98,", ",98,", "share_high is 98"),
        (BUILDS, "smollm2-135m-instruct,", "smollm2-136m-instruct,", "no model is smollm2-136m"),
        (BUILDS, "tinyllama-1.1b-chat-v1.0,", "smollm2-135m-instruct,", "is of tinyllama-1.1b"),
        (BUILDS, "98362432", "108362432", "108362432 bytes are not the size of smollm2-135m"),
        (BUILDS, "00003-of-00004", "00003-of-00005", "parts are not the whole set"),
        (BUILDS, ",reference", ",hearsay", "source hearsay is not in the README"),
        (BUILDS, "Q4_1,98362432", "Q4_0,98362432", "quantization is Q4_0, the file's name says"),
        (BUILDS, "b179c9523d0e6a", "B179c9523d0e6a", "not 64 lower-case hexadecimal digits"),
        (
            BUILDS,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            "6bcfc9f9c37901eeb92172e2ab871224dab36a453d263bcb2547f737409534da",
            "its sum is that of",
        ),
        (HELD_BACK, "512", "1e400", "least_mib is 1e400"),
        (HELD_BACK, "assumed", "hearsay", "source hearsay is not in the README"),
    ],
)
def test_the_check_finds_what_is_wrong(copy, name, old, new, problem):
    text = resources.text(name)
    assert old in text
    (copy / name).write_text(text.replace(old, new), encoding="utf-8")
    assert any(problem in line for line in catalogue_check.problems(copy))


@pytest.mark.parametrize("name", catalogue_check.COLUMNS)
def test_the_check_finds_a_column_that_nothing_explains(copy, name):
    header, *lines = resources.text(name).splitlines()
    text = "\n".join([f"{header},colour", *(f"{line},blue" for line in lines)])
    (copy / name).write_text(text, encoding="utf-8")
    assert any("column colour is not in" in line for line in catalogue_check.problems(copy))


@pytest.mark.parametrize("name", [MODELS, *catalogue_check.COLUMNS])
def test_the_check_finds_bytes_that_are_no_text(copy, name):
    (copy / name).write_bytes(resources.text(name).encode()[:-1] + b"\xff\n")
    (problem,) = catalogue_check.problems(copy)
    assert name in problem
    assert "is no UTF-8" in problem


def test_the_check_names_each_table_that_cannot_be_read(copy):
    for name in (QUANTS, TARGETS):
        (copy / name).write_text("a\n", encoding="utf-8")
    assert len(catalogue_check.problems(copy)) == 2


def test_the_check_knows_all_classes_and_no_others():
    classes = {row["class"] for row in csv.DictReader(io.StringIO(resources.text(DEVICES)))}
    assert classes == set(KINDS)


def test_the_check_finds_tables_that_are_too_short(copy):
    (copy / MODELS).write_text(resources.text(MODELS).splitlines()[0], encoding="utf-8")
    assert "1 models, fewer than 120" in catalogue_check.problems(copy)


def test_layers_are_rebuilt_from_a_config():
    config = {
        "model_type": "gpt_oss", "num_hidden_layers": 24, "hidden_size": 2880,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128,
        "num_local_experts": 32, "num_experts_per_tok": 4, "intermediate_size": 2880,
        "layer_types": ["sliding_attention", "full_attention"] * 12,
    }  # fmt: skip
    model = find("gpt-oss-20b", ALL_MODELS)
    assert _sorted(groups_of(config)) == _sorted(model.groups)
    assert groups_of({"model_type": "unheard-of", "num_hidden_layers": 1}) is None
    assert _sorted((replace(model.groups[0], layers=24, indices=tuple(range(24))),)) != _sorted(
        model.groups
    )


@pytest.fixture
def packages(tmp_path):
    """Three packages as they are downloaded, each with one figure that ours has otherwise."""
    config = {"model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 4096,
              "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
              "intermediate_size": 12288, "vocab_size": 151_935}  # fmt: skip
    with zipfile.ZipFile(tmp_path / "aiconfigurator_core-1-any.whl", "w") as wheel:
        wheel.writestr("a/model_configs/Qwen--Qwen3-8B_config.json", json.dumps(config))
    rows = [{"name": "Qwen/Qwen3-8B", "parameters_raw": 8_190_735_360, "num_hidden_layers": 35,
             "hidden_size": 4096, "vocab_size": 151_936, "num_attention_heads": 32,
             "num_key_value_heads": 8}]  # fmt: skip
    with zipfile.ZipFile(tmp_path / "llmfit-1-any.whl", "w") as wheel:
        wheel.writestr("a/scripts/llmfit", b"\x7fELF\xff" + json.dumps(rows, indent=2).encode())
    source = (
        b'x = {\n\t"RTX 3090": {\n\t\tmemory: [24],\n\t\tpower: 351,\n\t\tmsrp: 1_500,\n\t},\n}'
    )
    with tarfile.open(tmp_path / "huggingface-tasks-1.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("package/src/hardware-nvidia.ts")
        member.size = len(source)
        archive.addfile(member, io.BytesIO(source))
    return tmp_path


def test_figures_that_the_packages_have_otherwise_are_named(packages, capsys):
    found = differences(catalogue_check.RESOURCES, packages)
    assert "qwen3-8b: vocabulary is 151936, the package has 151935" in found
    assert "qwen3-8b: layers is 36, the package has 35" in found
    assert "geforce-rtx-3090-24gb: power_w is 350, the package has 351.0" in found
    assert not any(line.startswith(("qwen3-8b: hidden", "qwen3-8b: groups")) for line in found)
    assert capsys.readouterr().out.splitlines() == [
        "1 models rebuilt from config.json",
        "1 models compared with the published counts",
        "1 devices compared",
    ]


def test_without_packages_nothing_differs(tmp_path):
    assert differences(catalogue_check.RESOURCES, tmp_path) == ()


def test_the_command(capsys):
    assert catalogue_check.main([]) == 0
    assert capsys.readouterr().out == "The catalogue is right.\n"
