"""Builds measured by name: which is meant, whoever keeps it, and that nothing there changes."""

import hashlib
import json
import os
from types import SimpleNamespace

import pytest

from desktop.builds.grouping import group
from desktop.builds.hashes import Hashes, hashes_in, sha256_of
from desktop.builds.library import Library
from desktop.builds.listings import Listings
from desktop.builds.reference import reference
from desktop.builds.store import find_build, list_builds, locate
from desktop.clock import utc_now
from desktop.errors import BuildError
from desktop.records.build import LocalBuild
from desktop.records.remote import RemoteFile, RepositoryFacts
from desktop.services.named_builds import identify_build, locate_build, note_use
from tests.unit.gguf_files import gguf_bytes, gguf_set
from tests.unit.named import named_build
from tests.unit.test_on_disk import snapshot

FETCHED_AT = "2026-01-02T03:04:05Z"


def refused(call):
    with pytest.raises(BuildError) as caught:
        call()
    return caught.value


@pytest.fixture
def person(home, tmp_path, monkeypatch):
    """A home in which other programs keep builds, and nothing that leads out of it."""
    for name in tuple(os.environ):
        if name.startswith(("HF_", "HUGGINGFACE_", "OLLAMA_", "LLAMA_", "XDG_")):
            monkeypatch.delenv(name)
    place = tmp_path / "person"
    place.mkdir()
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(place))
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def model(tmp_path):
    return gguf_bytes(tmp_path, 1)


def fetched(home, name, data, file="tiny-Q4_K_M.gguf"):
    """A build that Gram fetched."""
    sha256 = hashlib.sha256(data).hexdigest()
    (path,) = Library(home).expect(name, {file: sha256}, None)
    path.parent.mkdir()
    path.write_bytes(data)
    return path


def in_ollama(person, data, model="tiny", tag="1b", claim=None):
    sha256 = claim or hashlib.sha256(data).hexdigest()
    store = person / ".ollama" / "models"
    blob = store / "blobs" / f"sha256-{sha256}"
    manifest = store / "manifests" / "registry.ollama.ai" / "library" / model / tag
    for path in (blob, manifest):
        path.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(data)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{sha256}"}
    manifest.write_text(json.dumps({"layers": [layer]}))
    return blob


def in_lm_studio(person, data, owner="owner", file="tiny-Q4_K_M.gguf"):
    path = person / ".lmstudio" / "models" / owner / "tiny-GGUF" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


# Gram's own


@pytest.mark.parametrize(
    "text",
    [
        "hf.co/owner/Tiny-GGUF:Q4_K_M",
        "owner/tiny-gguf:q4_k_m",
        "huggingface.co/Owner/Tiny-GGUF:Q4_K_M",
        "owner/Tiny-GGUF",
        "owner/Tiny-GGUF:tiny-Q4_K_M.gguf",
        "https://huggingface.co/owner/Tiny-GGUF/resolve/main/tiny-Q4_K_M.gguf",
        "tiny-Q4_K_M.gguf",
        "TINY-q4_k_m",
    ],
)
def test_gram_s_own_is_found_by_its_name_and_its_file(home, model, tmp_path, text):
    path = fetched(home, "hf.co/owner/Tiny-GGUF:Q4_K_M", model)
    fetched(home, "hf.co/owner/other-GGUF:Q4_K_M", gguf_bytes(tmp_path, 2), "other.gguf")
    local = find_build(text, home, hashes_in(home))
    assert local.path == path
    assert local.build.name == "hf.co/owner/Tiny-GGUF:Q4_K_M"


def test_a_tag_finds_a_build_that_is_named_by_its_file(home, model):
    path = fetched(home, "hf.co/o/r:sub/tiny-Q4_K_M.gguf", model)
    assert locate("o/r:Q4_K_M", home).path == path
    assert refused(lambda: locate("o/r:Q8_0", home)).code == "build_not_here"
    address = "https://huggingface.co/o/r/blob/abc/sub/tiny-Q4_K_M.gguf"
    assert refused(lambda: locate(address, home)).code == "build_not_here"


@pytest.mark.parametrize("name", ["hf.co/o/f:Q4_K_M/model.gguf", "hf.co/o/f:Q4_K_M"])
def test_folders_of_a_repository_tell_its_builds_apart(home, model, name):
    path = fetched(home, name, model, "Q4_K_M/model.gguf")
    address = "https://huggingface.co/o/f/blob/main/{}/model.gguf"
    for text in ("o/f:Q4_K_M/model.gguf", address.format("Q4_K_M"), "o/f:model.gguf"):
        assert locate(text, home).path == path
    for text in ("hf.co/o/f:Q8_0/model.gguf", address.format("Q8_0")):
        assert refused(lambda text=text: locate(text, home)).code == "build_not_here"


def test_a_file_beside_the_folders_is_meant_before_one_in_them(home, model, tmp_path):
    fetched(home, "hf.co/o/f:old/model.gguf", model, "old/model.gguf")
    path = fetched(home, "hf.co/o/f:model.gguf", gguf_bytes(tmp_path, 2), "model.gguf")
    for text in ("o/f:model.gguf", "https://huggingface.co/o/f/resolve/main/model.gguf"):
        assert locate(text, home).path == path


def test_folders_count_in_the_hub_s_own_cache(home, person, model):
    repo = person / ".cache" / "huggingface" / "hub" / "models--o--f"
    path = repo / "snapshots" / "abc" / "a" / "x-Q4_0.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(model)
    assert locate_build(home, "o/f:a/x-Q4_0.gguf").path == path
    error = refused(lambda: locate_build(home, "o/f:b/x-Q4_0.gguf"))
    assert error.code == "build_not_here"


def test_another_revision_is_not_meant_by_the_repository_s_name(home, person, model):
    address = f"https://huggingface.co/o/r/blob/{'a' * 40}/tiny-Q4_K_M.gguf"
    fetched(home, address, model)
    for name in ("o/r", "hf.co/o/r:Q4_K_M", "hf.co/o/r:tiny-Q4_K_M.gguf"):
        assert refused(lambda name=name: named_build(home, name)).code == "build_not_here"
    assert named_build(home, address).build.name == address


def test_gram_s_own_is_found_by_how_its_sum_begins(home, model):
    path = fetched(home, "hf.co/o/r:Q4_K_M", model)
    sha256 = sha256_of(path)
    for text in (sha256, sha256[:8], sha256[:20].upper()):
        assert locate(text, home).path == path
    assert refused(lambda: locate(sha256[:7], home)).code == "build_not_found"
    assert refused(lambda: locate(f"{sha256[:8]}zz", home)).code == "build_not_found"


def test_the_reference_is_found_by_its_name(home):
    facts = reference()
    path = home.builds / facts.sha256 / facts.stored_as
    path.parent.mkdir()
    path.touch()
    os.truncate(path, facts.size_bytes)
    for text in (str(facts.name), str(facts.name).removeprefix("hf.co/").lower()):
        assert locate(text, home).path == path


def test_several_builds_of_one_name_are_told_apart(home, tmp_path):
    for n, label in enumerate(("Q4_K_M", "Q8_0")):
        fetched(home, f"hf.co/o/r:{label}", gguf_bytes(tmp_path, n), f"tiny-{label}.gguf")
    error = refused(lambda: locate("o/r", home))
    assert error.code == "build_several"
    assert "hf.co/o/r:Q4_K_M (Gram, tiny-Q4_K_M.gguf, " in str(error)
    assert "hf.co/o/r:Q8_0" in str(error)
    assert locate("o/r:q8_0", home).path.name == "tiny-Q8_0.gguf"


def test_a_file_comes_before_a_name_and_a_folder_behind_it(home, person, model, tmp_path):
    own = fetched(home, "hf.co/o/r:Q4_K_M", model)
    (person / "o" / "r").mkdir(parents=True)
    assert locate("o/r", home).path == own
    (person / "tiny-Q4_K_M").write_bytes(gguf_bytes(tmp_path, 2))
    assert locate("tiny-Q4_K_M", home).path.name == "tiny-Q4_K_M"
    (person / "empty").mkdir()
    error = refused(lambda: find_build("empty", home, hashes_in(home)))
    assert error.code == "build_unreadable"


def test_gram_s_own_that_was_changed_is_told(home, model):
    path = fetched(home, "hf.co/o/r:Q4_K_M", model)
    path.write_bytes(model[:-1] + b"x")
    skipped = []
    assert refused(lambda: find_build("o/r:Q4_K_M", home, hashes_in(home))).code == "build_changed"
    assert list_builds(home, on_skip=lambda _, why: skipped.append(why.code)) == ()
    assert skipped == ["build_changed"]
    # by its path it is what it is, and has no name that it did not come with
    assert find_build(str(path), home, hashes_in(home)).build.name == path.name


def test_by_its_path_gram_s_own_has_its_name(home, model, tmp_path):
    path = fetched(home, "hf.co/o/r:Q4_K_M", model)
    (tmp_path / "link").symlink_to(home.builds)
    for text in (path, tmp_path / "link" / path.parent.name / path.name):
        assert find_build(str(text), home, hashes_in(home)).build.name == "hf.co/o/r:Q4_K_M"


# other programs'


@pytest.mark.parametrize(
    "text", ["tiny:1b", "TINY:1B", "library/tiny:1b", "registry.ollama.ai/library/tiny:1b"]
)
def test_ollama_s_build_is_found_by_ollama_s_name_and_nothing_there_changes(
    home, person, model, tmp_path, text
):
    blob = in_ollama(person, model)
    in_ollama(person, gguf_bytes(tmp_path, 2), tag="3b")
    before = snapshot(person)
    named = locate_build(home, text)
    assert Hashes(home.cache / "hashes.json").known(blob) is None
    local = named_build(home, text)
    assert (named.path, local.path) == (blob, blob)
    assert local.build.name == "tiny:1b"
    assert local.build.sha256 == hashlib.sha256(model).hexdigest()
    note_use(home, local)
    assert snapshot(person) == before
    assert not (home.data / "library.json").exists()


def test_ollama_s_newest_needs_no_tag(home, person, model, tmp_path):
    blob = in_ollama(person, model, tag="latest")
    in_ollama(person, gguf_bytes(tmp_path, 2), tag="1b")
    assert locate_build(home, "tiny").path == blob


@pytest.mark.parametrize(
    "text",
    ["owner/tiny-GGUF:Q4_K_M", "hf.co/OWNER/tiny-gguf:q4_k_m", "tiny-q4_k_m.gguf", "tiny-Q4_K_M"],
)
def test_lm_studio_s_build_is_found_by_the_hub_s_name_and_its_file(home, person, model, text):
    path = in_lm_studio(person, model)
    assert named_build(home, text).path == path


def test_own_folders_and_files_of_the_settings_are_looked_through(home, person, model, tmp_path):
    (tmp_path / "shelf").mkdir()
    for n, name in enumerate(("shelf/in-folder.gguf", "single.gguf")):
        (tmp_path / name).write_bytes(gguf_bytes(tmp_path, n))
    told = [str(tmp_path / "shelf"), str(tmp_path / "single.gguf")]
    home.settings.write_text(f"[builds]\nfolders = {json.dumps(told)}\n", encoding="utf-8")
    assert locate_build(home, "in-folder").path == tmp_path / "shelf" / "in-folder.gguf"
    assert locate_build(home, "single.gguf").path == tmp_path / "single.gguf"


def test_other_programs_are_searched_only_where_nothing_else_is_meant(home, person, model):
    def never():
        raise AssertionError("searched")

    path = fetched(home, "hf.co/o/r:Q4_K_M", model)
    for text in ("o/r:Q4_K_M", str(path), "reference"):
        assert locate(text, home, never).copies
    for text in (str(person / "no.gguf"), "./no.gguf", "~/no.gguf"):
        assert refused(lambda text=text: locate(text, home, never)).code == "build_not_found"


def test_copies_are_one_build_and_the_first_is_taken(home, person, model, tmp_path):
    first = in_lm_studio(person, model, owner="a")
    in_lm_studio(person, model, owner="b")
    named = locate_build(home, "tiny-Q4_K_M")
    assert len(named.copies) == 2
    assert named_build(home, "tiny-Q4_K_M").path == first
    # once both are hashed they are one
    assert len(locate_build(home, "tiny-Q4_K_M").copies) == 1


def test_builds_of_one_name_and_size_that_differ_are_told(home, person, model, tmp_path):
    other = gguf_bytes(tmp_path, 2)
    assert len(other) == len(model)
    for owner, data in (("a", model), ("b", other)):
        in_lm_studio(person, data, owner=owner)
    error = refused(lambda: named_build(home, "tiny-Q4_K_M"))
    assert error.code == "build_several"
    assert hashlib.sha256(other).hexdigest()[:12] in str(error)
    assert named_build(home, "b/tiny-GGUF:Q4_K_M").build.sha256 == hashlib.sha256(other).hexdigest()


def test_a_copy_that_cannot_be_used_stands_in_nobody_s_way(home, person, tmp_path):
    parts = [part.read_bytes() for part in gguf_set(tmp_path, "set")]
    for owner, order in (("a", (0, 1, 1)), ("b", (0, 1, 2))):
        for number, which in enumerate(order, 1):
            in_lm_studio(person, parts[which], owner, f"set-0000{number}-of-00003.gguf")
    assert len(locate_build(home, "set").copies) == 2
    assert named_build(home, "set").path.parent.parent.name == "b"
    assert refused(lambda: named_build(home, "a/tiny-GGUF")).code == "gguf_header"


def test_what_another_program_says_is_found_by_how_its_sum_begins(home, person, model):
    blob = in_ollama(person, model)
    assert named_build(home, hashlib.sha256(model).hexdigest()[:12]).path == blob


def test_a_name_on_the_hub_that_is_not_here_is_told_how_to_get_it(home, person):
    error = refused(lambda: named_build(home, "owner/tiny-GGUF:Q4_K_M"))
    assert error.code == "build_not_here"
    assert "`gram builds get hf.co/owner/tiny-GGUF:Q4_K_M`" in error.reason.advice()
    assert refused(lambda: named_build(home, "tiny:1b")).code == "build_not_found"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("other:2b", "other:2b"),
        ("tiny:1b", "tiny:1b"),
        ("owner/tiny-GGUF", "hf.co/owner/tiny-GGUF:Q4_K_M"),
        ("tiny-q4_k_m", "hf.co/owner/tiny-GGUF:Q4_K_M"),
    ],
)
def test_of_several_names_the_one_that_was_asked_for_is_shown(home, person, model, text, name):
    blob = in_ollama(person, model)
    in_ollama(person, model, model="other", tag="2b")
    path = in_lm_studio(person, model)
    for file in (blob, path):
        hashes_in(home).sha256(file)
    named = locate_build(home, text)
    assert named.copies[0].name == name
    assert {place.name for place in named.copies[0].places} > {"tiny:1b", "other:2b"}
    assert named.copies[0].files == (named.path,)
    local = identify_build(home, named)
    # what is signed has a keeper's name only with a claim that is right
    assert local.build.name == ("other:2b" if "owner" in name else name)


# Gram's own that are not whole


def test_an_unfinished_build_is_called_so(home, person, model):
    path = fetched(home, "hf.co/o/r:Q4_K_M", model)
    path.unlink()
    path.with_name(f"{path.name}.damaged").write_bytes(model)
    for text in ("o/r:Q4_K_M", "o/r", path.parent.name[:9], path.name):
        error = refused(lambda text=text: locate_build(home, text))
        assert error.code == "build_damaged"
        assert "`gram builds get hf.co/o/r:Q4_K_M`" in error.reason.advice()
    assert refused(lambda: locate_build(home, "o/r:Q8_0")).code == "build_not_here"
    whole = in_lm_studio(person, model)
    assert locate_build(home, path.name).path == whole


def test_a_set_that_lacks_files_is_unfinished(home, person, tmp_path):
    parts = gguf_set(tmp_path, "set-Q4_0")
    targets = Library(home).expect("hf.co/o/s:Q4_0", {p.name: sha256_of(p) for p in parts}, None)
    targets[0].parent.mkdir()
    for part, target in zip(parts[:-1], targets[:-1], strict=True):
        part.rename(target)
    error = refused(lambda: locate_build(home, "o/s"))
    assert (error.code, error.reason.params["name"]) == ("build_unfinished", "hf.co/o/s:Q4_0")
    parts[-1].rename(targets[-1])
    assert locate_build(home, "o/s").path == targets[0]


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("models/sub/x.gguf", "build_not_here", "models/sub/x.gguf"),
        ("ollama run hf.co/x/y", "build_not_found", "ollama run hf.co/x/y"),
        ("hf:owner/repo", "build_not_found", "hf:owner/repo"),
        ("https://example.org/x.gguf", "build_no_name", "https://example.org/x.gguf"),
        ("/no/x.gguf", "build_not_found", "x.gguf"),
    ],
)
def test_what_is_not_here_is_told_as_it_was_written(home, person, text, code, told):
    error = refused(lambda: locate_build(home, text))
    assert (error.code, error.reason.params["name"]) == (code, told)


def test_an_address_of_the_mirror_is_a_name(home, person, model):
    path = fetched(home, "hf.co/o/r:Q4_K_M", model)
    text = "http://127.0.0.1:9/o/r/resolve/main/tiny-Q4_K_M.gguf"
    assert locate_build(home, text, environment={"HF_ENDPOINT": "http://127.0.0.1:9"}).path == path
    for endpoint in ("", "http://127.0.0.1:8", "no address"):
        error = refused(lambda e=endpoint: locate_build(home, text, environment={"HF_ENDPOINT": e}))
        assert error.code == "build_no_name"


# by what a repository listed


def listed(home, *files, owner="other", repo="Same-GGUF", commit="c" * 40):
    """Remember that a repository listed these builds: file name and bytes."""
    facts = RepositoryFacts(owner, repo, commit, None, gated=False)
    remote = (RemoteFile(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in files)
    Listings(home.data).keep(group(facts, tuple(remote)), utc_now())


def test_another_repository_s_name_of_the_same_bytes_is_meant(home, person, model, tmp_path):
    listed(home, ("x-Q4_K_M.gguf", model), ("x-Q8_0.gguf", gguf_bytes(tmp_path, 2)))
    assert refused(lambda: locate_build(home, "other/Same-GGUF")).code == "build_not_here"
    path = in_lm_studio(person, model)
    # a name alone is not looked at: its bytes have to be known
    assert refused(lambda: locate_build(home, "other/Same-GGUF")).code == "build_not_here"
    hashes_in(home).sha256(path)
    for text in ("other/Same-GGUF", "OTHER/same-gguf:q4_k_m", "other/Same-GGUF/x-Q4_K_M.gguf"):
        assert named_build(home, text).path == path
    assert refused(lambda: locate_build(home, "other/Same-GGUF:Q8_0")).code == "build_not_here"
    assert refused(lambda: locate_build(home, "other/Same-GGUF:Q5_0")).code == "build_not_here"
    at = "https://huggingface.co/other/Same-GGUF/resolve/{}/x-Q4_K_M.gguf"
    assert refused(lambda: locate_build(home, at.format("abc"))).code == "build_not_here"
    assert locate_build(home, at.format("main")).path == path


def test_so_is_gram_s_own_and_a_set(home, person, model, tmp_path):
    path = fetched(home, "hf.co/o/r:Q4_K_M", model)
    listed(home, ("x-Q4_K_M.gguf", model))
    assert named_build(home, "other/Same-GGUF").build.name == "hf.co/o/r:Q4_K_M"
    assert locate_build(home, "other/Same-GGUF").path == path
    parts = gguf_set(tmp_path, "set-Q4_0")
    listed(home, *((part.name, part.read_bytes()) for part in parts), repo="Set-GGUF")
    for part in parts:
        kept = in_lm_studio(person, part.read_bytes(), file=part.name.replace("set", "own"))
        hashes_in(home).sha256(kept)
    found = locate_build(home, "other/Set-GGUF")
    assert found.path.name == "own-Q4_0-00001-of-00003.gguf"


# that it was used


def last_used_long_ago(home, sha256):
    notes = home.data / "library.json"
    table = json.loads(notes.read_text())
    table["builds"][sha256]["used_at"] = FETCHED_AT
    notes.write_text(json.dumps(table))
    assert Library(home).entry(sha256).used_at == FETCHED_AT


def test_the_use_of_gram_s_own_is_noted(home, model):
    sha256 = fetched(home, "hf.co/o/r:Q4_K_M", model).parent.name
    last_used_long_ago(home, sha256)
    note_use(home, find_build("o/r", home, hashes_in(home)))
    assert Library(home).entry(sha256).used_at > FETCHED_AT


def test_the_use_of_a_set_is_noted_by_its_first_file(home, tmp_path):
    parts = gguf_set(tmp_path, "set-Q4_0")
    targets = Library(home).expect("hf.co/o/s:Q4_0", {p.name: sha256_of(p) for p in parts}, None)
    targets[0].parent.mkdir()
    for part, target in zip(parts, targets, strict=True):
        part.rename(target)
    sha256 = targets[0].parent.name
    last_used_long_ago(home, sha256)
    local = find_build("o/s", home, hashes_in(home))
    assert local.build.sha256 != sha256
    note_use(home, local)
    assert Library(home).entry(sha256).used_at > FETCHED_AT


def test_a_list_that_cannot_be_written_costs_no_run(home, model, caplog):
    local = find_build(str(fetched(home, "hf.co/o/r:Q4_K_M", model)), home, hashes_in(home))
    (home.data / "library.lock").unlink(missing_ok=True)
    (home.data / "library.lock").mkdir()
    note_use(home, local)
    assert "hf.co/o/r:Q4_K_M" in caplog.text


def test_of_files_elsewhere_no_use_is_noted(home, tmp_path, model):
    folder = tmp_path / hashlib.sha256(model).hexdigest()
    note_use(home, LocalBuild(SimpleNamespace(name="x"), folder / "x.gguf"))
    assert not (home.data / "library.json").exists()


class TestCalled:
    """A path with its keeper's name: a blob's own name says nothing."""

    def test_it_has_the_name_where_the_bytes_are_right(self, home, person, model):
        blob = in_ollama(person, model)
        named = locate_build(home, str(blob), "tiny:1b")
        assert named.path == blob
        assert identify_build(home, named).build.name == "tiny:1b"
        assert named_build(home, str(blob)).build.name == blob.name

    def test_a_name_of_another_file_changes_nothing(self, home, person, model, tmp_path):
        blob = in_ollama(person, model)
        other = in_ollama(person, gguf_bytes(tmp_path, 2), tag="3b")
        assert locate_build(home, str(other), "tiny:1b").path == other
        assert named_build(home, str(blob)).path == blob

    def test_nor_does_a_name_that_none_has(self, home, person, model):
        blob = in_ollama(person, model)
        assert locate_build(home, str(blob), "nobody:1b").path == blob

    def test_what_a_keeper_claims_wrongly_is_told(self, home, person, model):
        blob = in_ollama(person, model, claim="0" * 64)
        named = locate_build(home, str(blob), "tiny:1b")
        assert refused(lambda: identify_build(home, named)).code == "on_disk_claim_wrong"
