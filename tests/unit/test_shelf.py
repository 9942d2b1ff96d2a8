"""What is on this machine: Gram's own and other programs' builds, by name, kept and removed."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from desktop.builds.grouping import group
from desktop.builds.hashes import hashes_in
from desktop.builds.hub_fields import read_facts, read_files
from desktop.builds.library import Library
from desktop.builds.listings import Listings
from desktop.builds.reference import reference
from desktop.cli import builds_shelf
from desktop.cli.plain import to_plain
from desktop.clock import utc_now, utc_text
from desktop.errors import BuildError
from desktop.records.library import Checked, Kept
from desktop.records.offers import GRAM, OfferedBuild
from desktop.services import shelf
from desktop.services.check_others import check_others
from desktop.services.named_builds import note_use
from desktop.services.offers import Held, forget_added
from tests.unit.gguf_files import gguf_bytes
from tests.unit.named import named_build
from tests.unit.test_named_builds import in_ollama


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
    assert (mine.keepers, mine.ours) == ((GRAM,), True)
    # as the headers tell, whatever the names say
    assert (mine.quantization, other.quantization) == ("F16", "F16")
    assert mine.freed_bytes == mine.size_bytes == target.stat().st_size == found.kept_bytes
    assert (other.files, other.keepers, other.ours) == ((file,), ("LM Studio",), False)
    assert (other.sha256, other.freed_bytes) == (None, 0)
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


def test_what_has_no_readable_header_has_the_quantization_of_its_name(home, tmp_path):
    _, target = own(home, tmp_path)
    target.write_bytes(bytes(target.stat().st_size))
    assert shelf.shelf_of(home).held[0].quantization == "Q4_0"


def test_other_names_of_the_same_file_are_told(home, tmp_path, person):
    content = gguf_bytes(tmp_path, 1)
    for model, tag in (("tiny", "1b"), ("tiny", "latest"), ("other", "2b")):
        in_ollama(person, content, model, tag)
    (held,) = shelf.shelf_of(home).held
    assert (held.name, held.also) == ("other:2b", ("tiny:1b", "tiny:latest"))
    sha256, _ = own(home, tmp_path)
    hashes_in(home).sha256(held.files[0])
    hashes_in(home).sha256(theirs(person, content))
    (held,) = shelf.shelf_of(home).held
    assert (held.name, held.sha256) == ("hf.co/o/r:Q4_0", sha256)
    assert held.also == ("hf.co/o/r:Q8_0", "other:2b", "tiny:1b", "tiny:latest")
    assert shelf.held_of(Library(home), sha256).also == ()


def test_each_name_is_listed_and_is_where_an_offer_is(home, tmp_path, person, capsys):
    content = gguf_bytes(tmp_path, 1)
    for tag in ("1b", "latest"):
        in_ollama(person, content, "llama", tag)
    found = shelf.shelf_of(home)
    offered = OfferedBuild("llama:latest", "o/r", "Q4_0")
    assert Held(found).of(offered) == found.held[0]
    assert Held(found).of(replace(offered, name="llama:3b")) is None
    builds_shelf.listed(found)
    assert "llama:latest" in capsys.readouterr().out
    assert to_plain(found)["held"][0]["also"] == ["llama:latest"]


def test_when_another_program_s_build_was_measured_is_known(home, tmp_path, person):
    file = theirs(person, gguf_bytes(tmp_path, 1))
    assert shelf.shelf_of(home).held[0].used_at is None
    before = utc_text(utc_now())
    note_use(home, named_build(home, file.name))
    assert before <= shelf.shelf_of(home).held[0].used_at <= utc_text(utc_now())
    assert str(person) not in (home.cache / "uses.json").read_text()
    file.write_bytes(gguf_bytes(tmp_path, 2))
    assert shelf.shelf_of(home).held[0].used_at is None


def test_an_unfinished_download_is_told_so(home, tmp_path):
    content = gguf_bytes(tmp_path, 1)
    sha256 = hashlib.sha256(content).hexdigest()
    (target,) = Library(home).expect("hf.co/o/r:Q4_0", {"m.gguf": sha256}, None)
    target.parent.mkdir(parents=True)
    target.with_name(f"{target.name}.damaged").write_bytes(content)
    (held,) = shelf.shelf_of(home).held
    assert held.kept is Kept.DAMAGED


@pytest.mark.parametrize(
    "told",
    [
        *("hf.co/o/r:Q4_0", "o/r:q4_0", "m1-Q4_0.gguf", "M1-Q4_0", "sum", "start"),
        *("o/r", "https://huggingface.co/o/r", "o/r:m1-Q4_0.gguf", "path"),
    ],
)
def test_one_is_meant_by_its_names(home, tmp_path, told):
    sha256, target = own(home, tmp_path)
    own(home, tmp_path, 2, "hf.co/o/other:Q4_0")
    told = {"sum": sha256, "start": sha256[:8], "path": str(target)}.get(told, told)
    assert shelf.own_build(home, told).sha256 == sha256


@pytest.mark.parametrize("told", ["", "o/r2", "start", "nobody"])
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
    assert [e.sha256 for e in shelf.to_check(home).entries] == [sha256]
    checked = shelf.verify(home, shelf.own_build(home, sha256))
    assert checked.checked.told.code == "library_damaged"
    [entry] = shelf.to_check(home).entries
    assert shelf.verify(home, entry).checked.told.code == "build_damaged"


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


def test_the_reference_is_meant_by_that_word(home, reference_file):
    target = home.builds / reference().sha256 / reference().stored_as
    target.parent.mkdir()
    target.symlink_to(reference_file)
    assert shelf.own_build(home, "reference").sha256 == reference().sha256


def test_who_keeps_a_build_that_is_not_grams_is_named(home, tmp_path, person):
    theirs(person, gguf_bytes(tmp_path, 2))
    for text in (
        "hf.co/o/r:Q8_0",
        "o/r",
        "x-Q8_0",
        str(person / ".lmstudio/models/o/r/x-Q8_0.gguf"),
    ):
        with pytest.raises(BuildError) as caught:
            shelf.own_build(home, text)
        assert caught.value.code == "library_others"
        assert "kept by LM Studio" in str(caught.value)


def test_an_unfinished_one_is_not_read_but_told(home, tmp_path):
    sha256, target = own(home, tmp_path)
    pieces = target.rename(target.with_name(f".{target.name}.partial"))
    entry = shelf.own_build(home, "o/r")
    assert (entry.sha256, entry.kept) == (sha256, Kept.PART)
    with pytest.raises(BuildError) as caught:
        shelf.verify(home, entry)
    assert caught.value.code == "build_unfinished"
    assert "`gram builds get hf.co/o/r:Q4_0`" in str(caught.value)
    assert shelf.to_check(home).entries == ()
    assert pieces.is_file()


def test_what_was_set_aside_is_told_each_time(home, tmp_path):
    sha256, target = own(home, tmp_path)
    aside = target.rename(target.with_name(f"{target.name}.damaged"))
    [entry] = shelf.to_check(home).entries
    assert (entry.sha256, entry.kept) == (sha256, Kept.DAMAGED)
    for _ in range(2):
        told = shelf.verify(home, entry).checked.told
        assert told.code == "build_damaged"
        assert "`gram builds get hf.co/o/r:Q4_0`" in told.advice()
    assert aside.is_file()


def listed(home, content, *, added=False):
    file = {"path": "x-Q8_0.gguf", "size": len(content)}
    sha256 = hashlib.sha256(content).hexdigest()
    rows = {"type": "file", **file, "lfs": {"oid": sha256, "size": len(content)}}
    listing = group(read_facts({"id": "o/r", "sha": "0" * 40}), read_files([rows]))
    Listings(home.data).keep(listing, utc_now(), added=added)


class TestOthersChecked:
    def check(self, home, text="o/r"):
        return check_others(home, shelf.meant_build(home, text)).checked

    def test_against_what_their_repository_listed(self, home, tmp_path, person):
        content = gguf_bytes(tmp_path, 2)
        file = theirs(person, content)
        listed(home, content)
        assert self.check(home) == Checked(None, None)
        file.write_bytes(content[:-1] + b"~")
        assert self.check(home).told.code == "verify_other"
        assert file.is_file()

    def test_against_what_their_keeper_says(self, home, tmp_path, person):
        content = gguf_bytes(tmp_path, 2)
        sha256 = hashlib.sha256(content).hexdigest()
        blob = person / ".cache/huggingface/hub/models--o--r/blobs" / sha256
        snapshot = blob.parent.parent / "snapshots" / ("1" * 40) / "x-Q8_0.gguf"
        for path in (blob, snapshot):
            path.parent.mkdir(parents=True)
        blob.write_bytes(content)
        snapshot.symlink_to(blob)
        assert self.check(home) == Checked(None, None)
        blob.write_bytes(content[:-1] + b"~")
        assert self.check(home).told.code == "on_disk_claim_wrong"

    def test_nothing_to_compare_with(self, home, tmp_path, person):
        content = gguf_bytes(tmp_path, 2)
        theirs(person, content)
        told = self.check(home).told
        assert told.code == "verify_no_sum"
        assert hashlib.sha256(content).hexdigest() in told.advice()

    def test_not_while_something_is_measured(self, home, tmp_path, person):
        theirs(person, gguf_bytes(tmp_path, 2))
        with FileLock(home.measure_lock), pytest.raises(BuildError) as caught:
            self.check(home)
        assert caught.value.code == "library_measuring"


@pytest.mark.parametrize("added", [True, False])
def test_only_what_the_person_added_is_forgotten(home, added):
    listed(home, b"GGUF", added=added)
    assert forget_added(home, "hf.co/o/r") is added
    assert ("o/r" in Listings(home.data).read()[0]) is not added
