"""Downloads of one sha256 under several names, and beside somebody who removes it."""

import contextlib
import hashlib
import json

import pytest

from desktop.builds.connection import Manner
from desktop.builds.library import LIST, Library
from desktop.errors import BuildError
from desktop.records.library import Kept
from desktop.records.offers import FetchRequest
from desktop.services.fetching import Fetch, Means
from tests.unit.gguf_files import gguf_bytes, gguf_set
from tests.unit.hub_routes import Repo, hub_server

HASTY = Manner(first_wait_s=0.001, longest_wait_s=0.004, first_faults=2, faults=2)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """The person's home: other programs' folders are looked for there only."""
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)


@pytest.fixture
def content(tmp_path):
    return gguf_bytes(tmp_path, 1)


@pytest.fixture
def hub(content, home):
    """Two repositories with one file under two names."""
    with hub_server(
        o__a=Repo({"a-Q4_0.gguf": content}), o__b=Repo({"b-Q4_0.gguf": content})
    ) as hub:
        yield hub


def sum_of(content):
    return hashlib.sha256(content).hexdigest()


def fetched(hub, home, name, post=lambda _: None):
    return Fetch(
        FetchRequest(name), Means(home, environment={"HF_ENDPOINT": hub.url}, manner=HASTY), post
    ).run()


def files_in(home):
    return [path.name for path in home.builds.glob("*/[!.]*")]


def test_under_a_second_name_it_is_here(hub, home, content):
    fetched(hub, home, "o/a")
    end = fetched(hub, home, "o/b")
    assert end.reason.code == "download_here"
    assert (end.held.sha256, end.held.kept) == (sum_of(content), Kept.WHOLE)
    assert files_in(home) == ["a-Q4_0.gguf"]


def test_what_was_begun_under_another_name_goes_on_in_its_place(hub, home, content):
    Library(home).expect("hf.co/o/a:Q4_0", {"a-Q4_0.gguf": sum_of(content)}, None)
    held = fetched(hub, home, "o/b").held
    assert (held.name, held.kept, held.ours) == ("hf.co/o/b:Q4_0", Kept.WHOLE, True)
    assert files_in(home) == ["a-Q4_0.gguf"]
    assert held.freed_bytes == len(content)


def test_a_cut_file_is_known_by_its_size(hub, home, content):
    held = fetched(hub, home, "o/a").held
    assert json.loads((home.data / LIST).read_text())["builds"][held.sha256]["sizes"] == {
        "a-Q4_0.gguf": len(content)
    }
    held.files[0].write_bytes(content[:100])
    assert Library(home).entry(held.sha256).kept is Kept.DAMAGED
    assert fetched(hub, home, "o/a").held.kept is Kept.WHOLE
    assert held.files[0].read_bytes() == content


def test_a_note_that_somebody_removed_meanwhile_is_made_again(hub, home, content):
    library = Library(home)

    def forgets(_step):
        with contextlib.suppress(BuildError):
            library.forget(sum_of(content), library.row(sum_of(content)))

    held = fetched(hub, home, "o/a", forgets).held
    assert (held.ours, held.kept, held.freed_bytes) == (True, Kept.WHOLE, len(content))


def test_a_part_that_somebody_removed_meanwhile_is_told(home, tmp_path):
    parts = gguf_set(tmp_path, "s-Q4_0", 2)
    contents = {part.name: part.read_bytes() for part in parts}
    first = home.builds / sum_of(contents[parts[0].name]) / parts[0].name

    def removes(step):
        if step.done_bytes > len(contents[parts[0].name]):
            first.unlink(missing_ok=True)

    with hub_server(o__s=Repo(contents)) as hub:
        with pytest.raises(BuildError) as caught:
            fetched(hub, home, "o/s", removes)
        assert caught.value.code == "build_unfinished"
        assert fetched(hub, home, "o/s").held.kept is Kept.WHOLE
