"""What repositories listed, remembered; and the list that a person added to."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from desktop.builds import listings as module
from desktop.builds.grouping import group
from desktop.builds.listings import LIST, Listings
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


def test_a_listing_of_too_many_files_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MOST_FILES", 1)
    kept = Listings(tmp_path)
    kept.keep(listing("small", "x-Q4_0.gguf"), START)
    kept.keep(listing("large"), START)
    assert set(kept.read()[0]) == {"o/small"}
