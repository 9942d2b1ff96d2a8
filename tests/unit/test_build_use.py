"""How a build that is here is run: what the commands name is this build and no other."""

import hashlib

import pytest

from desktop.builds.library import Library
from desktop.services.build_use import use_of_build
from desktop.services.ground import read_ground
from tests.unit.gguf_files import gguf_bytes


@pytest.fixture
def person(home, tmp_path, monkeypatch):
    """A home in which nothing is kept."""
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    return tmp_path


def fetched(home, name, file, data):
    sha256 = hashlib.sha256(data).hexdigest()
    (path,) = Library(home).expect(name, {file: sha256}, None)
    path.parent.mkdir()
    path.write_bytes(data)
    return sha256


def ollama(home, name):
    ways = use_of_build(home, name, lambda: read_ground(home)).ways
    return next(way for way in ways if way.program == "Ollama")


def downloads(way):
    return [str(s.params["command"]) for s in way.steps if s.code == "use_ollama_download"]


def test_two_builds_of_one_label_are_made_under_two_names_and_downloaded_by_none(home, person):
    found = {}
    for n, kind in enumerate(("base", "instruct")):
        name = f"hf.co/o/r:{kind}-Q4_0.gguf"
        sha256 = fetched(home, name, f"{kind}-Q4_0.gguf", gguf_bytes(person, n))
        way = ollama(home, name)
        assert f"ollama create gram-r-{kind}-q4_0-{sha256[:6]} -f Modelfile" in way.command
        assert downloads(way) == []
        found[kind] = way.command
    assert found["base"] != found["instruct"]


def test_builds_of_two_owners_are_made_under_two_names(home, person):
    names = ("hf.co/a/r:Q4_0", "hf.co/b/r:Q4_0")
    for n, name in enumerate(names):
        fetched(home, name, "x-Q4_0.gguf", gguf_bytes(person, n))
    ways = [ollama(home, name) for name in names]
    assert ways[0].command != ways[1].command
    assert [downloads(way) for way in ways] == [[f"ollama run {name}"] for name in names]


def test_a_label_of_another_program_s_folder_downloads_nothing(home, person):
    path = person / ".lmstudio" / "models" / "o" / "r" / "x-Q4_0.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(gguf_bytes(person, 1))
    way = ollama(home, "o/r:Q4_0")
    assert downloads(way) == []
    assert "gram-r-q4_0-" in way.command
