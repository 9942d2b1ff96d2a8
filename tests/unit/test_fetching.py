"""One download from its name to a build that is here, from a local hub with real files."""

import hashlib
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from desktop.builds.connection import Manner
from desktop.builds.control import StoppedError
from desktop.builds.hashes import hashes_in
from desktop.builds.library import Library
from desktop.builds.listings import Listings
from desktop.errors import BuildError, GramError, Reason
from desktop.records.estimate import Estimate, Use
from desktop.records.fits import Fit, FitRow
from desktop.records.library import BuildPreferences, Kept
from desktop.records.offers import GRAM, FetchRequest, FetchState
from desktop.services import fetching as module
from desktop.services.fetching import Fetch, Judge, Means
from desktop.services.pace import Silence
from desktop.services.profiles import models
from desktop.services.shelf import own_build
from tests.unit.gguf_files import gguf_bytes, gguf_set
from tests.unit.hub_routes import COMMIT, Canned, Repo, hub_server
from tests.unit.test_named_builds import in_ollama
from tests.unit.test_named_builds import refused as refusal

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


def headers_of(content):
    """What is answered to who reads the header of a small file."""
    last = len(content) - 1
    return Canned(206, content, {"Content-Range": f"bytes 0-{last}/{len(content)}"})


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


@pytest.fixture
def settled(home, hub, tmp_path, content, monkeypatch):
    """An older build, and a budget that both do not have room in."""
    hub.repos["o/old"] = Repo({"old-Q4_0.gguf": gguf_bytes(tmp_path, 2)})
    fetch(hub, home, name="hf.co/o/old:Q4_0").run()
    # less than the settings allow: real builds are larger
    little = BuildPreferences(budget_gb=(len(content) + 10) / 1e9)
    monkeypatch.setattr(module, "read_preferences", lambda _: (little, ()))
    return own_build(home, "o/old:Q4_0")


class TestRoom:
    def test_nothing_goes_that_nobody_was_asked_about(self, settled, home, hub, tmp_path, content):
        with pytest.raises(BuildError) as caught:
            fetch(hub, home).run()
        assert caught.value.code == "library_needs_room"
        assert "hf.co/o/old:Q4_0" in str(caught.value)
        assert settled.path.is_file()

    def test_the_least_recently_used_goes_when_it_may(self, settled, home, hub, tmp_path, content):
        end = fetch(hub, home, make_room=True).run()
        assert [gone.name for gone in end.evicted.gone] == ["hf.co/o/old:Q4_0"]
        assert not settled.path.exists()
        assert end.held.files[0].read_bytes() == content

    def test_pinned_ones_stay(self, settled, home, hub, tmp_path, content):
        Library(home).pin(settled.sha256, pinned=True)
        assert code_of(fetch(hub, home, make_room=True).run) == "library_short"
        assert settled.path.is_file()


def test_without_a_connection_what_is_here_is_known(hub, home):
    fetch(hub, home).run()
    hub.canned["/api/models/o/r"] = [Canned(503)]
    end = fetch(hub, home).run()
    assert end.reason.code == "download_here"


def test_a_gated_repository_is_told(hub, home):
    hub.repos["o/r"] = replace(hub.repos["o/r"], gated=True)
    judge = Judge(lambda *_: row(Fit.IN_MEMORY))
    assert code_of(fetch(hub, home, judge).run) == "download_gated"


def test_a_split_set_comes_whole_and_its_parts_once(home, elsewhere, tmp_path):
    parts = [file.read_bytes() for file in gguf_set(tmp_path, "s", 2)]
    names = [f"x-Q4_0-0000{n}-of-00002.gguf" for n in (1, 2)]
    with hub_server(o__r=Repo(dict(zip(names, parts, strict=True)))) as hub:
        path = f"/o/r/resolve/{COMMIT}/{names[1]}"
        hub.canned[path] = [headers_of(parts[1]), Canned(404)]
        assert code_of(fetch(hub, home).run) == "download_gone"
        del hub.canned[path]
        hub.asked.clear()
        held = fetch(hub, home).run().held
        # once for its header
        assert [path.rpartition("/")[2] for path in files_asked(hub)].count(names[0]) == 1
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


def test_a_part_that_the_repository_changed_comes_anew(home, elsewhere, tmp_path):
    parts = [file.read_bytes() for file in gguf_set(tmp_path, "s", 2)]
    changed = parts[1][:-1] + bytes([parts[1][-1] ^ 1])
    names = [f"x-Q4_0-0000{n}-of-00002.gguf" for n in (1, 2)]
    with hub_server(o__r=Repo(dict(zip(names, parts, strict=True)))) as hub:
        fetch(hub, home).run()
        hub.repos["o/r"].files[names[1]] = changed
        hub.asked.clear()
        end = fetch(hub, home).run()
        fetched = {path.rpartition("/")[2] for path, _ in hub.asked if "/resolve/" in path}
    assert end.reason is None
    assert [file.read_bytes() for file in end.held.files] == [parts[0], changed]
    # of the first only its header was read
    assert names[1] in fetched


def test_a_truncated_file_is_not_taken_for_the_build(hub, home, content):
    [file] = fetch(hub, home).run().held.files
    file.write_bytes(content[:100])
    end = fetch(hub, home).run()
    assert end.reason is None
    assert file.read_bytes() == content


def test_another_version_is_not_called_as_the_main_branch_is(hub, home, content):
    address = f"https://huggingface.co/o/r/blob/{COMMIT}/x-Q4_0.gguf"
    end = fetch(hub, home, name=address).run()
    assert end.held.name == address
    # what is remembered is of the main branch
    assert Listings(home.data).read()[0] == {}
    fetch(hub, home).run()
    hub.canned["/api/models/o/r"] = [Canned(503)]
    hub.canned[f"/api/models/o/r/revision/{'1' * 40}"] = [Canned(503)]
    other = address.replace(COMMIT, "1" * 40)
    assert code_of(fetch(hub, home, name=other).run) == "hub_unreachable"


def test_what_was_removed_is_told_whatever_comes_of_the_download(
    settled, home, hub, tmp_path, content
):
    bytes_of = f"/o/r/resolve/{COMMIT}/x-Q4_0.gguf"
    hub.canned[bytes_of] = [headers_of(content), Canned(404)]
    end = fetch(hub, home, make_room=True).run()
    assert (end.held, end.reason.code) == (None, "download_gone")
    assert [gone.sha256 for gone in end.evicted.gone] == [settled.sha256]


def test_files_that_are_not_given_are_known_before_anything_goes(
    settled, home, hub, tmp_path, content
):
    hub.repos["o/r"] = replace(hub.repos["o/r"], gated=True)
    for anyway in (False, True):
        call = fetch(hub, home, make_room=True, anyway=anyway).run
        assert code_of(call) == "download_gated"
    assert settled.path.is_file()


def test_nothing_comes_where_what_was_to_go_has_stayed(settled, home, hub, tmp_path, content):
    with FileLock(home.measure_lock):
        end = fetch(hub, home, make_room=True).run()
    assert (end.held, end.reason.code) == (None, "library_measuring")
    assert settled.path.is_file()
    assert not list(home.builds.glob("*/x-*"))


def test_a_stop_while_builds_are_removed_is_heard(
    settled, home, hub, tmp_path, content, monkeypatch
):
    one = fetch(hub, home, make_room=True)
    real = Fetch._plan

    def plan(self, *told):
        one.control.stop()
        return real(self, *told)

    monkeypatch.setattr(Fetch, "_plan", plan)
    end = one.run()
    assert (end.held, end.stopped) == (None, True)
    assert settled.path.is_file()


def test_while_somebody_measures_nothing_comes(hub, home):
    paused = threading.Event()

    def step(told):
        if told.state is FetchState.PAUSED:
            paused.set()

    one = Fetch(FetchRequest(NAME), Means(home, Judge(), {"HF_ENDPOINT": hub.url}, HASTY), step)
    ends = []
    thread = threading.Thread(target=lambda: ends.append(one.run()))
    with FileLock(home.measure_lock):
        thread.start()
        assert paused.wait(20)
        assert not list(home.builds.glob("*/*.gguf"))
    thread.join(20)
    assert ends[0].held is not None


def test_a_slip_in_the_settings_is_told(hub, home):
    home.settings.write_text('[builds]\nlimit_mb_s = "0,5"\n')
    steps = []
    fetch(hub, home, steps=steps).run()
    [told] = [step.told for step in steps if step.told is not None]
    assert "limit_mb_s" in told.text()


def kept(home, content, name="hf.co/gone/Old-GGUF:Q4_0", file="old-Q4_0.gguf"):
    """A build that Gram fetched another time."""
    (target,) = Library(home).expect(name, {file: sum_of(content)}, None)
    target.parent.mkdir(parents=True)
    target.write_bytes(content)
    return target


class TestUnderItsName:
    """What is here under a name that the hub does not give."""

    @pytest.mark.parametrize(
        "name", ["gone/Old-GGUF:Q4_0", "hf.co/gone/Old-GGUF", "old-Q4_0.gguf", "sum", "elsewhere"]
    )
    def test_gram_s_own_is_here(self, hub, home, tmp_path, name):
        content = gguf_bytes(tmp_path, 7)
        target = kept(home, content)
        told = {"sum": sum_of(content)[:12], "elsewhere": f"{hub.url}/gone/Old-GGUF"}
        end = fetch(hub, home, name=told.get(name, name)).run()
        assert (end.held.files, end.held.ours) == ((target,), True)
        assert end.reason.code == "download_here"
        assert files_asked(hub) == []

    def test_so_is_another_program_s(self, hub, home, elsewhere, tmp_path):
        content = gguf_bytes(tmp_path, 7)
        for tag in ("1b", "latest"):
            blob = in_ollama(elsewhere, content, "llama3.2", tag)
        end = fetch(hub, home, name="llama3.2:latest").run()
        assert (end.held.name, end.held.also) == ("llama3.2:latest", ("llama3.2:1b",))
        assert (end.held.files, end.held.keepers) == ((blob,), ("Ollama",))
        assert end.reason.code == "download_elsewhere"
        assert hub.asked == []  # no name that it could know

    def test_and_a_tag_that_the_repository_has_no_more(self, hub, home, tmp_path):
        kept(home, gguf_bytes(tmp_path, 7), "hf.co/o/r:Q8_0")
        assert fetch(hub, home, name="o/r:Q8_0").run().reason.code == "download_here"
        assert code_of(fetch(hub, home, name="o/r:Q5_0").run) == "hub_no_tag"

    def test_without_an_answer_an_earlier_version_is_here(self, hub, home, elsewhere, tmp_path):
        file = lm_studio(elsewhere, gguf_bytes(tmp_path, 7) + bytes(32))
        fetch(hub, home).run()
        shutil.rmtree(home.builds)
        means = Means(home, Judge(), {"HF_ENDPOINT": "http://127.0.0.1:1"}, HASTY)
        end = Fetch(FetchRequest(NAME), means, [].append).run()
        assert (end.held.files, end.reason.code) == ((file,), "download_elsewhere")

    def test_what_is_not_whole_is_not_here(self, hub, home, tmp_path):
        target = kept(home, gguf_bytes(tmp_path, 7))
        target.rename(target.with_name(f"{target.name}.damaged"))
        assert code_of(fetch(hub, home, name="gone/Old-GGUF").run) == "hub_unknown"

    def test_several_are_told(self, hub, home, elsewhere, tmp_path):
        for seed, tag in enumerate(("a-Q4_0.gguf", "b-Q8_0.gguf")):
            kept(home, gguf_bytes(tmp_path, seed) + bytes(32 * seed), "hf.co/gone/r:" + tag, tag)
        assert code_of(fetch(hub, home, name="gone/r").run) == "build_several"

    def test_a_file_of_the_person_s_is_here(self, hub, home, tmp_path):
        file = tmp_path / "own.gguf"
        file.write_bytes(gguf_bytes(tmp_path, 7))
        end = fetch(hub, home, name=str(file)).run()
        assert (end.held.name, end.held.keepers) == (str(file), ())
        (tmp_path / "own.txt").write_bytes(b"x")
        assert code_of(fetch(hub, home, name=str(tmp_path / "own.txt")).run) == "build_no_name"


@pytest.mark.parametrize(
    "name",
    ["", "llama3.2:1b", "smollm2", "hf:o/r", "ollama run hf.co/o/r", "https://example.org/o/r",
     "reference", "/no/such/file.gguf", "x y z"],
)  # fmt: skip
def test_what_is_no_name_is_told_whole(hub, home, name):
    error = refusal(fetch(hub, home, name=name).run)
    assert (error.code, error.reason.params["name"]) == ("build_no_name", name)
    assert hub.asked == []


@pytest.mark.parametrize("name", ["o/r/x-Q4_0.gguf", "{}/o/r/resolve/main/x-Q4_0.gguf"])
def test_a_file_and_an_address_of_the_mirror_are_names(hub, home, content, name):
    held = fetch(hub, home, name=name.format(hub.url)).run().held
    assert (held.name, held.sha256) == (NAME, sum_of(content))


class Clock:
    ns = 0

    def __call__(self):
        return self.ns


def test_a_server_that_says_nothing_is_told_and_not_while_a_limit_or_a_pause_holds(
    hub, home, monkeypatch
):
    clock, steps = Clock(), []
    monkeypatch.setattr("desktop.services.fetching.Silence", lambda: Silence(clock))
    one = fetch(hub, home, steps=steps)
    tell = one._progress(0, 100)
    states = []
    for second, done in ((0, 10), (6, 10), (7, 20), (13, 20), (14, 100), (30, 100)):
        clock.ns = second * 10**9
        tell(done, 100)
        states.append(steps[-1].state)
    silent, coming, checking = FetchState.SILENT, FetchState.FETCHING, FetchState.CHECKING
    assert states == [coming, silent, coming, silent, checking, checking]
    assert steps[-1].time_left_s is None

    def spend():
        with pytest.raises(StoppedError):
            one.control.spend(1000)

    one.control.limit(1.0)
    spending = threading.Thread(target=spend)
    spending.start()
    while not one.control.limiting:
        pass
    for second in (60, 99):
        clock.ns = second * 10**9
        tell(50, 100)
    assert steps[-1].state is coming
    one.control.stop()
    spending.join()
