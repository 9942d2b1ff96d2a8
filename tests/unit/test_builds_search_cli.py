"""`gram builds search` as it is printed: what stands at the rows, and what is said below them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from desktop import cli
from desktop.builds.grouping import group
from desktop.builds.listings import Listings
from desktop.cli import builds_search
from desktop.cli.builds_words import fit_words
from desktop.errors import Reason
from desktop.estimate.fitting import Room
from desktop.estimate.here import rows_here
from desktop.records.offers import BuildOffer, OfferedBuild, Offers
from desktop.records.remote import RemoteFile, RepositoryFacts
from desktop.services import offers
from tests.unit.test_fits import SMALL, USE, asked, ground_with, here

GIB = 1 << 30


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch, home):
    """A machine that is known, nothing shipped, and an empty home of the person."""
    monkeypatch.setattr(builds_search, "read_ground", lambda _: ground_with(here()))
    monkeypatch.setattr(offers, "shipped_builds", lambda _: ())
    (tmp_path / "person").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def printed(capsys, monkeypatch):
    """What is printed of offers, its lines joined."""

    def show(*given, width=80, offline=False, most=None, **told):
        monkeypatch.setenv("COLUMNS", str(width))
        builds_search.listed(Offers(given, **told), offline=offline, most=most)
        return capsys.readouterr().out

    return show


@pytest.fixture
def gram(capsys, monkeypatch):
    def run(*arguments, status=0):
        monkeypatch.setenv("COLUMNS", "300")
        assert cli.main(["builds", *arguments]) == status
        return capsys.readouterr()

    return run


def row(label="Q4_K_M", **changes):
    return rows_here(here(**changes), [asked(label=label)], USE)[0]


def offer(fit=None, repository="o/m", **changes):
    label = fit.quant.label if fit else "Q4_K_M"
    made = OfferedBuild(f"hf.co/{repository}:{label}", repository, label, size_bytes=10**9)
    return BuildOffer(replace(made, **changes), fit)


def joined(text):
    return " ".join(text.split())


class TestReasons:
    def test_stand_at_the_rows_by_numbers_and_once_below(self, printed):
        unknown = row(rates={}, bandwidths={})
        said = printed(offer(unknown), offer(row("Q8_0")), offer(row("Q6_K")), online=True)
        lines = said.splitlines()
        assert lines[1].split()[-2:] == ["none", "1"]
        assert "not known" in lines[1]
        assert lines[2].split()[-3:] == lines[3].split()[-3:] == ["B", "2", "3"]
        assert [said.count(f"\n{number}  ") for number in (1, 2, 3)] == [1, 1, 1]
        assert "Tier B" in said

    def test_name_no_other_unit_than_the_table(self, printed):
        found = [row(label, room=Room(host_bytes=GIB)) for label in ("Q4_K_M", "Q8_0")]
        for shown in (found[:1], found):
            said = printed(*map(offer, shown), online=True)
            assert "needs 1." in said
            assert "GiB" not in said
            assert "It needs more memory than can be used here." in said

    def test_tell_what_to_do_at_this_machine(self, printed):
        unknown = row(rates={}, bandwidths={})
        assert "`gram fits --probe`" in printed(offer(unknown), online=True)
        assert "`gram fits --probe`" in fit_words(unknown)
        assert "such a machine" not in fit_words(unknown)


class TestColumns:
    def test_that_all_are_empty_are_left_out_and_gated_stays(self, printed):
        said = printed(offer(repository="meta/Quite-Long-Name-GGUF", gated=True), online=True)
        assert said.splitlines()[0].split() == ["build", "size", "gated"]
        assert "No room" not in said

    def test_with_little_room_others_go_before_it(self, printed):
        long = {"repository": "somebody/A-Name-Of-Some-Length-GGUF", "license": "apache-2.0"}
        given = offer(row(), gated=True, listed_at="2026-12-01T00:00:00Z", **long)
        head = printed(given, width=100, online=True).splitlines()[0]
        assert "gated" in head
        assert "licence" not in head


class TestNotKnown:
    def test_of_what_is_gated(self, printed):
        said = joined(printed(offer(gated=True), online=True))
        assert "Not known whether it fits: o/m." in said
        assert "agreed to their terms" in said

    def test_without_a_connection(self, printed):
        said = joined(printed(offer(), offline=True))
        assert "Nobody was asked: this is what is known from before." in said
        assert "o/m:Q4_K_M. The header at its repository tells it: ask with a connection." in said

    def test_where_the_hub_did_not_answer(self, printed):
        silent = Reason("hub_unreachable", {"host": "x", "detail": "y"})
        assert "The hub did not answer" in printed(offer(), told=(silent,))

    def test_of_what_no_table_has(self, printed):
        assert "`gram builds get NAME` reads its header" in joined(printed(offer(), online=True))

    def test_names_are_counted(self, printed):
        given = [offer(repository=f"o/m{n}") for n in range(5)]
        assert "o/m2:Q4_K_M and 2 more." in joined(printed(*given, online=True))


class TestMost:
    def test_the_first_and_how_many_more(self, printed):
        said = printed(*[offer(row())] * 23, most=20, online=True)
        assert said.count("o/m:Q4_K_M") == 20
        assert "3 more models would run here" in said
        assert "more model" not in printed(*[offer(row())] * 20, most=20, online=True)

    @pytest.mark.parametrize(
        ("arguments", "shown"), [((), 20), (("",), 20), (("llama",), 23), (("--all",), 23)]
    )
    def test_all_are_shown_of_what_was_asked_for(self, gram, monkeypatch, arguments, shown):
        class Found:
            def __init__(self, *_):
                pass

            def find(self, *_, **__):
                return Offers((offer(row()),) * 23)

        monkeypatch.setattr(builds_search, "BuildSearch", Found)
        assert gram("search", *arguments).out.count("o/m:Q4_K_M") == shown


class TestAll:
    def test_what_all_would_show_is_told_where_a_repository_was_not_named(self, gram, home):
        assert "--all shows every quantization" in gram("search", SMALL, "--offline").out
        assert "--all shows" not in gram("search", SMALL, "--all", "--offline").out
        facts = RepositoryFacts("o", "m", None, None, gated=False)
        files = [RemoteFile("x-Q4_K_M.gguf", 10**9, "0" * 64)]
        Listings(home.data).keep(group(facts, files), datetime(2026, 12, 1, tzinfo=UTC))
        said = gram("search", "hf.co/o/m", "--offline").out
        assert "o/m:Q4_K_M" in said
        assert "--all shows" not in said


class TestContext:
    def test_the_usual_one_or_what_a_model_was_trained_for(self, gram):
        said = gram("search", "tinyllama", "--offline").out
        assert "in memory" in said
        assert "For 2,048 tokens, all that it was trained for: TinyLlama" in said
        assert "all that it was trained for" not in gram("search", SMALL, "--offline").out

    def test_one_that_was_asked_for_counts(self, gram):
        said = gram("search", "tinyllama", "--offline", "--context", "4096").out
        assert "trained for 2,048 tokens" in said
        assert "not run" in said


@pytest.mark.parametrize(
    ("written", "meant"),
    [("remove", "rm"), ("download", "get"), ("pull", "get"), ("fetch", "get"), ("serch", "search")],
)
def test_what_other_programs_call_a_command_is_suggested(gram, written, meant):
    assert f"Did you mean '{meant}'?" in gram(written, "x", status=2).err
