"""The window's questions and orders about builds, from threads of their own."""

import hashlib
import queue
import threading

import pytest

from desktop.builds.library import Library
from desktop.errors import Reason
from desktop.records.build_events import (
    BuildCallFailed,
    BuildChecked,
    BuildRemoved,
    FetchEnded,
    HubKnown,
    OffersKnown,
    ShelfKnown,
    TokenFailed,
    TokenKept,
    TokenKnown,
    UseKnown,
)
from desktop.records.fits import FitsRequest
from desktop.records.hub_token import TokenSource, TokenState
from desktop.records.offers import FetchRequest, FetchState, FetchStep, Place
from desktop.services import hub_access, offers
from desktop.services.build_calls import BuildCalls
from desktop.services.estimates import fits_of
from tests.unit.gguf_files import gguf_bytes
from tests.unit.hub_routes import Canned, Repo, hub_server
from tests.unit.test_fits import SMALL, ground_with, here
from tests.unit.test_offers import REPOSITORY

WAIT_S = 20
NAME = f"hf.co/{REPOSITORY}:Q4_K_M"


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    monkeypatch.setattr(offers, "shipped_builds", lambda _: ())
    (tmp_path / "person").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def hub(reference_file):
    repo = Repo({"m-Q4_K_M.gguf": reference_file.read_bytes()})
    with hub_server(**{REPOSITORY.replace("/", "__"): repo}) as made:
        yield made


@pytest.fixture
def events():
    return queue.SimpleQueue()


@pytest.fixture
def calls(home, hub, events):
    made = BuildCalls(home, {"HF_ENDPOINT": hub.url}, lambda: ground_with(here()), events.put)
    yield made
    made.end()


@pytest.fixture
def until(events):
    def wait(kind, wanted=lambda _: True):
        while True:
            event = events.get(timeout=WAIT_S)
            if isinstance(event, kind) and wanted(event):
                return event

    return wait


def fits():
    return fits_of(ground_with(here()), FitsRequest(words=(SMALL, "Q4_K_M"), every_model=True))


def kept(home, tmp_path):
    content = gguf_bytes(tmp_path, 1)
    sha256 = hashlib.sha256(content).hexdigest()
    (target,) = Library(home).expect("hf.co/o/r:Q4_0", {"m-Q4_0.gguf": sha256}, None)
    target.parent.mkdir(parents=True)
    target.write_bytes(content)
    return sha256


def test_what_can_be_had_is_told_first_as_known_then_as_the_hub_says(calls, until):
    calls.offers(fits(), ask=True)
    first = until(OffersKnown).offers
    assert not first.online
    assert first.offers[0].build.size_bytes is None
    second = until(OffersKnown, lambda e: e.offers.online).offers
    assert second.offers[0].build.size_bytes == 98_362_432


def test_a_silent_hub_is_told_beside_what_is_known(calls, until, hub):
    for repository in fits().rows[0].model.repositories:
        hub.canned[f"/api/models/{repository}"] = [Canned(503)]
    calls.offers(fits(), ask=True)
    found = until(OffersKnown, lambda e: e.offers.told).offers
    assert not found.online
    assert found.offers
    assert [reason.code for reason in found.told] == ["hub_unreachable"]


def test_fetched_then_the_shelf_and_the_offers_are_told_anew(calls, until):
    calls.offers(fits(), ask=False)
    calls.fetch(FetchRequest(NAME))
    assert until(FetchStep).state is FetchState.WAITING
    end = until(FetchEnded)
    assert end.held is not None
    assert until(ShelfKnown).shelf.held[0].name == NAME
    assert until(OffersKnown).offers.offers[0].place is Place.HERE
    calls.use(NAME, fits().rows[0])
    assert [way.program for way in until(UseKnown).use.ways] == [
        "llama-server", "Ollama", "LM Studio",
    ]  # fmt: skip


def test_while_something_is_measured_a_download_is_paused(calls, until):
    calls.hold(held=True)
    calls.fetch(FetchRequest(NAME, limit_bytes_s=1e9))
    until(FetchStep, lambda e: e.state is FetchState.ASKING)
    calls.hold(held=False)
    assert until(FetchEnded).held is not None


def test_stopped(calls, until):
    calls.fetch(FetchRequest(NAME, limit_bytes_s=1e6))
    until(FetchStep, lambda e: e.state is FetchState.FETCHING)
    calls.pause(NAME)
    until(FetchStep, lambda e: e.state is FetchState.PAUSED)
    calls.resume(NAME)
    until(FetchStep, lambda e: e.state is FetchState.FETCHING)
    calls.stop(NAME)
    assert until(FetchEnded).stopped


def test_added_and_searched(calls, until, hub, tmp_path):
    hub.repos["o/odd"] = Repo({"odd-Q4_0.gguf": gguf_bytes(tmp_path, 1)})
    calls.offers(fits(), ask=False)
    until(OffersKnown)
    calls.add("o/odd")
    added = until(OffersKnown, lambda e: e.offers.online).offers
    assert added.offers[-1].build.name == "hf.co/o/odd:Q4_0"
    calls.search("odd")
    assert until(OffersKnown, lambda e: e.offers.found).offers.found == ("o/odd",)
    calls.add("o/gone")
    failed = until(BuildCallFailed)
    assert (failed.name, failed.reason.code) == ("o/gone", "hub_unknown")


def test_pinned_checked_and_removed(calls, until, home, tmp_path):
    sha256 = kept(home, tmp_path)
    calls.pin(sha256, pinned=True)
    assert until(ShelfKnown).shelf.held[0].pinned
    calls.verify(sha256)
    assert until(FetchStep).state is FetchState.CHECKING
    assert until(BuildChecked).checked.told is None
    calls.delete(sha256)
    assert until(BuildRemoved).freed_bytes > 0
    assert until(ShelfKnown).shelf.held == ()
    calls.delete(sha256)
    assert until(BuildCallFailed).reason.code == "library_unknown"


@pytest.fixture
def busy_disk(monkeypatch):
    """What is asked of the disk waits until it is set."""
    from desktop.services import build_use

    free = threading.Event()
    monkeypatch.setattr(build_use, "use_of_build", lambda *_, **__: free.wait(WAIT_S) and 1 / 0)
    yield free
    free.set()


def test_a_check_that_waits_is_stopped_at_once(calls, until, home, tmp_path, busy_disk):
    sha256 = kept(home, tmp_path)
    calls.shelf()
    name = until(ShelfKnown).shelf.held[0].name
    calls.use(NAME, None)
    calls.verify(sha256)
    calls.stop(name)
    assert until(FetchEnded) == FetchEnded(name, None, stopped=True)
    busy_disk.set()
    calls.shelf()
    assert isinstance(until((FetchStep, FetchEnded, BuildChecked, ShelfKnown)), ShelfKnown)
    # asked for anew it is done
    calls.verify(sha256)
    assert until(BuildChecked).checked.told is None


def test_so_is_one_whose_name_is_not_known_yet(calls, until, home, tmp_path, busy_disk):
    sha256 = kept(home, tmp_path)
    calls.use(NAME, None)
    calls.verify(sha256)
    calls.stop("hf.co/o/r:Q4_0")
    busy_disk.set()
    end = until((FetchStep, FetchEnded, BuildChecked))
    assert end == FetchEnded("hf.co/o/r:Q4_0", None, stopped=True)


def test_a_hub_that_knows_none_was_asked(calls, until, hub):
    hub.repos.clear()
    calls.offers(fits(), ask=True)
    found = until(OffersKnown, lambda e: e.offers.online).offers
    assert found.told == ()


def test_what_nobody_expected_is_told(calls, until, monkeypatch):
    from desktop.services import shelf

    monkeypatch.setattr(shelf, "shelf_of", lambda _: 1 / 0)
    calls.shelf()
    assert until(BuildCallFailed).reason.code == "unexpected"


def test_which_hub_is_asked_is_told_without_asking_it(calls, until, hub):
    calls.hub()
    told = until(HubKnown)
    assert (told.address, told.host) == (hub.url, "127.0.0.1")
    assert hub.asked == []


def test_an_address_that_cannot_be_used_is_told_when_something_is_asked(home, events):
    bad = BuildCalls(home, {"HF_ENDPOINT": "http://a.example"}, lambda: None, events.put)
    bad.hub()
    bad.token()
    # the only event: of the hub none came
    assert events.get(timeout=WAIT_S) == TokenFailed(Reason("hub_address"))
    bad.end()
    assert events.empty()


def test_whether_a_token_is_sent(home, hub, until, events):
    told = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_geheim"}
    with_token = BuildCalls(home, told, lambda: None, events.put)
    with_token.token()
    assert until(TokenKnown).state.source is TokenSource.ENVIRONMENT
    with_token.end()


def test_a_token_is_kept(calls, until, monkeypatch):
    kept_tokens = []

    def keep(environment, token):
        kept_tokens.append(token)
        return TokenState("127.0.0.1", TokenSource.KEYCHAIN)

    monkeypatch.setattr(hub_access, "keep_token", keep)
    calls.keep_token("hf_geheim")
    assert until(TokenKept).state.source is TokenSource.KEYCHAIN
    assert kept_tokens == ["hf_geheim"]


def test_what_is_no_token_is_told_without_it(calls, until):
    calls.keep_token("kein token")
    failed = until(TokenFailed)
    assert failed.reason.code == "hub_token"
    assert "kein" not in str(failed)
