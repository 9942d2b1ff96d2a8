"""Builds by words: which repositories are found, with what estimate, in what order."""

import hashlib
from datetime import UTC, datetime

import pytest

from desktop.builds.grouping import group
from desktop.builds.listings import Listings
from desktop.errors import GramError
from desktop.records.fits import Fit, FitsRequest
from desktop.records.remote import RemoteFile, RepositoryFacts
from desktop.services import offers as service
from desktop.services.build_search import BuildSearch, repository_of
from desktop.services.profiles import models
from desktop.services.search_words import Words
from tests.unit.hub_routes import Canned, Repo, hub_server
from tests.unit.test_fits import SMALL, ground_with, here

NOW = datetime(2026, 12, 1, tzinfo=UTC)
MODEL = next(m for m in models() if m.id == SMALL)
SHORT = "tinyllama-1.1b-chat-v1.0"
FILES = {"x-Q4_K_M.gguf": 808_000_000, "x-Q8_0.gguf": 1_320_000_000}
"""About as large as those of `MODEL`."""


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """Nothing is shipped, and the person's home is empty."""
    monkeypatch.setattr(service, "shipped_builds", lambda _: ())
    (tmp_path / "person").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)


@pytest.fixture
def hub():
    """With one repository, of no model of the catalogue."""
    with hub_server(me__Llama_hand_made_GGUF=Repo()) as made:
        made.repos = {"me/Llama-3.2-1B-hand-made-GGUF": Repo()}
        yield made


def keep(home, repository, files=FILES, *, added=False, base=(), gated=False, sums=None):
    owner, _, repo = repository.partition("/")
    facts = RepositoryFacts(owner, repo, "0" * 40, None, gated=gated, base_models=base)
    told = sums or {}
    listed = group(
        facts,
        [
            RemoteFile(path, size, told.get(path, f"{n:064x}"))
            for n, (path, size) in enumerate(files.items())
        ],
    )
    Listings(home.data).keep(listed, NOW, added=added)


def find(home, *words, hub=None, clipped=True, ground=None, **request):
    search = BuildSearch(
        home, {"HF_ENDPOINT": hub.url if hub else ""}, lambda: ground or ground_with(here())
    )
    return search.find(FitsRequest(words=words, **request), online=hub is not None, clipped=clipped)


def names(found):
    return [offer.build.name for offer in found.offers]


class TestWhetherTheHubAnswered:
    def test_a_hub_that_knows_none_of_the_catalogues_did(self, home, hub):
        found = find(home, SMALL, hub=hub)
        assert found.online
        assert found.told == ()
        assert found.offers

    def test_so_its_own_hits_are_shown(self, home, hub):
        found = find(home, "llama-3.2-1b", hub=hub)
        assert found.found == ("me/Llama-3.2-1B-hand-made-GGUF",)

    def test_one_that_is_silent_did_not_and_is_asked_nothing_more(self, home, hub):
        for repository in MODEL.repositories:
            hub.canned[f"/api/models/{repository}"] = [Canned(503)]
        found = find(home, SMALL, hub=hub)
        assert not found.online
        assert [reason.code for reason in found.told] == ["hub_unreachable"]
        assert not any("search=" in path for path, _ in hub.asked)

    def test_nor_did_a_page_in_its_place(self, home, hub):
        page = Canned(200, b"<html>", {"Content-Type": "text/html"})
        for path in ("/api/models", *(f"/api/models/{name}" for name in MODEL.repositories)):
            hub.canned[path] = [page]
        found = find(home, SMALL, hub=hub)
        assert not found.online
        assert {reason.code for reason in found.told} == {"hub_page"}

    def test_of_repositories_asked(self, home, hub):
        asked = service.ask(home, {"HF_ENDPOINT": hub.url}, ("o/gone",))
        assert (asked.listed, asked.answered, asked.trouble) == (0, True, ())
        hub.canned["/api/models/o/gone"] = [Canned(503)]
        asked = service.ask(home, {"HF_ENDPOINT": hub.url}, ("o/gone",))
        assert not asked.answered
        assert asked.trouble == asked.told != ()


class TestRepositoriesByTheirNames:
    def test_one_that_was_added_is_found_by_a_part_of_its_name(self, home):
        keep(home, "someone/Own-Thing-GGUF", added=True)
        assert names(find(home, "own-thing")) == [
            "hf.co/someone/Own-Thing-GGUF:Q4_K_M", "hf.co/someone/Own-Thing-GGUF:Q8_0",
        ]  # fmt: skip
        assert names(find(home, "own", "thing", "q8_0")) == ["hf.co/someone/Own-Thing-GGUF:Q8_0"]

    def test_or_of_its_files(self, home):
        keep(home, "someone/odd", {"Peculiar-Q4_K_M.gguf": 1}, added=True)
        assert names(find(home, "peculiar")) == ["hf.co/someone/odd:Q4_K_M"]

    def test_of_one_that_was_only_asked_the_usual_build_alone(self, home):
        keep(home, "someone/Own-Thing-GGUF")
        assert names(find(home, "own-thing")) == ["hf.co/someone/Own-Thing-GGUF:Q4_K_M"]
        assert len(names(find(home, "own-thing", all_builds=True))) == 2

    def test_of_a_model_of_the_catalogue_with_its_estimate(self, home):
        keep(home, "someone/Own-Thing-GGUF", base=MODEL.aliases, added=True)
        found = find(home, "own-thing")
        assert [offer.fit.quant.label for offer in found.offers] == ["Q4_K_M", "Q8_0"]

    def test_what_the_catalogue_lacks_stands_behind(self, home):
        keep(home, "a/llama-3.2-1b-odd-GGUF", added=True)
        keep(home, "b/mine", base=MODEL.aliases, added=True)
        found = find(home, "llama-3.2-1b")
        assert names(found)[-2:] == [
            "hf.co/a/llama-3.2-1b-odd-GGUF:Q4_K_M", "hf.co/a/llama-3.2-1b-odd-GGUF:Q8_0",
        ]  # fmt: skip
        assert "hf.co/b/mine:Q8_0" in names(found)
        known = [offer.fit is not None for offer in found.offers]
        assert known == sorted(known, reverse=True)

    def test_words_that_nobody_knows_are_an_error_all_the_same(self, home):
        keep(home, "someone/Own-Thing-GGUF", added=True)
        with pytest.raises(GramError) as caught:
            find(home, "other-thing")
        assert caught.value.code in {"model_unknown", "word_near"}

    def test_the_hub_finds_besides_none_of_a_model_that_is_shown(self, home, hub):
        hub.repos |= {repository: Repo() for repository in MODEL.repositories}
        found = find(home, "llama-3.2-1b", hub=hub)
        assert found.found == ("me/Llama-3.2-1B-hand-made-GGUF",)


class TestWords:
    @pytest.mark.parametrize(
        ("written", "names"),
        [
            ("llama3.2:1b", ("llama-3.2", "1b")),
            ("smollm2", ("smollm2",)),
            ("SmolLM2-360M-Instruct", ("smollm2-360m-instruct",)),
            ("none3.2", ("none3.2",)),
        ],
    )
    def test_as_the_catalogue_writes_them(self, written, names):
        assert Words.of((written,)).names == names

    def test_ollamas_name_of_a_model_finds_it(self, home):
        assert {o.fit.model.id for o in find(home, "llama3.2:1b").offers} == {SMALL}


class TestWithoutWords:
    def test_what_fits_best_here(self, home, hub):
        found = find(home, hub=hub)
        assert len(found.offers) > 20
        assert all(offer.fit.runs for offer in found.offers)
        assert len({offer.fit.model.id for offer in found.offers}) == len(found.offers)
        assert not any("search=" in path for path, _ in hub.asked)


class TestContext:
    def test_no_more_than_a_model_was_trained_for(self, home):
        [offer] = find(home, SHORT).offers
        assert offer.fit.runs
        assert offer.fit.estimate.use.context == 2048
        assert offer.fit.estimate.use.depth == 1024
        assert all(o.fit.runs for o in find(home, SHORT, all_builds=True).offers)

    def test_but_as_much_as_was_asked_for(self, home):
        [offer] = find(home, SHORT, clipped=False).offers
        assert offer.fit.fit is Fit.RULED_OUT
        assert offer.fit.estimate.reasons[0].code == "estimate_beyond_context"

    def test_in_a_repository_too(self, home):
        [repository] = {m.repositories[0] for m in models() if m.id == SHORT}
        keep(home, repository, {"x-Q4_K_M.gguf": 669_000_000})
        [offer] = find(home, repository).offers
        assert (offer.fit.fit, offer.fit.estimate.use.context) == (Fit.IN_MEMORY, 2048)
        assert find(home, repository, clipped=False).offers[0].fit.fit is Fit.RULED_OUT


class TestOrder:
    def test_with_all_quantizations_the_best_quality_first_of_what_runs_well(self, home):
        least = 15.0
        rows = [o.fit for o in find(home, SMALL, all_builds=True, at_least_tok_s=least).offers]
        well = [row for row in rows if row.estimate.decode.low_tok_s >= least]
        ranks = list(dict.fromkeys(row.quant.rank for row in well))
        assert rows[: len(well)] == well
        assert len(ranks) > 2
        assert ranks == sorted(ranks, reverse=True)
        assert len(well) < len(rows)

    def test_model_by_model(self, home):
        found = find(home, "llama", all_builds=True)
        order = [offer.fit.model.id for offer in found.offers]
        assert len(dict.fromkeys(order)) > 1
        assert order == sorted(order, key=list(dict.fromkeys(order)).index)


class TestHeaders:
    @pytest.fixture
    def own(self, home, reference_file):
        """A build of a model that the catalogue lacks, in Gram's own folder."""
        sha256 = hashlib.sha256(reference_file.read_bytes()).hexdigest()
        folder = home.builds / sha256
        folder.mkdir(parents=True)
        (folder / "odd-Q4_1.gguf").write_bytes(reference_file.read_bytes())
        size = reference_file.stat().st_size
        files = {"odd-Q4_1.gguf": size, "odd-Q8_0.gguf": 144_000_000, "odd-own.gguf": size + 9}
        keep(home, "o/odd", files, sums={"odd-Q4_1.gguf": sha256})
        return size

    def test_a_build_that_is_here_is_judged_by_its_own_file(self, home, own):
        exact, unknown, other = find(home, "o/odd").offers
        assert exact.held is not None
        assert exact.fit.size_bytes < own < exact.fit.size_bytes * 1.1
        # and others of its repository by the same
        assert other.fit.quant.label == "Q8_0"
        assert unknown.fit is None

    def test_so_are_others_of_its_repository_that_words_mean(self, home, own):
        [offer] = find(home, "odd", "q8_0").offers
        assert (offer.held, offer.fit.quant.label) == (None, "Q8_0")

    def test_nobody_is_asked_for_its_header(self, home, own, hub):
        hub.repos["o/odd"] = Repo()
        hub.canned["/api/models/o/odd"] = [Canned(503)]
        assert find(home, "o/odd", hub=hub).offers[0].fit is not None
        assert not any("/resolve/" in path for path, _ in hub.asked)

    def test_offline_it_is_not_known_otherwise(self, home):
        keep(home, "o/odd")
        assert [offer.fit for offer in find(home, "o/odd").offers] == [None, None]

    def test_a_quantization_that_is_not_offered_here_has_its_reason(self, home):
        repository = MODEL.repositories[0]
        keep(home, repository, {**FILES, "x-BF16.gguf": 2_480_000_000})
        found = find(home, repository)
        assert [offer.fit is None for offer in found.offers] == [False, False, True]
        assert [reason.code for reason in found.told] == ["estimate_no_arithmetic"]

    def test_what_is_no_file_of_its_cards_model_is_judged_by_a_header(
        self, home, hub, reference_file
    ):
        content = reference_file.read_bytes()
        hub.repos["o/mixed"] = Repo(
            {"small-Q4_1.gguf": content, "small-Q8_0.gguf": content + bytes(8)},
            {"cardData": {"base_model": list(MODEL.aliases)}},
        )
        found = find(home, "o/mixed", hub=hub)
        assert [offer.build.model for offer in found.offers] == [None, None]
        assert found.offers[0].fit.size_bytes < len(content) < found.offers[0].fit.size_bytes * 1.1

    def test_beside_it_the_catalogue_counts_for_what_may_be_one(self, home):
        keep(home, "o/mixed", {"a-Q4_0.gguf": 1000, **FILES}, base=MODEL.aliases)
        found = find(home, "o/mixed")
        assert [offer.build.model for offer in found.offers] == [None, SMALL, SMALL]
        assert [offer.fit is not None for offer in found.offers] == [False, True, True]


def test_an_address_of_the_mirror_names_its_repository():
    mirror = {"HF_ENDPOINT": "https://mirror.example"}
    address = "https://mirror.example/o/r"
    assert str(repository_of((address,), mirror)) == "hf.co/o/r"
    assert repository_of((address,), {}) is None
    assert repository_of(("o/r", "Q4_0"), mirror) is None
