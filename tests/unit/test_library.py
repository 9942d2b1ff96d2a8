"""Gram's own builds: kept within a budget, removed on purpose only, and never lost by a kill."""

import hashlib
import json
import os
import shutil
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from filelock import FileLock

from desktop.builds.eviction import DEFAULT_SHARE, evict, plan_eviction, plan_here
from desktop.builds.hashes import Hashes
from desktop.builds.library import LIST, Library
from desktop.builds.library_care import Care
from desktop.builds.library_files import stored_name
from desktop.builds.memory import MAX_REMEMBERED
from desktop.builds.partial import SPARE_BYTES
from desktop.builds.preferences import read_preferences
from desktop.builds.reference import reference
from desktop.errors import BuildError
from desktop.paths import Paths
from desktop.records.library import BuildPreferences, Kept, LibraryEntry, Listed
from desktop.settings import read_settings
from tests.unit.gguf_files import gguf_bytes

START = datetime(2026, 1, 1, tzinfo=UTC)
GB = 10**9


class Clock:
    """A clock that goes on a day with each look."""

    def __init__(self) -> None:
        self.days = 0

    def __call__(self) -> datetime:
        self.days += 1
        return START + timedelta(days=self.days)


class Shelf:
    """A library with its care, and a stand-in for downloads."""

    def __init__(self, paths: Paths, scratch: Path) -> None:
        self.paths, self.scratch = paths, scratch
        self.library = Library(paths, Clock())
        self.care = Care(self.library, paths)

    def add(self, seed: int, name: str | None = None) -> str:
        data = gguf_bytes(self.scratch, seed)
        sha256 = hashlib.sha256(data).hexdigest()
        name = name or f"m{seed}-Q4_0.gguf"
        (target,) = self.library.expect(f"hf.co/o/r:{name}", {name: sha256}, "https://x/y")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return sha256

    def names(self) -> list[str]:
        return [e.name for e in self.library.entries().entries]


@pytest.fixture
def shelf(home, tmp_path) -> Shelf:
    return Shelf(home, tmp_path)


def code_of(call) -> str:
    with pytest.raises(BuildError) as caught:
        call()
    return caught.value.code


def plan(shelf: Shelf, needed: int = 0, **more):
    kept = shelf.library.entries().size_bytes
    settings = {"free_bytes": 10 * GB, "budget_gb": kept / GB} | more
    return plan_eviction(shelf.library.entries(), needed, **settings)


# what is there


def test_an_empty_library(home):
    assert Library(home).entries() == Listed()
    shutil.rmtree(home.builds)
    assert Library(home).entries() == Listed()


def test_what_was_fetched_is_listed(shelf):
    sha256 = shelf.add(1)
    (entry,) = shelf.library.entries().entries
    assert (entry.sha256, entry.name) == (sha256, "hf.co/o/r:m1-Q4_0.gguf")
    assert (entry.kept, entry.ours, entry.pinned) == (Kept.WHOLE, True, False)
    assert entry.size_bytes == entry.freed_bytes == entry.path.stat().st_size
    assert (entry.url, entry.used_at) == ("https://x/y", "2026-01-02T00:00:00Z")
    shelf.library.use(sha256)
    assert shelf.library.entry(sha256).used_at == "2026-01-03T00:00:00Z"


def test_a_clock_that_was_set_back(shelf):
    sha256 = shelf.add(1)
    shelf.library.use(sha256)
    before = shelf.library.entry(sha256).used_at
    Library(shelf.paths, lambda: START - timedelta(days=999)).use(sha256)
    assert shelf.library.entry(sha256).used_at == before


def test_what_is_not_noted_is_not_ours(shelf):
    folder = shelf.paths.builds / ("a" * 64)
    folder.mkdir()
    (folder / "theirs.gguf").write_bytes(gguf_bytes(shelf.scratch, 1))
    (shelf.paths.builds / "loose.gguf").write_bytes(b"x")
    (shelf.paths.builds / "notes").mkdir()
    (entry,) = shelf.library.entries().entries
    assert (entry.name, entry.ours) == ("theirs.gguf", False)
    shelf.library.use(entry.sha256)
    assert code_of(lambda: shelf.care.delete(entry.sha256)) == "library_not_ours"
    assert code_of(lambda: shelf.library.pin(entry.sha256, pinned=True)) == "library_unknown"
    assert plan(shelf, budget_gb=0.0).deletions == ()


@pytest.mark.parametrize("told", ["", "..", "../elsewhere", "loose.gguf", "A" * 64, "b" * 64])
def test_what_is_no_build_is_not_known(shelf, told):
    for folder in (shelf.paths.builds.with_name("elsewhere"), shelf.paths.builds / ("A" * 64)):
        folder.mkdir()
        (folder / "x.gguf").write_bytes(gguf_bytes(shelf.scratch, 1))
    (shelf.paths.builds / "loose.gguf").write_bytes(b"x")
    assert code_of(lambda: shelf.library.entry(told)) == "library_unknown"


def test_the_reference_is_ours_without_a_note(shelf):
    folder = shelf.paths.builds / reference().sha256
    folder.mkdir()
    (folder / reference().stored_as).write_bytes(b"GGUF")
    os.utime(folder / reference().stored_as, (0, 86400.0))
    (entry,) = shelf.library.entries().entries
    assert (entry.name, entry.ours) == (str(reference().name), True)
    assert entry.used_at == "1970-01-02T00:00:00Z"
    shelf.library.pin(entry.sha256, pinned=True)
    assert shelf.library.entry(entry.sha256).pinned
    assert shelf.care.delete(entry.sha256) == 4
    assert not folder.exists()


def test_unfinished_downloads(shelf):
    files = {f"a-0000{n}-of-00002.gguf": str(n) * 64 for n in (1, 2)}
    first, second = shelf.library.expect("hf.co/o/r:Q4_0", files, None)
    assert shelf.library.entries().entries == ()
    first.parent.mkdir()
    first.write_bytes(b"GGUF")
    (second.parent / f".{second.name}.partial").write_bytes(b"x" * 8192)
    (second.parent / f".{second.name}.pieces").write_bytes(b"x")
    (entry,) = shelf.library.entries().entries
    assert entry.kept is Kept.PART
    assert entry.size_bytes >= 8192
    shelf.care.delete(entry.sha256)
    assert list(shelf.paths.builds.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_links(shelf, tmp_path):
    sha256, other = shelf.add(1), shelf.add(2)
    elsewhere = tmp_path / "elsewhere.gguf"
    path = shelf.library.entry(sha256).path
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert not shelf.library.entry(sha256).ours
    assert code_of(lambda: shelf.care.delete(sha256)) == "library_not_ours"
    os.link(shelf.library.entry(other).path, tmp_path / "second name")
    assert shelf.library.entry(other).freed_bytes == 0
    assert plan(shelf, budget_gb=0.0).deletions == ()


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_folder_of_builds_on_another_drive(home, tmp_path):
    drive = tmp_path / "ein Laufwerk 日本"
    drive.mkdir()
    home.builds.rmdir()
    home.builds.symlink_to(drive)
    shelf = Shelf(home, tmp_path)
    sha256 = shelf.add(1, "ein Modell Ü 日本.gguf")
    assert shelf.library.entry(sha256).ours
    assert shelf.care.check(sha256).told is None
    assert plan_here(shelf.library, home, 0, budget_gb=0.0).deletions
    assert shelf.care.delete(sha256) > 0
    assert list(drive.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_drive_that_is_not_there_is_told(home, tmp_path):
    home.builds.rmdir()
    home.builds.symlink_to(tmp_path / "unplugged")
    listed = Library(home).entries()
    assert ([e.name for e in listed.entries], [r.code for r in listed.told]) == (
        [],
        ["build_unreadable"],
    )
    assert code_of(lambda: plan_here(Library(home), home, 0)) == "library_write"


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("a/b/m-Q4_0.gguf", "m-Q4_0.gguf"),
        ("../../etc/passwd", "passwd.gguf"),
        ("con.gguf", "_con.gguf"),
        ("NUL.x.gguf", "_NUL.x.gguf"),
        ("console.gguf", "console.gguf"),
        (".gguf", "_.gguf"),
        ("..", "_.gguf"),
        ('a<b>:"|?*\\c.gguf', "a_b_______c.gguf"),
        (" a . gguf", "a . gguf.gguf"),
        ("ü 日本.GGUF", "ü 日本.gguf"),
        ("n\nl.gguf", "n_l.gguf"),
        ("x/" + "m" * 300 + "-00002-of-00003.gguf", "m" * 100 + "-00002-of-00003.gguf"),
    ],
)
def test_stored_names(name, stored):
    assert stored_name(name) == stored
    assert stored_name(stored) == stored


@pytest.mark.parametrize("letter", ["x", "日", "🦙", "\udcff"])
def test_long_names_are_cut(letter, shelf):
    name = stored_name(letter * 400 + ".gguf")
    assert len(name.encode()) <= 120
    assert shelf.care.delete(shelf.add(1, letter * 400 + ".gguf")) > 0


# the list


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"[1]", b"{}", b'{"v": 2, "builds": {}}', b"[" * 100_000]
)
def test_a_broken_list_loses_no_build(shelf, content):
    sha256 = shelf.add(1)
    file = shelf.paths.data / LIST
    file.write_bytes(content)
    listed = shelf.library.entries()
    assert [r.code for r in listed.told] == ["library_list"]
    assert [e.ours for e in listed.entries] == [False]
    assert file.read_bytes() == content
    assert shelf.add(1) == sha256
    assert shelf.library.entry(sha256).ours
    (aside,) = shelf.paths.data.glob("library.broken-*.json")
    assert aside.read_bytes() == content


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"../../ledger.sqlite": "SHA"}},
        {"files": {"/etc/passwd": "SHA"}},
        {"files": {".hidden": "SHA"}},
        {"files": {"a\\b.gguf": "SHA"}},
        {"files": {"a.gguf": "0" * 64}},
        {"files": {}},
        {"files": []},
        {"name": 5},
        {"used_at": "yesterday"},
        {"used_at": None},
    ],
)
def test_a_row_that_gram_did_not_write_is_none(shelf, change):
    sha256 = shelf.add(1)
    file = shelf.paths.data / LIST
    table = json.loads(file.read_text())
    table["builds"][sha256] |= change
    file.write_text(json.dumps(table).replace("SHA", sha256))
    assert not shelf.library.entry(sha256).ours
    assert code_of(lambda: shelf.care.delete(sha256)) == "library_not_ours"


def test_many_threads_lose_no_note(shelf):
    shas = [shelf.add(n) for n in range(8)]
    one = threading.Barrier(8)

    def work(sha256):
        one.wait()
        Library(shelf.paths).pin(sha256, pinned=True)

    threads = [threading.Thread(target=work, args=(s,)) for s in shas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(e.pinned for e in shelf.library.entries().entries)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root writes all")
def test_folders_that_are_read_only(shelf):
    sha256 = shelf.add(1)
    folder = shelf.paths.builds / sha256
    folder.chmod(0o500)
    try:
        assert code_of(lambda: shelf.care.delete(sha256)) == "library_write"
        assert shelf.library.entry(sha256).kept is Kept.WHOLE
    finally:
        folder.chmod(0o700)


def test_a_list_that_cannot_be_written(shelf):
    sha256 = shelf.add(1)
    (shelf.paths.data / LIST).with_suffix(".lock").unlink(missing_ok=True)
    (shelf.paths.data / LIST).with_suffix(".lock").mkdir()
    assert code_of(lambda: shelf.library.pin(sha256, pinned=True)) == "library_write"
    assert not shelf.library.entry(sha256).pinned


# removing


def test_delete_tells_what_is_free(shelf):
    sha256 = shelf.add(1)
    size = shelf.library.entry(sha256).size_bytes
    shelf.library.pin(sha256, pinned=True)
    assert shelf.care.delete(sha256) == size
    assert not (shelf.paths.builds / sha256).exists()
    assert sha256 not in (shelf.paths.data / LIST).read_text()
    assert code_of(lambda: shelf.care.delete(sha256)) == "library_unknown"


def test_what_a_person_put_beside_it_stays(shelf):
    sha256 = shelf.add(1)
    note = shelf.paths.builds / sha256 / "my notes.txt"
    note.write_text("mine")
    shelf.care.delete(sha256)
    assert note.read_text() == "mine"


def in_another_thread(call):
    """As another window would: a lock is held by a thread of a process."""
    found = []
    thread = threading.Thread(target=lambda: found.append(code_of(call)))
    thread.start()
    thread.join()
    return found[0]


def test_nothing_goes_while_something_is_measured(shelf):
    sha256 = shelf.add(1)
    (entry,) = (todo := plan(shelf, budget_gb=0.0)).deletions
    with FileLock(shelf.paths.measure_lock):
        assert in_another_thread(lambda: shelf.care.delete(sha256)) == "library_measuring"
        assert in_another_thread(lambda: shelf.care.check(sha256)) == "library_measuring"
        results = []
        thread = threading.Thread(
            target=lambda: results.append(evict(shelf.library, shelf.care, todo, "x"))
        )
        thread.start()
        thread.join()
    assert [r.code for r in results[0].told] == ["library_measuring"]
    assert shelf.library.entry(sha256) == entry


def test_nothing_goes_while_it_is_downloaded(shelf):
    sha256 = shelf.add(1)
    path = shelf.library.entry(sha256).path
    with FileLock(path.with_name(f".{path.name}.lock")):
        assert in_another_thread(lambda: shelf.care.delete(sha256)) == "download_busy"
    assert path.is_file()


# the budget


def entry(n: int, size_gb: float, used_at: str | None = None, **more) -> LibraryEntry:
    size = int(size_gb * GB)
    path = Path("b") / f"{n}.gguf"
    sha256 = f"{n:064x}"
    plain = LibraryEntry(sha256, f"m{n}", path, Kept.WHOLE, size, size, True, False, None, used_at)
    return replace(plain, **more)


def names_of(deletions) -> list[str]:
    return [e.name for e in deletions]


def test_least_recently_used_goes_first():
    listed = Listed(
        (
            entry(1, 4, "2026-01-03T00:00:00Z"),
            entry(2, 4, "2026-01-01T00:00:00Z"),
            entry(3, 4, "2025-12-31T00:00:00Z", pinned=True),
            entry(4, 4, "2025-12-30T00:00:00Z", ours=False),
            entry(5, 4, None),
        )
    )
    for needed, expected in ((0, []), (1, ["m5"]), (5, ["m5", "m2"]), (9, ["m5", "m2", "m1"])):
        made = plan_eviction(listed, needed * GB, free_bytes=100 * GB, budget_gb=20)
        assert names_of(made.deletions) == expected
        assert made.short_bytes == 0
        assert made.freed_bytes == 4 * GB * len(expected)
    made = plan_eviction(listed, 13 * GB, free_bytes=100 * GB, budget_gb=20)
    assert made.short_bytes == 1 * GB
    without = frozenset({entry(5, 4).sha256})
    made = plan_eviction(listed, GB, free_bytes=100 * GB, budget_gb=20, without=without)
    assert names_of(made.deletions) == ["m2"]


def test_a_full_disk_counts_as_the_budget_does():
    listed = Listed((entry(1, 4, "2026-01-01T00:00:00Z"),))
    made = plan_eviction(listed, GB, free_bytes=GB + SPARE_BYTES, budget_gb=100)
    assert made.deletions == ()
    made = plan_eviction(listed, GB, free_bytes=GB + SPARE_BYTES - 1, budget_gb=100)
    assert names_of(made.deletions) == ["m1"]


def test_the_default_budget_does_not_shrink_as_it_fills():
    before = plan_eviction(Listed(), 0, free_bytes=100 * GB).budget_bytes
    after = plan_eviction(Listed((entry(1, 30),)), 0, free_bytes=70 * GB).budget_bytes
    assert before == after == 100 * GB * DEFAULT_SHARE


def test_evict(shelf):
    shas = [shelf.add(n) for n in range(4)]
    shelf.library.use(shas[0])
    shelf.library.pin(shas[1], pinned=True)
    size = shelf.library.entry(shas[2]).size_bytes
    made = plan(shelf, size)
    assert [e.sha256 for e in made.deletions] == [shas[2]]
    assert len(shelf.names()) == 4
    done = evict(shelf.library, shelf.care, made, "x")
    assert (done.freed_bytes, done.told) == (size, ())
    assert {e.sha256 for e in shelf.library.entries().entries} == {shas[0], shas[1], shas[3]}


def test_what_was_used_or_pinned_since_the_plan_stays(shelf):
    used, pinned, gone = (shelf.add(n) for n in range(3))
    made = plan(shelf, budget_gb=0.0)
    assert len(made.deletions) == 3
    shelf.library.use(used)
    shelf.library.pin(pinned, pinned=True)
    shelf.care.delete(gone)
    done = evict(shelf.library, shelf.care, made, "x")
    assert done.gone == ()
    assert [r.code for r in done.told] == ["library_since", "library_since", "library_unknown"]


def test_a_plan_that_does_not_suffice_is_not_begun(shelf):
    shelf.add(1)
    made = plan(shelf, 20 * GB)
    assert made.short_bytes > 0
    assert code_of(lambda: evict(shelf.library, shelf.care, made, "x")) == "library_short"
    assert len(shelf.names()) == 1


# checking


def test_bytes_that_changed_are_set_aside(shelf):
    sha256 = shelf.add(1)
    assert shelf.care.check(sha256).told is None
    path = shelf.library.entry(sha256).path
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    steps = []
    checked = shelf.care.check(sha256, lambda *step: steps.append(step))
    assert checked.told is not None
    assert checked.told.code == "library_damaged"
    assert steps
    assert checked.entry.kept is Kept.DAMAGED
    assert path.with_name(f"{path.name}.damaged").read_bytes() == content
    assert not path.exists()
    assert shelf.add(1) == sha256
    assert shelf.library.entry(sha256).kept is Kept.WHOLE
    assert shelf.care.delete(sha256) == 2 * len(content)


def test_what_gram_did_not_fetch_is_told_and_stays(shelf):
    folder = shelf.paths.builds / ("a" * 64)
    folder.mkdir()
    (folder / "theirs.gguf").write_bytes(b"GGUF")
    checked = shelf.care.check("a" * 64)
    assert checked.told is not None
    assert checked.told.code == "library_changed"
    assert (folder / "theirs.gguf").is_file()


# a kill between any two steps


def stop_at(step: int) -> None:
    """End this process, without a last word, at the n-th thing it does to files."""
    left = [step]

    def hook(event: str, args) -> None:
        writes = (
            event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if writes or event in {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}:
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)

    sys.addaudithook(hook)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_between_any_two_steps_loses_nothing(home, tmp_path):
    seen = set()
    for step in range(200):
        root = tmp_path / str(step)
        paths = Paths(root, root / "cache", root / "log").ensure()
        shelf = Shelf(paths, tmp_path)
        kept, gone = shelf.add(1), shelf.add(2)
        shelf.library.pin(kept, pinned=True)
        expected = {sha: shelf.library.entry(sha).path.read_bytes() for sha in (kept, gone)}
        new = gguf_bytes(tmp_path, 3)
        child = os.fork()
        if child == 0:
            stop_at(step)
            name = {"m3.gguf": hashlib.sha256(new).hexdigest()}
            (target,) = shelf.library.expect("hf.co/o/r:m3", name, None)
            target.parent.mkdir()
            part = target.with_name(f".{target.name}.partial")
            part.write_bytes(new)
            part.replace(target)
            shelf.library.use(kept)
            shelf.care.delete(gone)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        after = Shelf(paths, tmp_path)
        listed = after.library.entries()
        assert listed.told == ()
        by_sha = {e.sha256: e for e in listed.entries}
        assert by_sha[kept].pinned
        assert by_sha[kept].path.read_bytes() == expected[kept]
        for found in listed.entries:
            assert found.ours
            if found.kept is Kept.WHOLE:
                assert after.care.check(found.sha256).told is None
        if gone in by_sha:
            assert after.care.delete(gone) == len(expected[gone])
        seen.add(len(by_sha))
        shutil.rmtree(root)
        if status == 0:
            break
    assert status == 0
    assert step > 15
    assert seen == {2, 3}


# the memory of hashes


def test_hundreds_of_files_are_hashed_once(tmp_path):
    paths = [tmp_path / f"{n}.bin" for n in range(400)]
    for n, path in enumerate(paths):
        path.write_text(str(n))
    hashes = Hashes(tmp_path / "cache" / "hashes.json")
    assert len({hashes.sha256(path) for path in paths}) == 400
    other = Hashes(tmp_path / "cache" / "hashes.json")
    assert [other.known(path) for path in paths] == [
        hashlib.sha256(str(n).encode()).hexdigest() for n in range(400)
    ]
    assert MAX_REMEMBERED > 1000
    assert other.known(tmp_path / "none") is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_two_processes_lose_none_of_each_other_s_hashes(tmp_path):
    paths = [tmp_path / f"{n}.bin" for n in range(60)]
    for path in paths:
        path.write_text(path.name)
    file = tmp_path / "cache" / "hashes.json"
    children = []
    for half in (paths[::2], paths[1::2]):
        child = os.fork()
        if child == 0:
            for path in half:
                Hashes(file).sha256(path)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    hashes = Hashes(file)
    assert all(hashes.known(path) for path in paths)


# what the person set


def test_preferences(tmp_path):
    file = tmp_path / "settings.toml"
    assert read_preferences(file) == (BuildPreferences(), ())
    file.write_text(
        'place = "NL"\n[builds]\nfolders = [" /a b ", "~/c", "/a b"]\nbudget_gb = 200\n'
    )
    assert read_preferences(file) == (BuildPreferences(("/a b", "~/c"), 200.0), ())
    assert read_settings(file).told == ()


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("builds = 5", ["setting_no_table"]),
        ("[builds]\nfolders = 'x'", ["setting_bad_in_file"]),
        ("[builds]\nfolders = ['', 5, '/a']", ["setting_item_bad_in_file"] * 2),
        ("[builds]\nbudget_gb = -1", ["setting_bad_in_file"]),
        ("[builds]\nbudget_gb = nan", ["setting_bad_in_file"]),
        ("[builds]\nbudget_gb = true", ["setting_bad_in_file"]),
        ("[builds]\nbudget_gb = 'much'", ["setting_bad_in_file"]),
        ("[builds]\nbudget = 200", ["setting_near_in_file"]),
        ("[builds]\ncolour = 2", ["settings_not_read"]),
        ("place = 5\ncolour = 2", []),
        ("not toml", ["settings_broken"]),
    ],
)
def test_preferences_that_are_not_allowed_are_told(tmp_path, text, codes):
    file = tmp_path / "settings.toml"
    file.write_text(text)
    found, told = read_preferences(file)
    assert [r.code for r in told] == codes
    assert all(r.text() for r in told)
    assert found == BuildPreferences(("/a",) if "'/a'" in text else ())
