"""A build whose file is changed or replaced is measured under no sum of another file's."""

import os

import pytest

from desktop.builds.describe import local_build
from desktop.builds.hashes import Hashes, hashes_in
from desktop.builds.same_files import refuse_replaced
from desktop.builds.store import find_build
from desktop.errors import BuildError
from desktop.records.request import RunRequest, Signing
from desktop.records.run import SpeedTest
from desktop.services.attempt import Outside
from desktop.services.session import Session
from desktop.services.slow import SlowCalls
from tests.unit.gguf_files import gguf_bytes, gguf_set


def code(call):
    with pytest.raises(BuildError) as caught:
        call()
    return caught.value.code


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "models" / "m.gguf"
    found.parent.mkdir()
    found.write_bytes(gguf_bytes(tmp_path, 1))
    return found


@pytest.fixture
def other(tmp_path):
    found = tmp_path / "models" / "other"
    found.write_bytes(gguf_bytes(tmp_path, 2))
    return found


def test_a_file_that_is_replaced_while_it_is_hashed_is_refused(path, other, tmp_path):
    def progress(_done, _total):
        if other.exists():
            other.replace(path)

    hashes = Hashes(tmp_path / "hashes.json")
    assert code(lambda: local_build(path, progress=progress, hashes=hashes)) == "build_replaced"
    assert hashes.known(path) is None
    assert local_build(path, hashes=hashes).build.sha256 == hashes.known(path)


def test_so_is_one_of_which_a_part_is_written_meanwhile(tmp_path):
    parts = gguf_set(tmp_path, "set-Q4_0")

    def progress(_done, _total):
        parts[0].write_bytes(parts[0].read_bytes())

    assert code(lambda: local_build(parts[1], progress=progress)) == "build_replaced"


def test_what_is_as_it_was_is_not_read_again(path):
    def never(_done, _total):
        raise AssertionError("it was read")

    refuse_replaced(local_build(path), never)
    assert local_build(path).identities


def test_other_bytes_are_refused_and_so_is_nothing(path, other):
    local = local_build(path)
    path.write_bytes(other.read_bytes())
    assert code(lambda: refuse_replaced(local)) == "build_replaced"
    path.unlink()
    assert code(lambda: refuse_replaced(local)) == "build_unreadable"


def test_another_link_or_date_leaves_the_bytes_as_they_are(path):
    local = local_build(path)
    os.utime(path, (1, 1))
    refuse_replaced(local)
    path.write_bytes(path.read_bytes())
    refuse_replaced(local)
    assert local_build(path).identities != local.identities


def test_a_part_that_is_replaced_later_is_refused(tmp_path):
    local = local_build(gguf_set(tmp_path, "set-Q4_0")[0])
    local.files[2].write_bytes(local.files[1].read_bytes())
    assert code(lambda: refuse_replaced(local)) == "build_replaced"


@pytest.mark.engine
@pytest.mark.parametrize("when", ["BuildKnown", "RepetitionDone"])
def test_a_file_that_is_replaced_in_a_run_gives_no_result(home, reference_file, tmp_path, when):
    path, other = tmp_path / "m.gguf", tmp_path / "other.gguf"
    data = bytearray(reference_file.read_bytes())
    path.write_bytes(data)
    data[-1] ^= 1
    other.write_bytes(data)
    seen = []

    def post(event):
        seen.append(type(event).__name__)
        if seen[-1] == when and other.exists():
            other.replace(path)

    tests = (SpeedTest(16, 0), SpeedTest(0, 4))
    request = RunRequest(str(path), signing=Signing.UNSIGNED, repetitions=1, tests=tests)
    session = Session(request, Outside(home, SlowCalls(), "a test", {}), post)
    assert code(session.run) == "build_replaced"
    assert ("RepetitionDone" in seen) == (when == "RepetitionDone")
    assert find_build(str(path), home, hashes_in(home)).build.name == "m.gguf"
