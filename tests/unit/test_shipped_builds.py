"""Builds that are known as shipped: how the table's rows become builds that can be had."""

import csv
import io
from dataclasses import replace

import pytest

from desktop import resources
from desktop.builds.names import BuildName, parse_name
from desktop.builds.reference import reference
from desktop.builds.shipped import COLUMNS, RESOURCE, builds_of, read_files, shipped_builds
from desktop.errors import GramError
from desktop.estimate.catalogue import MODELS, read_models
from desktop.records.remote import RemoteFile

ALL_MODELS = read_models(resources.text(MODELS))
MODEL = next(m for m in ALL_MODELS if m.id == "qwen3-0.6b")
SUM = "0123456789abcdef" * 4
OTHER = "f" * 64
ROW = {
    "model": "qwen3-0.6b", "repository": "Ann/Small-GGUF", "file": "small-Q4_K_M.gguf",
    "quantization": "Q4_K_M", "size_bytes": "400", "sha256": SUM, "gated": "", "source": "github",
}  # fmt: skip
PART = {"file": "q/small-Q8_0-0000{}-of-00002.gguf", "quantization": "Q8_0"}


def table(*rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows([ROW | row for row in rows])
    return text.getvalue()


def builds(*rows):
    return builds_of(read_files(table(*rows)), [MODEL])


def part(number, **others):
    return PART | {"file": PART["file"].format(number)} | others


def test_a_file_is_a_build_with_the_context_and_licence_of_its_model():
    (build,) = builds({})
    assert (build.name, build.repository) == ("hf.co/Ann/Small-GGUF:Q4_K_M", "Ann/Small-GGUF")
    assert (build.packager, build.quantization, build.model) == ("Ann", "Q4_K_M", "qwen3-0.6b")
    assert (build.context_trained, build.license) == (MODEL.context_trained, MODEL.license)
    assert build.files == (RemoteFile("small-Q4_K_M.gguf", 400, SUM),)
    assert (build.size_bytes, build.sha256) == (400, SUM)
    assert (build.listed_at, build.added) == (None, False)


@pytest.mark.parametrize(("cell", "gated"), [("yes", True), ("no", False), ("", None)])
def test_gated_is_unknown_where_nobody_tells(cell, gated):
    assert builds({"gated": cell})[0].gated is gated


@pytest.mark.parametrize(
    ("unknown", "size", "sha256"), [("size_bytes", None, SUM), ("sha256", 400, None)]
)
def test_what_is_not_known_stays_unknown(unknown, size, sha256):
    (build,) = builds({unknown: ""})
    assert (build.size_bytes, build.sha256, build.files) == (size, sha256, ())


def test_parts_of_a_set_are_one_build_in_their_order():
    (build,) = builds(part(2, size_bytes="30", sha256=OTHER), part(1))
    assert build.name == "hf.co/Ann/Small-GGUF:Q8_0"
    assert (build.size_bytes, build.sha256) == (430, SUM)
    assert build.files == (
        RemoteFile("q/small-Q8_0-00001-of-00002.gguf", 400, SUM),
        RemoteFile("q/small-Q8_0-00002-of-00002.gguf", 30, OTHER),
    )


@pytest.mark.parametrize("unknown", ["size_bytes", "sha256"])
def test_a_set_of_which_one_part_is_not_known_has_no_files(unknown):
    (build,) = builds(part(1), part(2, **{unknown: ""}))
    assert build.files == ()
    assert build.size_bytes == (None if unknown == "size_bytes" else 800)


def test_a_set_that_lacks_a_part_is_no_build():
    assert builds(part(1)) == ()


def test_a_set_of_one_part_is_not_the_file_without_a_number():
    names = [b.name for b in builds({}, {"file": "small-Q4_K_M-00001-of-00001.gguf"})]
    assert names == [
        "hf.co/Ann/Small-GGUF:small-Q4_K_M.gguf",
        "hf.co/Ann/Small-GGUF:small-Q4_K_M-00001-of-00001.gguf",
    ]


def test_two_builds_of_one_quantization_are_named_by_their_files():
    names = [build.name for build in builds({}, {"file": "big-Q4_K_M.gguf"})]
    assert names == [
        "hf.co/Ann/Small-GGUF:small-Q4_K_M.gguf",
        "hf.co/Ann/Small-GGUF:big-Q4_K_M.gguf",
    ]


def test_a_file_that_does_not_tell_its_quantization_is_named_by_itself():
    (build,) = builds({"file": "small.gguf", "quantization": ""})
    assert (build.name, build.quantization) == ("hf.co/Ann/Small-GGUF:small.gguf", None)


def test_only_builds_of_the_models_asked_for():
    assert builds_of(read_files(table({})), [replace(MODEL, id="another")]) == ()
    assert {build.model for build in shipped_builds([MODEL])} == {MODEL.id}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("model", ""),
        ("repository", "Ann"),
        ("repository", "Ann/../Small"),
        ("repository", "https://huggingface.co/Ann/Small"),
        ("file", ""),
        ("file", "small-Q4_K_M.bin"),
        ("file", "../small-Q4_K_M.gguf"),
        ("file", "/small-Q4_K_M.gguf"),
        ("file", "con.Q4_K_M.gguf"),
        ("file", "mmproj-small-Q4_K_M.gguf"),
        ("file", "small-Q4_K_M-00003-of-00002.gguf"),
        ("file", "small-Q4_K_M-00001-of-09999.gguf"),
        ("quantization", "Q4_K_S"),
        ("quantization", ""),
        ("size_bytes", "0"),
        ("size_bytes", "4.5"),
        ("size_bytes", "2e15"),
        ("sha256", SUM.upper()),
        ("sha256", SUM[:-1]),
        ("sha256", SUM[:-1] + "g"),
        ("gated", "maybe"),
    ],
)
def test_a_wrong_cell_is_told_with_line_and_column(column, value):
    with pytest.raises(GramError) as caught:
        read_files(table({}, {"file": "other-Q4_K_M.gguf", column: value}))
    assert caught.value.code == "resource_damaged"
    assert RESOURCE in str(caught.value)
    assert "line 3" in str(caught.value)
    assert column in str(caught.value)


def test_a_file_twice_is_told_whatever_the_capitals():
    with pytest.raises(GramError, match="stands twice, first in line 2"):
        read_files(table({}, {"repository": "ann/small-gguf"}))


@pytest.fixture(scope="module")
def shipped():
    return shipped_builds(ALL_MODELS)


def test_there_are_builds_of_many_models(shipped):
    assert len(shipped) >= 200
    assert len({build.model for build in shipped}) >= 80


def test_the_reference_build_is_one_of_them(shipped):
    (found,) = [build for build in shipped if build.sha256 == reference().sha256]
    assert found.name == str(reference().name)
    assert found.size_bytes == reference().size_bytes


def test_each_name_is_read_back_and_is_one_builds(shipped):
    names = [parse_name(build.name) for build in shipped]
    assert all(isinstance(name, BuildName) for name in names)
    assert len({str(name).casefold() for name in names}) == len(shipped)
