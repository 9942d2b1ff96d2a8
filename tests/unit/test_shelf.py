"""What is on this machine: Gram's own and other programs' builds, by name, kept and removed."""

import hashlib
from pathlib import Path

import pytest

from desktop.builds.hashes import hashes_in
from desktop.builds.library import Library
from desktop.errors import BuildError
from desktop.records.library import Kept
from desktop.records.offers import GRAM
from desktop.services import shelf
from tests.unit.gguf_files import gguf_bytes


@pytest.fixture(autouse=True)
def person(tmp_path, monkeypatch):
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def own(home, tmp_path, seed=1, name="hf.co/o/r:Q4_0"):
    content = gguf_bytes(tmp_path, seed)
    sha256 = hashlib.sha256(content).hexdigest()
    file = f"m{seed}-Q4_0.gguf"
    (target,) = Library(home).expect(name, {file: sha256}, "https://x/y")
    target.parent.mkdir(parents=True)
    target.write_bytes(content)
    return sha256, target


def theirs(person, content, name="x-Q8_0.gguf"):
    file = person / ".lmstudio" / "models" / "o" / "r" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def test_own_and_others_by_name(home, tmp_path, person):
    sha256, target = own(home, tmp_path)
    file = theirs(person, gguf_bytes(tmp_path, 2))
    found = shelf.shelf_of(home)
    assert found.told == ()
    mine, other = found.held
    assert (mine.name, mine.sha256, mine.files) == ("hf.co/o/r:Q4_0", sha256, (target,))
    assert (mine.keepers, mine.ours, mine.quantization) == ((GRAM,), True, "Q4_0")
    assert mine.freed_bytes == mine.size_bytes == target.stat().st_size == found.kept_bytes
    assert (other.files, other.keepers, other.ours) == ((file,), ("LM Studio",), False)
    assert (other.sha256, other.freed_bytes, other.quantization) == (None, 0, "Q8_0")
    assert found.free_bytes > 0
    assert found.budget_bytes > found.kept_bytes


def test_the_same_bytes_are_one_build_with_two_keepers(home, tmp_path, person):
    sha256, target = own(home, tmp_path)
    file = theirs(person, target.read_bytes())
    assert len(shelf.shelf_of(home).held) == 2  # nobody knows yet
    hashes_in(home).sha256(file)
    (held,) = shelf.shelf_of(home).held
    assert held.sha256 == sha256
    assert held.keepers == (GRAM, "LM Studio")
    assert held.files == (target,)


def test_an_unfinished_download_is_told_so(home, tmp_path):
    content = gguf_bytes(tmp_path, 1)
    sha256 = hashlib.sha256(content).hexdigest()
    (target,) = Library(home).expect("hf.co/o/r:Q4_0", {"m.gguf": sha256}, None)
    target.parent.mkdir(parents=True)
    target.with_name(f"{target.name}.damaged").write_bytes(content)
    (held,) = shelf.shelf_of(home).held
    assert held.kept is Kept.DAMAGED


@pytest.mark.parametrize(
    "told", ["hf.co/o/r:Q4_0", "o/r:q4_0", "m1-Q4_0.gguf", "M1-Q4_0", "sum", "start"]
)
def test_one_is_meant_by_its_names(home, tmp_path, told):
    sha256, _ = own(home, tmp_path)
    own(home, tmp_path, 2, "hf.co/o/other:Q4_0")
    told = {"sum": sha256, "start": sha256[:8]}.get(told, told)
    assert shelf.own_build(home, told).sha256 == sha256


@pytest.mark.parametrize("told", ["", "o/r", "start", "nobody"])
def test_what_none_is_called_is_not_known(home, tmp_path, told):
    sha256, _ = own(home, tmp_path)
    with pytest.raises(BuildError) as caught:
        shelf.own_build(home, {"start": sha256[:7]}.get(told, told))
    assert caught.value.code == "library_unknown"


def test_two_of_one_name_are_told_apart_by_their_sums(home, tmp_path):
    sums = [own(home, tmp_path, seed)[0] for seed in (1, 2)]
    with pytest.raises(BuildError) as caught:
        shelf.own_build(home, "o/r:Q4_0")
    assert caught.value.code == "library_several"
    assert all(sha256[:12] in str(caught.value) for sha256 in sums)
    assert shelf.own_build(home, sums[1]).sha256 == sums[1]


def test_removed_pinned_and_checked(home, tmp_path):
    sha256, target = own(home, tmp_path)
    shelf.pin(home, shelf.own_build(home, sha256), pinned=True)
    assert shelf.shelf_of(home).held[0].pinned
    checked = shelf.verify(home, shelf.own_build(home, sha256))
    assert (checked.name, checked.checked.told) == ("hf.co/o/r:Q4_0", None)
    size = target.stat().st_size
    gone = shelf.delete(home, shelf.own_build(home, sha256))
    assert gone.freed_bytes == size
    assert not target.parent.exists()
    assert shelf.shelf_of(home).held == ()


def test_damaged_bytes_are_set_aside_and_no_more_whole(home, tmp_path):
    sha256, target = own(home, tmp_path)
    data = bytearray(target.read_bytes())
    data[-1] ^= 1
    target.write_bytes(data)
    assert [e.sha256 for e in shelf.whole_ones(home)] == [sha256]
    checked = shelf.verify(home, shelf.own_build(home, sha256))
    assert checked.checked.told.code == "library_damaged"
    assert shelf.whole_ones(home) == ()


def test_what_gram_did_not_fetch_is_neither_pinned_nor_removed(home, tmp_path):
    content = gguf_bytes(tmp_path, 1)
    folder = home.builds / hashlib.sha256(content).hexdigest()
    folder.mkdir()
    (folder / "theirs.gguf").write_bytes(content)
    entry = shelf.own_build(home, folder.name)
    for call in (shelf.delete, lambda *a: shelf.pin(*a, pinned=True)):
        with pytest.raises(BuildError) as caught:
            call(home, entry)
        assert caught.value.code in {"library_not_ours", "library_unknown"}
    assert Path(folder / "theirs.gguf").is_file()


def test_a_person_without_a_home(home, tmp_path, monkeypatch):
    own(home, tmp_path)

    def none():
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", none)
    found = shelf.shelf_of(home)
    assert len(found.held) == 1
    assert [reason.code for reason in found.told] == ["on_disk_unreadable"]
