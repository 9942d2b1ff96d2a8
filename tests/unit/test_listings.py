"""What repositories listed, remembered; and the list that a person added to."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from desktop.builds import listings as module
from desktop.builds import names
from desktop.builds.grouping import group
from desktop.builds.listings import LIST, Listings, named
from desktop.errors import BuildError
from desktop.records.remote import RemoteFile, RepositoryFacts

START = datetime(2026, 12, 1, tzinfo=UTC)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def listing(repo="r", *paths, gated=False):
    facts = RepositoryFacts(
        "o", repo, COMMIT, "mit", gated, ("o/base",), (), "llama", 4096, downloads=7
    )
    files = [
        RemoteFile(path, 100 + n, f"{n:064x}" if n else None)
        for n, path in enumerate(paths or ("x-Q4_0.gguf", "x-Q8_0.gguf"))
    ]
    return group(facts, files)


@pytest.mark.parametrize("gated", [False, True])
def test_what_is_kept_reads_back_whole(tmp_path, gated):
    told = listing("r", "x-Q4_0.gguf", "s-Q8_0-00001-of-00002.gguf", "s-Q8_0-00002-of-00002.gguf")
    Listings(tmp_path).keep(told, START)
    found, why = Listings(tmp_path).read()
    assert why is None
    assert found["o/r"].listing == told
    assert found["o/r"].listed_at == "2026-12-01T00:00:00Z"
    assert not found["o/r"].added


def test_what_was_added_stays_added_when_it_is_listed_again(tmp_path):
    kept = Listings(tmp_path)
    kept.keep(listing(), START, added=True)
    again = kept.keep(listing(), START + timedelta(days=1))
    assert again.added
    assert kept.read()[0]["o/r"].listed_at == "2026-12-02T00:00:00Z"


def test_it_is_forgotten_whatever_the_capitals(tmp_path):
    kept = Listings(tmp_path)
    kept.keep(listing("R"), START)
    assert kept.forget("O/r")
    assert not kept.forget("o/r")
    assert kept.read()[0] == {}


def test_the_oldest_go_first_and_what_was_added_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_LISTINGS", 2)
    kept = Listings(tmp_path)
    kept.keep(listing("mine"), START, added=True)
    for day in range(1, 4):
        kept.keep(listing(f"r{day}"), START + timedelta(days=day))
    assert set(kept.read()[0]) == {"o/mine", "o/r3"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"listed_at": "yesterday"},
        {"model": {"id": "../x"}},
        {"model": None},
        {"files": [{"type": "file", "path": "x.gguf", "size": -1}]},
        {"files": [{"type": "file", "path": "x.gguf", "size": 1, "lfs": {"oid": "no", "size": 1}}]},
        {"files": 7},
    ],
)
def test_a_row_that_somebody_changed_is_left_out(tmp_path, wrong):
    kept = Listings(tmp_path)
    kept.keep(listing("bad"), START)
    kept.keep(listing("good"), START)
    file = tmp_path / LIST
    table = json.loads(file.read_text())
    table["repositories"]["o/bad"].update(wrong)
    file.write_text(json.dumps(table))
    assert set(kept.read()[0]) == {"o/good"}


def test_a_broken_list_is_told_and_set_aside(tmp_path):
    (tmp_path / LIST).write_text("{")
    kept = Listings(tmp_path)
    found, why = kept.read()
    assert found == {}
    assert why is not None
    assert why.code == "library_list"
    kept.keep(listing(), START)
    assert (tmp_path / "repositories.broken-1.json").read_text() == "{"
    assert set(kept.read()[0]) == {"o/r"}


def refused(kept, told, now=START, **how):
    with pytest.raises(BuildError) as caught:
        kept.keep(told, now, **how)
    return caught.value.code


@pytest.mark.parametrize("bound", ["_MOST_FILES", "_MOST_OF_ONE_BYTES"])
def test_a_listing_that_is_too_large_is_not_kept(tmp_path, monkeypatch, bound):
    most = {"_MOST_FILES": 1, "_MOST_OF_ONE_BYTES": 600}
    monkeypatch.setattr(module, bound, most[bound])
    kept = Listings(tmp_path)
    kept.keep(listing("small", "x-Q4_0.gguf"), START)
    assert refused(kept, listing("large", "x-Q4_0.gguf", f"{'x' * 200}-Q8_0.gguf")) == (
        "listing_large"
    )
    assert set(kept.read()[0]) == {"o/small"}


def room_for(monkeypatch, rows):
    monkeypatch.setattr(module, "MOST_BYTES", rows * 700)
    return [listing(f"r{n}", f"{'x' * 200}-Q4_0.gguf") for n in range(9)]


def test_the_oldest_go_first_where_the_list_is_large(tmp_path, monkeypatch):
    told = room_for(monkeypatch, 3)
    kept = Listings(tmp_path)
    kept.keep(told[0], START, added=True)
    for day in range(1, 6):
        kept.keep(told[day], START + timedelta(days=day))
    assert set(kept.read()[0]) == {"o/r0", "o/r4", "o/r5"}


def test_what_was_added_is_never_dropped_for_more(tmp_path, monkeypatch):
    told = room_for(monkeypatch, 2)
    kept = Listings(tmp_path)
    kept.keep(told[0], START)
    kept.keep(told[1], START, added=True)
    kept.keep(told[2], START, added=True)
    later = START + timedelta(days=1)
    assert refused(kept, told[3], later, added=True) == "listings_full"
    assert refused(kept, told[3], later) == "listings_full"
    kept.keep(told[2], later)
    assert {key: one.added for key, one in kept.read()[0].items()} == {"o/r1": True, "o/r2": True}
    assert kept.forget("o/r1")
    assert kept.keep(told[3], later, added=True).added


def test_long_paths_are_read_in_few_steps(monkeypatch):
    """A hostile repository has thousands of a thousand letters."""
    asked = []

    def hidden(letter):
        asked.append(letter)
        return False

    monkeypatch.setattr(names, "is_hidden", hidden)
    assert names.is_safe_path(f"{'d' * 200}/{'x' * 200}.gguf")
    assert len(asked) < 20


def test_only_the_main_branch_is_remembered(tmp_path):
    kept = Listings(tmp_path)
    kept.keep(listing("r", "new-Q4_0.gguf"), START)
    kept.keep(replace(listing("r", "old-Q4_0.gguf"), revision="a" * 40), START)
    [build] = kept.read()[0]["o/r"].listing.builds
    assert build.files[0].path == "new-Q4_0.gguf"


class TestRenamed:
    def test_it_is_found_by_both_names(self, tmp_path):
        kept = Listings(tmp_path)
        told = replace(listing(), asked_as="Old/r")
        kept.keep(told, START, added=True)
        found = kept.read()[0]
        assert found["o/r"].listing == told
        assert named(found, "old/R") is named(found, "O/R") is found["o/r"]
        assert named(found, "o/other") is None
        # asked by its own name it keeps the other
        kept.keep(listing(), START)
        assert kept.of("old/r").added
        assert kept.forget("old/r")
        assert kept.read()[0] == {}

    def test_it_takes_the_place_of_what_was_listed_under_the_other(self, tmp_path):
        kept = Listings(tmp_path)
        kept.keep(listing("old"), START, added=True)
        assert kept.keep(replace(listing("new"), asked_as="o/old"), START).added
        assert set(kept.read()[0]) == {"o/new"}

    def test_a_name_that_is_none_is_left_out(self, tmp_path):
        kept = Listings(tmp_path)
        kept.keep(listing(), START)
        file = tmp_path / LIST
        table = json.loads(file.read_text())
        table["repositories"]["o/r"]["asked_as"] = "../x"
        file.write_text(json.dumps(table))
        assert kept.read()[0]["o/r"].listing == listing()


def test_a_row_is_a_line_of_the_file(tmp_path):
    kept = Listings(tmp_path)
    for repo in ("r1", "r2"):
        kept.keep(listing(repo), START)
    _, *rows, _ = (tmp_path / LIST).read_text().splitlines()
    assert [row.partition(":")[0] for row in rows] == ['"o/r1"', '"o/r2"']
