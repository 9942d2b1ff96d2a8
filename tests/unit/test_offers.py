"""Builds that can be had: what is shipped, what repositories listed, and what the hub says now."""

import hashlib
import signal
import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from desktop.builds.grouping import group
from desktop.builds.listings import Listings
from desktop.builds.quant_labels import label_of
from desktop.errors import GramError
from desktop.estimate.sizes import totals
from desktop.records.fits import FitsRequest
from desktop.records.library import Kept
from desktop.records.offers import GRAM, HeldBuild, OfferedBuild, Place, Shelf
from desktop.records.remote import RemoteFile, RepositoryFacts
from desktop.services import offers as service
from desktop.services.asked import quant_of
from desktop.services.build_search import BuildSearch
from desktop.services.estimates import fits_of
from desktop.services.judging import row_of_offer
from desktop.services.profiles import models
from tests.unit.gguf_files import gguf_bytes
from tests.unit.hub_routes import Canned, Repo, hub_server
from tests.unit.test_fits import SMALL, ground_with, here

NOW = datetime(2026, 12, 1, tzinfo=UTC)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
MODEL = next(m for m in models() if m.id == SMALL)
REPOSITORY = MODEL.repositories[0]
ODD = "/api/models/o/odd"
WAIT_S = 20
OWNER, _, REPO = REPOSITORY.partition("/")


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """Nothing is shipped, and the person's home is empty."""
    monkeypatch.setattr(service, "shipped_builds", lambda _: ())
    (tmp_path / "person").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)


def counted(label):
    """Bytes of the model's tensors in that quantization."""
    return totals(MODEL, quant_of(label))[0]


def listing(owner=OWNER, repo=REPO, *paths, base=(), size=None):
    """Files as large as the model in their quantization is, or of `size` bytes."""
    facts = RepositoryFacts(owner, repo, COMMIT, "apache-2.0", gated=False, base_models=base)
    paths = paths or ("x-Q4_K_M.gguf", "x-Q8_0.gguf")
    sizes = [size or counted(label_of(p)) for p in paths]
    return group(facts, [RemoteFile(p, sizes[n], f"{n:064x}") for n, p in enumerate(paths)])


def ground():
    return ground_with(here())


def fits(*words, **changes):
    request = FitsRequest(words=words or (SMALL,), every_model=True, **changes)
    return fits_of(ground(), request)


def offers(home, found=None, shelf=None, **how):
    catalogue = service.Catalogue(home)
    return service.offers_of(catalogue, found or fits(), shelf or Shelf(), **how).offers


def held(name, sha256=None, keepers=(GRAM,), **changes):
    made = HeldBuild(name, sha256, (), counted("Q4_K_M"), keepers)
    return replace(made, **changes)


class TestKnown:
    def test_a_repository_that_was_never_asked_is_offered_by_its_name(self, home):
        [offer] = offers(home, fits(SMALL, "Q4_K_M"))
        assert offer.build.name == f"hf.co/{REPOSITORY}:Q4_K_M"
        assert (offer.build.size_bytes, offer.build.sha256, offer.build.files) == (None, None, ())
        assert (offer.build.listed_at, offer.build.gated) == (None, None)
        assert offer.build.license == MODEL.license
        assert offer.build.context_trained == MODEL.context_trained
        assert offer.fit.model is MODEL
        assert offer.place is Place.NOT_HERE

    def test_what_it_listed_is_exact(self, home):
        Listings(home.data).keep(listing(), NOW)
        [offer] = offers(home, fits(SMALL, "Q4_K_M"))
        assert offer.build.size_bytes == counted("Q4_K_M")
        assert offer.build.sha256 == f"{0:064x}"
        assert offer.build.listed_at == "2026-12-01T00:00:00Z"
        assert offer.build.license == "apache-2.0"
        assert offer.build.gated is False

    def test_what_it_did_not_list_it_does_not_have(self, home):
        for repository in MODEL.repositories:
            owner, _, repo = repository.partition("/")
            Listings(home.data).keep(listing(owner, repo, "x-Q8_0.gguf"), NOW)
        assert offers(home, fits(SMALL, "Q4_K_M")) == ()
        assert len(offers(home, fits(SMALL, "Q8_0"))) == 1

    def test_a_repository_of_another_name_is_known_by_what_it_was_made_from(self, home):
        base = next(alias for alias in MODEL.aliases if "/" in alias)
        Listings(home.data).keep(listing("me", "mine", base=(base,)), NOW, added=True)
        every = offers(home, fits(SMALL, "Q4_K_M"), every=True)
        assert "hf.co/me/mine:Q4_K_M" in [offer.build.name for offer in every]
        # the usual publisher first
        assert every[0].build.repository == REPOSITORY

    def test_of_no_model_of_the_catalogue_there_is_no_estimate(self, home):
        Listings(home.data).keep(listing("me", "odd"), NOW, added=True)
        last = offers(home)[-1]
        assert (last.build.name, last.build.model, last.fit) == ("hf.co/me/odd:Q8_0", None, None)
        assert last.build.added

    def test_a_file_that_is_much_larger_than_its_card_says_is_not_estimated_by_it(self, home):
        base = next(alias for alias in MODEL.aliases if "/" in alias)
        Listings(home.data).keep(
            listing("me", "mine", "x-70B-Q4_K_M.gguf", base=(base,), size=42 * 10**9), NOW
        )
        every = offers(home, fits(SMALL, "Q4_K_M"), every=True)
        [large] = [offer for offer in every if offer.build.repository == "me/mine"]
        assert (large.build.model, large.fit) == (None, None)
        assert row_of_offer(ground(), large.build, FitsRequest()) is None

    def test_a_repository_that_has_none_any_more_is_not_offered(self, home):
        for repository in MODEL.repositories:
            facts = RepositoryFacts(*repository.split("/"), COMMIT, None, gated=False)
            Listings(home.data).keep(group(facts, ()), NOW)
        assert offers(home, fits(SMALL, "Q4_K_M")) == ()

    def test_a_repository_with_a_new_name_is_of_the_same_model(self, home):
        told = replace(listing("new", "name"), asked_as=REPOSITORY)
        Listings(home.data).keep(told, NOW)
        every = offers(home, fits(SMALL, "Q4_K_M"), every=True)
        assert "hf.co/new/name:Q4_K_M" in [offer.build.name for offer in every]
        assert REPOSITORY not in [offer.build.repository for offer in every]

    def test_what_was_added_is_shown_in_every_quantization(self, home):
        base = next(alias for alias in MODEL.aliases if "/" in alias)
        paths = ("x-Q4_K_M.gguf", "x-Q5_0.gguf")
        Listings(home.data).keep(listing("me", "mine", *paths, base=(base,)), NOW, added=True)
        asked = []

        def estimate(build):
            asked.append(build.name)
            return row_of_offer(ground(), build, FitsRequest())

        found = offers(home, fits(SMALL, "Q8_0"), estimate=estimate)
        assert [o.build.name for o in found] == [
            f"hf.co/{REPOSITORY}:Q8_0", "hf.co/me/mine:Q4_K_M", "hf.co/me/mine:Q5_0",
        ]  # fmt: skip
        assert asked == ["hf.co/me/mine:Q4_K_M", "hf.co/me/mine:Q5_0"]
        assert [o.fit.quant.label for o in found[1:]] == ["Q4_K_M", "Q5_0"]

    def test_what_is_shipped_counts_until_its_repository_was_asked(self, home, monkeypatch):
        made = OfferedBuild(f"hf.co/{REPOSITORY}:Q4_K_M", REPOSITORY, "Q4_K_M", SMALL, 7, "a" * 64)
        monkeypatch.setattr(service, "shipped_builds", lambda _: (made,))
        [offer] = offers(home, fits(SMALL, "Q4_K_M"))
        assert offer.build == made
        Listings(home.data).keep(listing(), NOW)
        [offer] = offers(home, fits(SMALL, "Q4_K_M"))
        assert offer.build.size_bytes == counted("Q4_K_M")

    def test_in_the_order_of_what_fits(self, home):
        found = fits("smollm2")
        assert [o.fit.model.id for o in offers(home, found)] == [
            row.model.id for row in found.rows if row.model.repositories
        ]


class TestHere:
    def test_by_its_sum(self, home):
        Listings(home.data).keep(listing(), NOW)
        shelf = Shelf((held("other name", f"{0:064x}"),))
        [offer] = offers(home, fits(SMALL, "Q4_K_M"), shelf)
        assert offer.place is Place.HERE

    def test_by_its_name_where_no_sum_is_known(self, home):
        shelf = Shelf((held(f"{REPOSITORY}:q4_k_m".lower(), None, ("Ollama",)),))
        [offer] = offers(home, fits(SMALL, "Q4_K_M"), shelf)
        assert offer.place is Place.ELSEWHERE

    def test_a_name_of_other_bytes_is_another_build(self, home):
        Listings(home.data).keep(listing(), NOW)
        shelf = Shelf((held(f"hf.co/{REPOSITORY}:Q4_K_M", "f" * 64),))
        [offer] = offers(home, fits(SMALL, "Q4_K_M"), shelf)
        assert offer.place is Place.NOT_HERE

    def test_a_name_of_another_size_is_another_build(self, home):
        Listings(home.data).keep(listing(), NOW)
        name = f"hf.co/{REPOSITORY}:Q4_K_M"
        other = held(name, None, ("Ollama",), size_bytes=7)
        [offer] = offers(home, fits(SMALL, "Q4_K_M"), Shelf((other,)))
        assert offer.place is Place.NOT_HERE
        # of several of one name the one that it may be
        same = held(name, None, ("LM Studio",))
        [offer] = offers(home, fits(SMALL, "Q4_K_M"), Shelf((other, same, other)))
        assert offer.held is same
        part = held(name, None, size_bytes=7, kept=Kept.PART)
        [offer] = offers(home, fits(SMALL, "Q4_K_M"), Shelf((part,)))
        assert offer.place is Place.PARTLY

    def test_a_set_of_another_size_is_another_build(self, home):
        parts = [f"x-Q4_K_M-{n:05}-of-00002.gguf" for n in (1, 2)]
        Listings(home.data).keep(listing(OWNER, REPO, *parts, size=counted("Q4_K_M") // 2), NOW)
        [offer] = offers(home, fits(SMALL, "Q4_K_M"), Shelf((held("x", f"{0:064x}"),)))
        assert offer.held is not None
        other = held("x", f"{0:064x}", size_bytes=counted("Q4_K_M") + 32)
        [offer] = offers(home, fits(SMALL, "Q4_K_M"), Shelf((other,)))
        assert offer.held is None

    def test_an_unfinished_one(self, home):
        Listings(home.data).keep(listing(), NOW)
        shelf = Shelf((held("x", f"{0:064x}", kept=Kept.PART),))
        [offer] = offers(home, fits(SMALL, "Q4_K_M"), shelf)
        assert offer.place is Place.PARTLY


def entry(path, size):
    """As the hub lists a file."""
    oid = hashlib.sha256(path.encode()).hexdigest()
    return {"type": "file", "path": path, "size": size, "lfs": {"oid": oid, "size": size}}


@pytest.fixture
def hub(tmp_path):
    content = gguf_bytes(tmp_path, 1)
    entries = [entry(f"x-{label}.gguf", counted(label)) for label in ("Q4_K_M", "Q8_0")]
    repo = Repo(entries=entries)
    with hub_server(**{f"{OWNER}__{REPO}": repo}, o__odd=Repo({"odd-Q4_0.gguf": content})) as made:
        yield made


def ask(home, hub, *repositories):
    return service.ask(home, {"HF_ENDPOINT": hub.url}, repositories)


class TestAsked:
    def test_what_they_say_is_remembered(self, home, hub):
        asked = ask(home, hub, REPOSITORY)
        assert (asked.listed, asked.told) == (1, ())
        [offer] = offers(home, fits(SMALL, "Q4_K_M"))
        assert offer.build.sha256 == hashlib.sha256(b"x-Q4_K_M.gguf").hexdigest()
        assert offer.build.size_bytes == counted("Q4_K_M")

    def test_one_that_is_gone_does_not_keep_the_others(self, home, hub):
        asked = ask(home, hub, "o/gone", REPOSITORY)
        assert asked.listed == 1
        assert [reason.code for reason in asked.told] == ["hub_unknown"]

    def test_a_hub_that_cannot_be_reached_is_told_once(self, home, hub):
        for repository in (REPOSITORY, "o/odd"):
            hub.canned[f"/api/models/{repository}"] = [Canned(503)]
        asked = ask(home, hub, REPOSITORY, "o/odd")
        assert asked.listed == 0
        assert [reason.code for reason in asked.told] == ["hub_unreachable"]

    def test_one_without_builds_and_one_with_too_many_files_say_so(self, home, hub):
        hub.repos["o/none"] = Repo()
        hub.repos["o/many"] = Repo(entries=[entry(f"{n}-Q4_0.gguf", 9) for n in range(2001)])
        asked = ask(home, hub, "o/none", "o/many")
        assert asked.listed == 0
        assert asked.answered
        assert {reason.code for reason in asked.told} == {"hub_no_builds", "listing_large"}
        assert asked.trouble == ()

    def test_a_stop_ends_it_while_the_hub_is_silent(self, home, monkeypatch):
        silent, answered = threading.Event(), []

        def listed(hub, repository):
            if repository == "o/a":
                signal.raise_signal(signal.SIGINT)
            silent.wait(WAIT_S)
            answered.append(repository)

        monkeypatch.setattr(service, "_listed", listed)
        with pytest.raises(KeyboardInterrupt):
            service.ask(home, {}, ["o/a", "o/b"])
        assert answered == []
        silent.set()


class TestAdd:
    def test_a_repository(self, home, hub):
        kept = service.add(home, {"HF_ENDPOINT": hub.url}, "https://huggingface.co/o/odd")
        assert kept.added
        assert [b.name for b in kept.listing.builds] == ["hf.co/o/odd:Q4_0"]
        assert [b.build.name for b in offers(home)][-1] == "hf.co/o/odd:Q4_0"
        assert service.forget_added(home, "o/odd")
        assert not service.forget_added(home, "o/odd")

    def test_one_without_builds(self, home, hub):
        hub.repos["o/none"] = Repo()
        with pytest.raises(GramError) as caught:
            service.add(home, {"HF_ENDPOINT": hub.url}, "o/none")
        assert caught.value.code == "hub_no_builds"
        assert Listings(home.data).read()[0] == {}

    def test_one_with_too_many_files(self, home, hub):
        hub.repos["o/many"] = Repo(entries=[entry(f"{n}-Q4_0.gguf", 9) for n in range(2001)])
        with pytest.raises(GramError) as caught:
            service.add(home, {"HF_ENDPOINT": hub.url}, "o/many")
        assert caught.value.code == "listing_large"
        assert Listings(home.data).read()[0] == {}

    def test_whatever_its_address_names_it_is_the_repository(self, home, hub):
        address = f"https://huggingface.co/o/odd/tree/{'a' * 40}"
        assert service.add(home, {"HF_ENDPOINT": hub.url}, address).added

    def test_an_address_of_the_mirror_is_a_repository_s(self, home, hub):
        address = f"{hub.url}/o/odd/blob/main/x-Q4_0.gguf"
        assert service.add(home, {"HF_ENDPOINT": hub.url}, address).added

    def test_a_file_that_reads_as_a_name_is_ones_own(self, home, hub, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        file = tmp_path / "models" / "sub" / "own.gguf"
        file.parent.mkdir(parents=True)
        file.write_bytes(gguf_bytes(tmp_path, 1))
        told = "models/sub/own.gguf"
        assert service.add(home, {"HF_ENDPOINT": hub.url}, told).builds == 1
        assert hub.asked == []
        assert service.forget_added(home, told)
        assert not service.forget_added(home, told)

    def test_under_another_name_it_is_called_by_its_own(self, home, hub):
        hub.canned["/api/models/old/name"] = [Canned(307, headers={"Location": ODD})]
        kept = service.add(home, {"HF_ENDPOINT": hub.url}, "old/name")
        assert kept.listing.repository.name == "o/odd"
        assert service.forget_added(home, "old/name")

    def test_a_file_of_ones_own(self, home, hub, tmp_path):
        file = tmp_path / "own.gguf"
        file.write_bytes(gguf_bytes(tmp_path, 1))
        assert service.add(home, {"HF_ENDPOINT": hub.url}, str(file)).builds == 1
        assert hub.asked == []
        assert str(file) in home.settings.read_text()


def search(home, hub, *words, online=True, **request):
    made = BuildSearch(home, {"HF_ENDPOINT": hub.url}, ground)
    return made.find(FitsRequest(words=words, **request), online=online)


class TestSearch:
    def test_by_a_models_name(self, home, hub):
        found = search(home, hub, SMALL, "q4_k_m")
        assert found.online
        assert [o.build.name for o in found.offers] == [f"hf.co/{REPOSITORY}:Q4_K_M"]
        assert found.offers[0].build.size_bytes is not None
        # a repository that is shown is not found besides
        assert REPOSITORY not in found.found

    def test_nobody_is_asked_offline(self, home, hub):
        found = search(home, hub, SMALL, online=False)
        assert not found.online
        assert hub.asked == []
        assert found.offers

    def test_what_is_known_from_before_where_the_hub_is_silent(self, home, hub):
        hub.canned["/api/models"] = [Canned(503)]
        for repository in MODEL.repositories:
            hub.canned[f"/api/models/{repository}"] = [Canned(503)]
        found = search(home, hub, SMALL)
        assert not found.online
        assert [reason.code for reason in found.told] == ["hub_unreachable"]
        assert found.offers

    def test_a_word_that_no_model_has_is_looked_for_on_the_hub(self, home, hub):
        found = search(home, hub, "odd")
        assert (found.offers, found.found) == ((), ("o/odd",))
        with pytest.raises(GramError) as caught:
            search(home, hub, "oddity", online=False)
        assert caught.value.code in {"model_unknown", "word_near"}

    def test_a_repository_that_is_named_shows_its_builds(self, home, hub):
        found = search(home, hub, REPOSITORY)
        assert [o.build.quantization for o in found.offers] == ["Q4_K_M", "Q8_0"]
        assert all(o.fit.quant.label == o.build.quantization for o in found.offers)
        other = search(home, hub, "hf.co/o/odd")
        assert [(o.build.name, o.fit) for o in other.offers] == [("hf.co/o/odd:Q4_0", None)]
        # its header lacks what an estimate needs
        assert [reason.code for reason in other.told] == ["header_lacks"]
        # known from now on
        assert search(home, hub, "o/odd", online=False).offers == other.offers

    def test_a_model_that_the_catalogue_lacks_is_estimated_by_a_header(
        self, home, hub, reference_file
    ):
        content = reference_file.read_bytes()
        small = next(m for m in models() if m.id == "smollm2-135m-instruct")
        size = totals(small, quant_of("Q8_0"))[0]
        hub.repos["o/odd"] = Repo(
            {"odd-Q4_1.gguf": content, "odd-own.gguf": content + bytes(9)},
            entries=[entry("odd-Q8_0.gguf", size), entry("large/Q4_1.gguf", 42 * 10**9)],
        )
        found = search(home, hub, "o/odd")
        exact, unknown, other, large = found.offers
        assert exact.fit.model.id not in {m.id for m in models()}
        assert exact.fit.size_bytes < len(content) < exact.fit.size_bytes * 1.1
        assert other.fit.quant.label == "Q8_0"
        assert other.fit.estimate.decode.high_tok_s < exact.fit.estimate.decode.high_tok_s
        assert unknown.fit is None
        # of the same label, and another model's
        assert (large.build.quantization, large.fit) == ("Q4_1", None)
        assert found.told == ()
        # the others' headers were not read
        assert not any("Q8_0" in path for path, _ in hub.asked)

    def test_one_that_is_not_there(self, home, hub):
        with pytest.raises(GramError) as caught:
            search(home, hub, "o/gone")
        assert caught.value.code == "hub_unknown"
        with pytest.raises(GramError) as caught:
            search(home, hub, "o/gone", online=False)
        assert caught.value.code == "hub_not_asked"

    def test_one_that_has_another_name_shows_its_builds(self, home, hub):
        hub.canned["/api/models/old/name"] = [Canned(307, headers={"Location": ODD})]
        for online in (True, False):
            found = search(home, hub, "old/name", online=online)
            assert [o.build.name for o in found.offers] == ["hf.co/o/odd:Q4_0"]

    def test_one_without_builds_says_so(self, home, hub):
        hub.repos["o/none"] = Repo()
        for online in (True, False):
            with pytest.raises(GramError) as caught:
                search(home, hub, "o/none", online=online)
            assert caught.value.code == "hub_no_builds"

    def test_a_file_that_is_much_larger_than_its_card_says(self, home, hub, tmp_path):
        base = next(alias for alias in MODEL.aliases if "/" in alias)
        entries = [entry("x-Q4_K_M.gguf", counted("Q4_K_M")), entry("x-Q8_0.gguf", 42 * 10**9)]
        hub.repos["o/card"] = Repo(told={"cardData": {"base_model": base}}, entries=entries)
        real, large = search(home, hub, "o/card").offers
        assert real.fit.model is MODEL
        assert large.fit is None
