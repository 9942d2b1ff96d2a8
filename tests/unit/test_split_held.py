"""Split sets that are here: one that differs in a later part only is another build."""

import hashlib

import pytest

from desktop.builds.hashes import hashes_in
from desktop.builds.library import Library
from desktop.records.offers import GRAM, OfferedBuild, Shelf
from desktop.records.remote import RemoteFile
from desktop.services import shelf
from desktop.services.offers import Held
from tests.unit.gguf_files import gguf_set


@pytest.fixture
def person(tmp_path, monkeypatch):
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def own(home, tmp_path):
    """Of Gram's own, whole; its contents by file name."""
    contents = {p.name: p.read_bytes() for p in gguf_set(tmp_path, "s-Q4_0")}
    targets = Library(home).expect("hf.co/o/s:Q4_0", sums_of(contents), None)
    targets[0].parent.mkdir()
    for target, content in zip(targets, contents.values(), strict=True):
        target.write_bytes(content)
    return contents


def sums_of(contents):
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def changed(contents):
    """Another last byte of the last part."""
    last = list(contents)[-1]
    return contents | {last: contents[last][:-1] + b"!"}


def in_lm_studio(person, contents, home):
    folder = person / ".lmstudio" / "models" / "o" / "s"
    folder.mkdir(parents=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        hashes_in(home).sha256(folder / name)


def test_a_copy_is_the_same_build(home, person, own):
    in_lm_studio(person, own, home)
    [held] = shelf.shelf_of(home).held
    assert held.keepers == (GRAM, "LM Studio")


def test_a_set_with_another_last_part_is_another_build(home, person, own):
    in_lm_studio(person, changed(own), home)
    held = shelf.shelf_of(home).held
    assert sorted(h.keepers for h in held) == [(GRAM,), ("LM Studio",)]
    assert len({h.sha256 for h in held}) == 1
    assert len({h.build_sha256 for h in held}) == 2


def offered(contents):
    sums = sums_of(contents)
    files = tuple(RemoteFile(n, len(contents[n]), sums[n]) for n in contents)
    size = sum(file.size_bytes for file in files)
    return OfferedBuild(
        "hf.co/o/s:Q4_0", "o/s", "Q4_0", size_bytes=size, sha256=files[0].sha256, files=files
    )


def test_what_a_repository_changed_in_a_later_part_is_not_here(home, person, own):
    here = Held(Shelf(shelf.shelf_of(home).held))
    assert here.of(offered(own)) is not None
    assert here.of(offered(changed(own))) is None
