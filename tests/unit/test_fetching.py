"""One download from its name to a build that is here, from a local hub with real files."""

import hashlib
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.builds.connection import Manner
from desktop.builds.control import StoppedError
from desktop.builds.hashes import hashes_in
from desktop.builds.library import Library
from desktop.errors import BuildError, GramError, Reason
from desktop.records.estimate import Estimate, Use
from desktop.records.fits import Fit, FitRow
from desktop.records.library import Kept
from desktop.records.offers import GRAM, FetchRequest, FetchState
from desktop.services.fetching import Fetch, Judge, Means
from desktop.services.profiles import models
from desktop.services.shelf import own_build
from tests.unit.gguf_files import gguf_bytes
from tests.unit.hub_routes import Canned, Repo, hub_server

NAME = "hf.co/o/r:Q4_0"
HASTY = Manner(first_wait_s=0.001, longest_wait_s=0.004, first_faults=2, faults=2)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """The person's home: other programs' folders are looked for there only."""
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return folder


@pytest.fixture
def content(tmp_path):
    return gguf_bytes(tmp_path, 1)


@pytest.fixture
def hub(content, home, elsewhere):
    with hub_server(o__r=Repo({"x-Q4_0.gguf": content})) as server:
        yield server


def sum_of(content):
    return hashlib.sha256(content).hexdigest()


def fetch(hub, home, judge=None, steps=None, **request):
    asked = FetchRequest(**{"name": NAME, **request})
    means = Means(home, judge or Judge(), {"HF_ENDPOINT": hub.url}, HASTY)
    return Fetch(asked, means, (steps if steps is not None else []).append)


def files_asked(hub):
    return [path for path, _ in hub.asked if "/resolve/" in path]


def code_of(call):
    with pytest.raises(GramError) as caught:
        call()
    return caught.value.code


def row(fit, *reasons):
    model = models()[0]
    estimate = Estimate(model.id, "", "", None, Use(4096), reasons=reasons)
    from desktop.services.estimate_tables import quants

    return FitRow(model, quants()[0], fit, estimate, 1)


def test_it_is_fetched_verified_and_kept(hub, home, content):
    steps = []
    end = fetch(hub, home, steps=steps).run()
    held = end.held
    assert held.files == (home.builds / sum_of(content) / "x-Q4_0.gguf",)
    assert held.files[0].read_bytes() == content
    assert (held.name, held.keepers, held.kept, held.ours) == (NAME, (GRAM,), Kept.WHOLE, True)
    assert end.reason is None
    assert [s.state for s in steps][:2] == [FetchState.ASKING, FetchState.LOOKING]
    assert steps[-1].state is FetchState.CHECKING
    assert (steps[-1].done_bytes, steps[-1].total_bytes) == (len(content), len(content))
    # it was hashed while it came
    assert hashes_in(home).known(held.files[0]) == sum_of(content)
    assert own_build(home, "o/r:q4_0").sha256 == sum_of(content)


def test_what_is_here_is_not_fetched_again(hub, home):
    fetch(hub, home).run()
    before = len(files_asked(hub))
    end = fetch(hub, home).run()
    assert end.reason.code == "download_here"
    assert end.held.keepers == (GRAM,)
    assert len(files_asked(hub)) == before


def lm_studio(elsewhere, content, name="x-Q4_0.gguf"):
    file = elsewhere / ".lmstudio" / "models" / "o" / "r" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


def test_what_another_program_keeps_is_used_where_it_is(hub, home, content, elsewhere):
    file = lm_studio(elsewhere, content)
    before = file.stat()
    end = fetch(hub, home).run()
    assert end.held.files == (file,)
    assert end.held.keepers == ("LM Studio",)
    assert end.reason.code == "download_elsewhere"
    assert "LM Studio" in end.reason.text()
    assert files_asked(hub) == []
    assert not any(home.builds.iterdir())
    after = file.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_other_bytes_of_the_same_size_and_name_are_not_taken_for_it(hub, home, content, elsewhere):
    lm_studio(elsewhere, content[:-1] + bytes([content[-1] ^ 1]))
    end = fetch(hub, home).run()
    assert end.held.keepers == (GRAM,)
    assert end.held.files[0].read_bytes() == content


def test_over_a_metered_connection_only_when_allowed(hub, home, content):
    judge = Judge(metered=lambda: True)
    assert code_of(fetch(hub, home, judge).run) == "download_metered"
    assert files_asked(hub) == []
    assert fetch(hub, home, judge, metered=True).run().held is not None


def test_what_would_not_run_is_refused_with_its_reason_unless_asked_for_anyway(hub, home, content):
    asked = []

    def fit(header, build):
        asked.append((header.architecture, build.name))
        return row(Fit.NOWHERE, Reason("mixture_unclear"))

    with pytest.raises(BuildError) as caught:
        fetch(hub, home, Judge(fit)).run()
    assert caught.value.code == "download_not_run"
    assert Reason("mixture_unclear").text() in str(caught.value)
    assert asked == [("llama", NAME)]
    assert not any(home.builds.iterdir())
    assert fetch(hub, home, Judge(fit), anyway=True).run().held is not None


def test_what_cannot_be_judged_is_fetched_all_the_same(hub, home):
    def fit(header, build):
        raise GramError("mixture_unclear")

    assert fetch(hub, home, Judge(fit)).run().held is not None


def test_a_header_that_is_none_is_an_error_before_anything_is_fetched(home, elsewhere):
    with hub_server(o__r=Repo({"x-Q4_0.gguf": b"GGUF" + bytes(5000)})) as hub:
        judge = Judge(lambda *_: row(Fit.IN_MEMORY))
        assert code_of(fetch(hub, home, judge).run).startswith("gguf_")
    assert not any(home.builds.iterdir())


class TestRoom:
    def settle(self, home, hub, tmp_path, budget_bytes):
        """An older build, and a budget that both do not have room in."""
        old = gguf_bytes(tmp_path, 2)
        hub.repos["o/old"] = Repo({"old-Q4_0.gguf": old})
        fetch(hub, home, name="hf.co/o/old:Q4_0").run()
        home.settings.write_text(f"[builds]\nbudget_gb = {budget_bytes / 1e9:.9f}\n")
        return own_build(home, "o/old:Q4_0")

    def test_nothing_goes_that_nobody_was_asked_about(self, home, hub, tmp_path, content):
        old = self.settle(home, hub, tmp_path, len(content) + 10)
        with pytest.raises(BuildError) as caught:
            fetch(hub, home).run()
        assert caught.value.code == "library_needs_room"
        assert "hf.co/o/old:Q4_0" in str(caught.value)
        assert old.path.is_file()

    def test_the_least_recently_used_goes_when_it_may(self, home, hub, tmp_path, content):
        old = self.settle(home, hub, tmp_path, len(content) + 10)
        end = fetch(hub, home, make_room=True).run()
        assert [gone.name for gone in end.evicted.gone] == ["hf.co/o/old:Q4_0"]
        assert not old.path.exists()
        assert end.held.files[0].read_bytes() == content

    def test_pinned_ones_stay(self, home, hub, tmp_path, content):
        old = self.settle(home, hub, tmp_path, len(content) + 10)
        Library(home).pin(old.sha256, pinned=True)
        assert code_of(fetch(hub, home, make_room=True).run) == "library_short"
        assert old.path.is_file()


def test_without_a_connection_what_is_here_is_known(hub, home):
    fetch(hub, home).run()
    hub.canned["/api/models/o/r"] = [Canned(503)]
    end = fetch(hub, home).run()
    assert end.reason.code == "download_here"


def test_a_gated_repository_is_told(hub, home):
    hub.repos["o/r"] = replace(hub.repos["o/r"], gated=True)
    judge = Judge(lambda *_: row(Fit.IN_MEMORY))
    assert code_of(fetch(hub, home, judge).run) == "download_gated"


@pytest.mark.parametrize("name", ["/no/such/file.gguf", "x y z"])
def test_what_names_no_repository(hub, home, name):
    assert code_of(fetch(hub, home, name=name).run) == "build_not_found"


def test_a_split_set_comes_whole_and_its_parts_once(home, elsewhere, tmp_path):
    parts = [gguf_bytes(tmp_path, n, split=(n, 2)) for n in range(2)]
    names = [f"x-Q4_0-0000{n}-of-00002.gguf" for n in (1, 2)]
    with hub_server(o__r=Repo(dict(zip(names, parts, strict=True)))) as hub:
        path = f"/o/r/resolve/0123456789abcdef0123456789abcdef01234567/{names[1]}"
        hub.canned[path] = [Canned(404)]
        assert code_of(fetch(hub, home).run) == "download_gone"
        del hub.canned[path]
        hub.asked.clear()
        held = fetch(hub, home).run().held
        assert not any(names[0] in asked for asked in files_asked(hub))
    assert [file.read_bytes() for file in held.files] == parts
    assert held.size_bytes == sum(map(len, parts))
    assert held.kept is Kept.WHOLE


def test_stopped_it_goes_on_another_time(hub, home):
    one = fetch(hub, home)
    one.control.stop()
    with pytest.raises(StoppedError):
        one.run()
    assert fetch(hub, home).run().held is not None


def test_no_file_of_a_listing_leaves_its_folder(home, elsewhere, content):
    with hub_server(o__r=Repo({"../../x-Q4_0.gguf": content})) as hub:
        assert code_of(fetch(hub, home).run) == "hub_no_builds"
    assert [p.name for p in Path(home.data).rglob("*.gguf")] == []
    assert threading.active_count() >= 1
