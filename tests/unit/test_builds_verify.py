"""`gram builds verify`: what was found is told, whatever comes after it."""

import hashlib
import json
import signal
import sys
import threading

import pytest
from filelock import FileLock

from desktop import cli
from desktop.builds.library import Library
from desktop.builds.library_care import Care
from desktop.builds.partial import lock_of
from desktop.cli import EXIT_ERROR, EXIT_STOPPED
from desktop.services import shelf
from tests.unit.gguf_files import gguf_bytes


@pytest.fixture(autouse=True)
def person(tmp_path, monkeypatch):
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def builds(home, tmp_path):
    """Two of Gram's own, the first of them damaged."""
    targets = []
    for seed, name in enumerate(("a", "b")):
        content = gguf_bytes(tmp_path, seed)
        sums = {f"{name}.gguf": hashlib.sha256(content).hexdigest()}
        (target,) = Library(home).expect(f"hf.co/o/{name}:Q4_0", sums, None)
        target.parent.mkdir()
        target.write_bytes(content[:-1] + b"!" if name == "a" else content)
        targets.append(target)
    return targets


@pytest.fixture
def gram(capsys):
    def run(*arguments, status=0):
        assert cli.main(["builds", *arguments]) == status
        return capsys.readouterr()

    return run


def stopped_at(name: str, monkeypatch) -> None:
    """Ctrl+C at the moment when this build is begun."""
    whole = shelf.verify

    def verify(paths, entry, progress=None):
        if name in entry.name:
            signal.raise_signal(signal.SIGINT)
        return whole(paths, entry, progress)

    monkeypatch.setattr(shelf, "verify", verify)


def test_stopped_it_tells_what_it_found(gram, builds, monkeypatch):
    stopped_at("o/b", monkeypatch)
    said = gram("verify", status=EXIT_STOPPED)
    assert "hf.co/o/a:Q4_0 are not those that were fetched" in said.err
    assert "set aside as a.gguf.damaged" in said.err
    assert "nothing is changed" not in said.err
    assert "what was not read by then was not checked" in said.err


def test_stopped_it_tells_programs_what_it_found(gram, builds, monkeypatch):
    stopped_at("o/b", monkeypatch)
    [one] = json.loads(gram("verify", "--json", status=EXIT_STOPPED).out)
    assert one["checked"]["told"]["code"] == "library_damaged"


def test_one_that_cannot_be_read_hides_nothing_of_the_others(gram, builds):
    held, ready = threading.Event(), threading.Event()

    def download():
        with FileLock(lock_of(builds[1])):
            ready.set()
            held.wait()

    thread = threading.Thread(target=download)
    thread.start()
    ready.wait()
    try:
        said = gram("verify", status=EXIT_ERROR)
    finally:
        held.set()
        thread.join()
    assert "set aside as a.gguf.damaged" in said.err
    assert "hf.co/o/b:Q4_0 is being downloaded already" in said.err


def test_what_was_set_aside_is_told_each_time(gram, builds):
    gram("verify", status=EXIT_ERROR)
    for named in ((), ("o/a",), ("hf.co/o/a:Q4_0",)):
        said = gram("verify", *named, status=EXIT_ERROR)
        assert "hf.co/o/a:Q4_0 was set aside" in said.err
        assert "`gram builds get hf.co/o/a:Q4_0` fetches it again" in said.err
    [aside, right] = json.loads(gram("verify", "--json", status=EXIT_ERROR).out)
    assert (aside["checked"]["told"]["code"], right["checked"]["told"]) == ("build_damaged", None)


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_drive_that_is_not_there_is_told(gram, home, tmp_path):
    home.builds.rmdir()
    home.builds.symlink_to(tmp_path / "unplugged")
    said = gram("verify", status=EXIT_ERROR)
    assert "no builds of its own" not in said.out
    assert "builds cannot be read" in said.err


def test_all_parts_of_a_set_are_read(home, builds, tmp_path):
    contents = [gguf_bytes(tmp_path, seed) for seed in (5, 6)]
    sums = [hashlib.sha256(content).hexdigest() for content in contents]
    names = [f"s-0000{n}-of-00002.gguf" for n in (1, 2)]
    targets = Library(home).expect("hf.co/o/s:Q4_0", dict(zip(names, sums, strict=True)), None)
    targets[0].parent.mkdir()
    for target, content in zip(targets, contents, strict=True):
        target.write_bytes(content[:-1] + b"!")
    assert Care(Library(home), home).check(sums[0]).told.code == "library_damaged"
    assert sorted(p.name for p in targets[0].parent.glob("s-*")) == [f"{n}.damaged" for n in names]


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows takes a folder for a lock that is held"
)
def test_reading_needs_no_lock_where_none_can_be_made(home, builds):
    entry = shelf.own_build(home, "o/b")
    lock_of(builds[1]).mkdir()  # as where nobody may write: no lock is made there
    assert Care(Library(home), home).check(entry.sha256).told is None


def test_damage_is_told_where_it_cannot_be_set_aside(home, builds):
    entry = shelf.own_build(home, "o/a")
    aside = builds[0].with_name("a.gguf.damaged")
    aside.mkdir()
    told = Care(Library(home), home).check(entry.sha256).told
    assert told.code == "library_damaged_stays"
    assert (told.params["name"], told.params["file"]) == (entry.name, "a.gguf")
    assert builds[0].is_file()
