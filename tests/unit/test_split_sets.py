"""Builds in several files: known, hashed and listed as one."""

import hashlib
import json
import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from desktop.builds.describe import local_build
from desktop.builds.hashes import Hashes, hashes_in, sha256_of
from desktop.builds.header import read_header
from desktop.builds.library import Library
from desktop.builds.on_disk.find import find_on_disk
from desktop.builds.on_disk.here import Here
from desktop.builds.on_disk.identify import identified
from desktop.builds.public_names import PublicNames
from desktop.builds.split_sets import beside, read_whole, sum_of
from desktop.builds.store import find_build, list_builds
from desktop.errors import BenchError, BuildError
from desktop.records.offers import GRAM
from desktop.records.request import RunRequest
from desktop.records.run import Plan
from desktop.rules.run_limits import MAX_FILES
from desktop.services import session as session_module
from desktop.services.session import Session
from desktop.services.shelf import shelf_of
from tests.unit.gguf_files import gguf_bytes, gguf_set


def refused(path):
    with pytest.raises(BuildError) as caught:
        read_whole(path)
    return caught.value


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    return gguf_set(folder, "tiny-Q4_0")


def test_the_sum_of_a_set_follows_from_those_of_its_files():
    digests = [hashlib.sha256(bytes([n])).hexdigest() for n in range(3)]
    raw = b"".join(map(bytes.fromhex, digests))
    assert len(raw) == 96
    assert sum_of(digests) == hashlib.sha256(raw).hexdigest()
    assert sum_of(digests[:1]) == digests[0]
    assert sum_of(digests[::-1]) != sum_of(digests)


@pytest.mark.parametrize("named", [0, 1, 2])
def test_a_set_is_one_build_whichever_part_is_named(parts, named):
    local = local_build(parts[named])
    assert local.files == tuple(parts)
    build = local.build
    assert (build.name, build.files) == ("tiny-Q4_0.gguf", 3)
    assert build.sha256 == sum_of([sha256_of(part) for part in parts])
    assert build.size_bytes == sum(part.stat().st_size for part in parts)
    assert build.parameters == 3 * 4 * 32
    assert (build.model_name, build.context_trained) == ("Tiny", 64)


def test_progress_is_of_all_files_together(parts):
    total, seen = sum(part.stat().st_size for part in parts), []
    local_build(parts[0], progress=lambda *step: seen.append(step))
    assert {whole for _, whole in seen} == {total}
    done = [step[0] for step in seen]
    assert done == sorted(set(done))
    assert done[-1] == total


def test_parts_that_were_hashed_are_not_read_again(parts, tmp_path):
    hashes, seen = Hashes(tmp_path / "hashes.json"), []
    first = local_build(parts[0], hashes=hashes)
    again = local_build(parts[0], hashes=hashes, progress=lambda *step: seen.append(step))
    assert (again, seen) == (first, [])


@pytest.mark.parametrize("named", [0, 2])
def test_a_missing_part_is_named(parts, named):
    parts[1].unlink()
    error = refused(parts[named])
    assert error.code == "build_part_missing"
    assert "tiny-Q4_0-00002-of-00003.gguf is missing" in str(error)
    assert "of the 3 files of this build, 2 are there" in str(error)


def test_a_part_whose_name_says_nothing_is_told_so(parts):
    renamed = parts[0].rename(parts[0].with_name("sha256-0123.gguf"))
    assert refused(renamed).code == "build_split"
    wrong = renamed.rename(renamed.with_name("tiny-00001-of-00002.gguf"))
    assert refused(wrong).code == "build_split"


def test_parts_of_different_builds_are_no_build(parts):
    parts[2].write_bytes(parts[1].read_bytes())
    error = refused(parts[0])
    assert error.code == "gguf_header"
    assert "tiny-Q4_0-00003-of-00003.gguf" in str(error)


@pytest.mark.parametrize("number", [1, 2])
def test_a_name_alone_makes_no_part(tmp_path, number):
    path = tmp_path / f"whole-0000{number}-of-00002.gguf"
    path.write_bytes(gguf_bytes(tmp_path, 1))
    assert local_build(path).build.name == path.name
    assert local_build(path).build.files == 1


def test_a_file_that_is_named_by_its_path_is_meant_whatever_lies_beside_it(home, tmp_path):
    for number in (1, 2):
        (tmp_path / f"a-0000{number}-of-00002.gguf").write_bytes(gguf_bytes(tmp_path, number))
    second = tmp_path / "a-00002-of-00002.gguf"
    assert find_build(str(second), home, hashes_in(home)).build.sha256 == sha256_of(second)


@pytest.mark.parametrize("named", [0, 1])
def test_a_part_that_is_named_by_its_path_stands_for_its_set(home, tmp_path, named):
    targets, _ = kept_set(home, tmp_path)
    local = find_build(str(targets[named]), home, hashes_in(home))
    assert local.files == targets
    assert local.build.name == "hf.co/owner/tiny:Q4_0"


def test_a_count_that_nobody_can_mean_makes_no_list_of_names(tmp_path):
    path = tmp_path / f"a-00001-of-{MAX_FILES + 1:05}.gguf"
    path.write_bytes(gguf_bytes(tmp_path, 1, split=(0, MAX_FILES + 1)))
    assert beside(path) == (path,)
    assert refused(path).code == "gguf_header"


def test_other_programs_sets_are_known_by_their_bytes(parts, tmp_path):
    here, hashes = Here(tmp_path / "nobody"), Hashes(tmp_path / "hashes.json")
    folders = (str(parts[0].parent),)
    (found,) = find_on_disk(here, folders=folders, hashes=hashes).builds
    assert (found.files, found.sha256) == (tuple(parts), None)
    local = identified(found, hashes, public=PublicNames(tmp_path).allows)
    assert local.files == tuple(parts)
    (again,) = find_on_disk(here, folders=folders, hashes=hashes).builds
    assert again.sha256 == local.build.sha256
    assert again.first_sha256 == sha256_of(parts[0])


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_what_the_hub_s_cache_says_of_all_parts_is_verified(parts, tmp_path):
    repo = tmp_path / ".cache" / "huggingface" / "hub" / "models--owner--repo"
    snapshot = repo / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    (repo / "blobs").mkdir()
    for part in parts:
        blob = repo / "blobs" / sha256_of(part)
        blob.write_bytes(part.read_bytes())
        (snapshot / part.name).symlink_to(blob)
    (found,) = find_on_disk(Here(tmp_path)).builds
    hashes = Hashes(tmp_path / "hashes.json")
    local = identified(found, hashes, public=PublicNames(tmp_path).allows)
    # nobody has listed the repository, so its name is signed nowhere
    assert local.build.name == "tiny-Q4_0.gguf"
    assert local.build.sha256 == found.claimed_sha256
    (repo / "blobs" / sha256_of(parts[1])).write_bytes(parts[1].read_bytes()[:-1] + b"x")
    with pytest.raises(BuildError) as caught:
        identified(found, hashes, public=PublicNames(tmp_path).allows)
    assert caught.value.code == "on_disk_claim_wrong"


@pytest.mark.parametrize("named", [None, 0, 1])
def test_a_file_that_the_settings_name_is_found_and_so_is_its_set(parts, tmp_path, named):
    single = tmp_path / "own.gguf"
    single.write_bytes(gguf_bytes(tmp_path, 5))
    (tmp_path / "beside.gguf").write_bytes(gguf_bytes(tmp_path, 6))
    text = str(single if named is None else parts[named])
    found = find_on_disk(Here(tmp_path / "nobody"), folders=(text,))
    (build,) = found.builds
    assert build.files == ((single,) if named is None else tuple(parts))
    assert found.told == ()


def kept_set(home, tmp_path):
    """A set that Gram fetched, where its library has it."""
    folder = tmp_path / "from"
    folder.mkdir()
    made = gguf_set(folder, "tiny-Q4_0")
    sums = {part.name: sha256_of(part) for part in made}
    targets = Library(home).expect("hf.co/owner/tiny:Q4_0", sums, None)
    targets[0].parent.mkdir()
    for part, target in zip(made, targets, strict=True):
        part.rename(target)
    return targets, sums


@pytest.mark.parametrize(
    "text",
    ["owner/tiny:Q4_0", "tiny-Q4_0", "TINY-q4_0.gguf", "tiny-q4_0-00002-of-00003.gguf"],
)
def test_gram_s_own_set_is_found_and_listed_once(home, tmp_path, text):
    targets, sums = kept_set(home, tmp_path)
    local = find_build(text, home, hashes_in(home))
    assert local.files == targets
    assert (local.build.name, local.build.files) == ("hf.co/owner/tiny:Q4_0", 3)
    assert local.build.sha256 == sum_of(tuple(sums.values()))
    assert [b.files for b in list_builds(home)] == [targets]


def test_gram_s_own_set_and_its_copy_elsewhere_are_shown_once(home, tmp_path, monkeypatch):
    targets, _ = kept_set(home, tmp_path)
    copies = tmp_path / "copies"
    copies.mkdir()
    for target in targets:
        (copies / target.name).write_bytes(target.read_bytes())
        hashes_in(home).sha256(copies / target.name)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    home.settings.write_text(f"[builds]\nfolders = [{json.dumps(str(copies))}]\n", "utf-8")
    (held,) = shelf_of(home).held
    assert held.keepers == (GRAM, "own folder")
    assert held.sha256 == sha256_of(targets[0])


def test_gram_s_own_set_that_lacks_a_part_is_told_and_left_out(home, tmp_path):
    targets, _ = kept_set(home, tmp_path)
    targets[2].unlink()
    skipped = []
    assert list_builds(home, on_skip=lambda name, why: skipped.append((name, why.code))) == ()
    assert skipped == [(targets[0].name, "build_part_missing")]


def test_memory_is_checked_by_all_parts(parts, monkeypatch):
    monkeypatch.setattr(session_module, "memory_bytes", lambda: (1 << 40, (64 << 20) + 600))
    session = Session(RunRequest("x"), SimpleNamespace(), lambda _: None)
    local = local_build(parts[0])
    whole = sum(tensor.size_bytes for tensor in read_whole(parts[0]).header.tensors)
    assert sum(tensor.size_bytes for tensor in read_header(parts[0]).tensors) < 600 < whole
    with pytest.raises(BenchError) as caught:
        session._check_memory(local, Plan(), ())
    assert caught.value.code == "too_large"
    single = replace(local, later_parts=())
    assert single.files == (parts[0],)
