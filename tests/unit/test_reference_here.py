"""The reference build that lies on this machine already is measured where it is, not fetched."""

import pytest

from desktop.builds.hashes import hashes_in
from desktop.builds.reference import reference
from desktop.records.request import RunRequest
from desktop.services import doctor
from desktop.services.attempt import Outside
from desktop.services.session import Session
from desktop.services.slow import SlowCalls
from tests.unit.test_builds import REFERENCE_NAME
from tests.unit.test_named_builds import in_ollama, person

__all__ = ["person"]


@pytest.fixture
def local(home):
    """What a run of the reference measures; nothing can be fetched."""
    slow, seen = SlowCalls(), []
    outside = Outside(home, slow, "a test", {"HF_ENDPOINT": "http://127.0.0.1:1"})
    yield lambda: Session(RunRequest(), outside, seen.append)._find_build(home)
    slow.shutdown()


def test_another_program_s_copy_is_measured_in_place(home, person, reference_file, local):
    blob = in_ollama(person, reference_file.read_bytes())
    found = local()
    assert (found.path, found.build.name) == (blob, REFERENCE_NAME)
    assert not list(home.builds.iterdir())


def test_so_is_what_the_person_put_among_gram_s_own(home, person, reference_file, local):
    path = home.builds / "mine.gguf"
    path.symlink_to(reference_file)
    assert local().path == path


@pytest.mark.parametrize("size", ["the same", "another"])
def test_other_bytes_are_not_taken_for_it(home, person, reference_file, local, size):
    data = reference_file.read_bytes()
    claim = reference().sha256
    blob = in_ollama(person, data[:-1] + b"x" if size == "the same" else data + b"x", claim=claim)
    assert local().build.synthetic
    # only what has its size is read for it
    assert (hashes_in(home).known(blob) is None) == (size == "another")


def test_doctor_tells_who_keeps_it_once_its_hash_is_known(
    home, person, reference_file, monkeypatch
):
    monkeypatch.delenv("GRAM_REFERENCE_FILE", raising=False)
    blob = in_ollama(person, reference_file.read_bytes())
    with pytest.raises(doctor.GramError, match="downloaded"):
        doctor._reference(home, room=True)
    hashes_in(home).sha256(blob)
    told = doctor._reference(home, room=True)
    assert told == f"{REFERENCE_NAME}, kept by Ollama: used where it is"
