"""`gram builds list`, `rm`, `pin`, `verify` as a person types them: what is kept, and what is said."""

import json
from dataclasses import replace

import pytest

from desktop import cli
from desktop.builds.library import Library
from desktop.builds.listings import Listings
from desktop.cli import builds_shelf
from desktop.records.offers import Shelf
from desktop.services import shelf
from tests.unit.gguf_files import gguf_bytes
from tests.unit.test_shelf import listed, own, person, theirs

__all__ = ["person"]
NAME = "hf.co/o/r:Q4_0"


@pytest.fixture
def gram(capsys):
    def run(*arguments, status=0):
        assert cli.main(["builds", *arguments]) == status
        return capsys.readouterr()

    return run


@pytest.fixture
def answers(monkeypatch):
    """Somebody at a terminal: what was asked, and what they say."""

    class Asked(list):
        answer = True

    asked = Asked()

    def confirm(text, **_):
        asked.append(text)
        return asked.answer

    monkeypatch.setattr(builds_shelf, "can_ask", lambda: True)
    monkeypatch.setattr(builds_shelf.click, "confirm", confirm)
    return asked


def test_a_repository_that_was_only_asked_is_not_forgotten_its_build_is_removed(
    gram, home, tmp_path
):
    _, target = own(home, tmp_path)
    listed(home, target.read_bytes())
    gone = json.loads(gram("rm", "o/r", "--yes", "--json").out)
    assert gone["name"] == NAME
    assert not target.exists()
    assert "o/r" in Listings(home.data).read()[0]
    refused = json.loads(gram("rm", "o/r", "--json", status=1).out)
    assert refused["error"]["code"] == "library_unknown"
    assert "o/r" in Listings(home.data).read()[0]


def test_what_was_added_is_forgotten_in_json_too(gram, home, tmp_path):
    listed(home, b"GGUF", added=True)
    assert json.loads(gram("rm", "o/r", "--json").out) == {"forgotten": "o/r"}
    assert Listings(home.data).read()[0] == {}


@pytest.mark.parametrize("pinned", [True, False])
def test_where_nobody_can_be_asked_it_stays_and_whether_it_is_pinned_is_said(
    gram, home, tmp_path, pinned
):
    _, target = own(home, tmp_path)
    if pinned:
        gram("pin", "o/r")
    said = gram("rm", "o/r", status=1).err
    assert "Write --yes" in said
    assert ("is pinned" in said) is pinned
    assert target.is_file()


def test_how_many_digits_of_a_sum_name_a_build_is_said(gram, home, tmp_path):
    sha256, _ = own(home, tmp_path)
    assert "from 8 digits on" in " ".join(gram("pin", sha256[:7], status=1).err.split())
    gram("pin", sha256[:8])


def test_a_pinned_one_is_asked_about_as_such(gram, home, tmp_path, answers):
    _, target = own(home, tmp_path)
    gram("pin", "o/r")
    answers.answer = False
    refused = json.loads(gram("rm", "o/r", "--json", status=1).out)
    assert refused["error"]["code"] == "remove_declined"
    assert "is pinned" in answers[0]
    assert target.is_file()
    gram("unpin", "o/r")
    answers.answer = True
    gram("rm", "o/r")
    assert "pinned" not in answers[1]
    assert not target.exists()


@pytest.mark.parametrize(("command", "pinned"), [("pin", True), ("unpin", False)])
def test_pins_in_json(gram, home, tmp_path, command, pinned):
    sha256, _ = own(home, tmp_path)
    told = json.loads(gram(command, "m1-Q4_0", "--json").out)
    assert told == {"name": NAME, "sha256": sha256, "pinned": pinned}
    assert shelf.own_build(home, sha256).pinned is pinned


@pytest.mark.parametrize("command", ["rm", "pin", "unpin"])
def test_what_others_keep_is_theirs(gram, home, tmp_path, person, command):
    file = theirs(person, gguf_bytes(tmp_path, 2))
    said = gram(command, "x-Q8_0", status=1).err
    assert "is kept by LM Studio, not by Gram" in said
    assert file.is_file()


def test_what_others_keep_is_compared(gram, home, tmp_path, person):
    content = gguf_bytes(tmp_path, 2)
    theirs(person, content)
    assert "nothing to compare" in gram("verify", "x-Q8_0", status=1).err
    listed(home, content)
    assert "Every byte is right: hf.co/o/r:Q8_0" in gram("verify", "x-Q8_0").err
    [told] = json.loads(gram("verify", "o/r", "--json").out)
    assert told["checked"] == {"entry": None, "told": None}


def test_of_an_unfinished_one_it_says_of_how_much(gram, home, tmp_path):
    sha256 = "a" * 64
    (target,) = Library(home).expect(NAME, {"m.gguf": sha256}, None, {"m.gguf": 98_400_000})
    target.parent.mkdir(parents=True)
    target.with_name(f".{target.name}.partial").write_bytes(bytes(40960))
    said = gram().out
    assert "41.0 kB of 98.4 MB" in said
    assert "unfinished" in said
    [held] = json.loads(gram("--json").out)["held"]
    assert held["whole_bytes"] == 98_400_000
    assert "gram builds get" in gram("verify", "o/r", status=1).err


def test_more_than_the_budget_is_said_so():
    within = Shelf((), 10**8, 10**9, 10**10)
    assert "take 100 MB of 1.00 GB; 10.0 GB are free" in builds_shelf._budget(within)
    said = builds_shelf._budget(replace(within, kept_bytes=3 * 10**9))
    assert "take 3.00 GB: 2.00 GB more than the disk budget of 1.00 GB" in said
    assert "gram settings builds.budget_gb" in said
