"""The API of Hugging Face: what it tells is read, all else is refused in words; tokens stay home."""

import json
import logging
import tracemalloc
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.builds import hub_answers
from desktop.builds.endpoints import endpoint_of
from desktop.builds.hub_answers import ask
from desktop.builds.hub_fields import read_facts, read_files
from desktop.builds.hub_session import HubSession
from desktop.builds.names import BuildName
from desktop.builds.repository import Hub
from desktop.errors import BuildError
from desktop.records.remote import RemoteBuild, RemoteFile
from tests.unit.hub_routes import COMMIT, Canned, Repo, hub_server

NAME = BuildName("o", "r")
INFO = "/api/models/o/r"
TREE = "/api/models/o/r/tree/main"
SUM = "b" * 64
TOKEN = "hf_secretsecret"
CARD = {
    "cardData": {"license": "apache-2.0", "base_model": ["a/b", "not one"]},
    "gguf": {"architecture": "llama", "context_length": 8192, "total": 5},
    "downloads": 7,
}


def entry(path="x.gguf", size=5, oid=SUM, **told):
    lfs = {"oid": oid, "size": size, "pointerSize": 1}
    return {"type": "file", "path": path, "size": size, "lfs": lfs, "oid": "a" * 40} | told


def error_of(server, work, token=None):
    with Hub(server.url, token) as hub, pytest.raises(BuildError) as caught:
        work(hub)
    assert caught.value.reason.advice()
    assert token is None or token not in str(caught.value)
    return caught.value


def facts_error(canned, token=None):
    with hub_server(o__r=Repo()) as server:
        server.canned[INFO] = [canned]
        return error_of(server, lambda hub: hub.facts(NAME), token)


def files_error(*entries):
    with hub_server(o__r=Repo(entries=list(entries))) as server:
        return error_of(server, lambda hub: hub.files(NAME))


def test_facts_of_a_repository():
    with hub_server(o__r=Repo(told=CARD)) as server, Hub(server.url + "/") as hub:
        found = hub.facts(NAME)
    assert (found.owner, found.repo, found.commit) == ("o", "r", COMMIT)
    assert (found.license, found.gated, found.base_models) == ("apache-2.0", False, ("a/b",))
    assert (found.architecture, found.context_trained, found.downloads) == ("llama", 8192, 7)


@pytest.mark.parametrize(
    ("told", "license_name"),
    [
        ({"cardData": {"license": "other", "license_name": "gemma"}}, "gemma"),
        ({"cardData": {"license": "other"}}, "other"),
        ({"cardData": {"license": ["mit", "apache-2.0"]}}, "mit, apache-2.0"),
        ({"tags": ["gguf", "license:mit"]}, "mit"),
        ({"cardData": {"license": 5}, "tags": [None]}, None),
        ({"cardData": {"license": "x" * 10_000}}, None),
        ({"cardData": []}, None),
    ],
)
def test_licences(told, license_name):
    with hub_server(o__r=Repo(told=told)) as server, Hub(server.url) as hub:
        assert hub.facts(NAME).license == license_name


@pytest.mark.parametrize("gated", ["auto", "manual"])
def test_gated_is_told(gated):
    with hub_server(o__r=Repo(told={"gated": gated})) as server, Hub(server.url) as hub:
        assert hub.facts(NAME).gated


def test_odd_fields_are_not_told():
    odd = {
        "sha": "../x",
        "gguf": {"architecture": "a b", "context_length": -1},
        "downloads": True,
        "cardData": {"base_model": {"a": "b"}},
    }
    with hub_server(o__r=Repo(told=odd)) as server, Hub(server.url) as hub:
        found = hub.facts(NAME)
    assert (found.commit, found.architecture, found.context_trained) == (None, None, None)
    assert (found.downloads, found.base_models) == (None, ())


KEYS = st.sampled_from(
    [
        "id",
        "sha",
        "gated",
        "tags",
        "cardData",
        "gguf",
        "license",
        "base_model",
        "downloads",
        "type",
        "path",
        "size",
        "lfs",
        "oid",
        "architecture",
        "context_length",
        "license_name",
    ]
)
VALUES = st.recursive(
    st.sampled_from(["o/r", "file", "x.gguf", "\ud800.gguf", "other", SUM, COMMIT, 5, -1, 0.5])
    | st.none()
    | st.booleans()
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@given(VALUES)
def test_any_answer_is_read_or_refused(value):
    for read in (read_facts, read_files):
        for told in (
            value,
            {"id": "o/r", "gated": value, "tags": value, "cardData": value},
            [value],
        ):
            try:
                found = read(told)
            except ValueError as e:
                found = str(e)
            assert found is not None


def test_a_renamed_repository_is_followed():
    with hub_server(n__w=Repo()) as server:
        server.canned[INFO] = [Canned(307, headers={"Location": "/api/models/n/w"})]
        with Hub(server.url, TOKEN) as hub:
            assert hub.facts(NAME).owner == "n"
    assert all(told["authorization"] == f"Bearer {TOKEN}" for _, told in server.asked)


def test_files_come_from_all_pages_of_the_one_host():
    files = {f"d/x-{n}.gguf": bytes([n]) for n in range(7)}
    with hub_server(o__r=Repo(files | {"README.md": b"#"})) as server:
        server.page = 3
        with Hub(server.url) as hub:
            found = hub.files(NAME)
    assert [file.path for file in found] == list(files)
    assert all(len(file.sha256) == 64 and file.size_bytes == 1 for file in found)
    assert [path.partition("?")[2] for path, _ in server.asked] == [
        "recursive=1",
        "recursive=1&cursor=3",
        "recursive=1&cursor=6",
    ]


def test_a_revision_is_asked_for():
    with hub_server(o__r=Repo({"x.gguf": b"x"})) as server, Hub(server.url) as hub:
        at = BuildName("o", "r", revision=COMMIT)
        assert hub.facts(at).commit == COMMIT
        assert len(hub.files(at)) == 1
        with pytest.raises(BuildError) as caught:
            hub.files(BuildName("o", "r", revision="refs/pr/1"))
    assert caught.value.code == "hub_revision"
    assert server.asked[-1][0].startswith("/api/models/o/r/tree/refs%2Fpr%2F1?")


@pytest.mark.parametrize(
    "path",
    [
        "../x.gguf",
        "a/../x.gguf",
        "/etc/x.gguf",
        "a//x.gguf",
        "a\0.gguf",
        "a\\..\\x.gguf",
        "C:x.gguf",
        "\u202efugg.gguf",
        "a\nb.gguf",
        "x" * 10_000 + ".gguf",
        "nul.gguf",
        ".hidden.gguf",
        "a /x.gguf",
    ],
)
def test_unsafe_paths_are_not_offered(path):
    with hub_server(o__r=Repo(entries=[entry(path), entry()])) as server, Hub(server.url) as hub:
        assert hub.files(NAME) == (RemoteFile("x.gguf", 5, SUM),)


@pytest.mark.parametrize(
    "wrong",
    [
        entry(size=-1),
        entry(size=1 << 60),
        entry(size=1.5),
        entry(size="5"),
        entry(size=True),
        entry(oid="b" * 63),
        entry(oid="z" * 64),
        entry(oid=None),
        entry(lfs={"oid": SUM, "size": 6}),
        entry(lfs="x"),
        entry(path=5),
        5,
        None,
        [],
    ],
)
def test_broken_entries_are_refused(wrong):
    assert files_error(wrong).code == "hub_answer"


def test_one_file_twice_is_refused():
    assert "twice" in str(files_error(entry(), entry()))


def test_a_file_without_checksum_is_listed_and_not_downloaded():
    repo = Repo(entries=[entry(lfs=None)], told={"sha": None})
    with hub_server(o__r=repo) as server, Hub(server.url) as hub:
        files = hub.files(NAME)
        assert files == (RemoteFile("x.gguf", 5, None),)
        with pytest.raises(BuildError) as caught:
            hub.wanted(RemoteBuild("x", hub.facts(NAME), None, files))
    assert caught.value.code == "hub_no_sum"


def test_search_skips_what_is_no_repository():
    repos = {"o__r": Repo(told=CARD), "o__other": Repo(), "o__r2": Repo(told={"id": "../x"})}
    with hub_server(**repos) as server, Hub(server.url) as hub:
        found = hub.search("R", 1000)
    assert [(f.repo, f.downloads) for f in found] == [("r", 7), ("other", None)]
    query = server.asked[0][0]
    assert "filter=gguf" in query
    assert "limit=100" in query
    assert "expand=gated&" in query


@pytest.mark.parametrize(
    ("canned", "code"),
    [
        (Canned(401), "hub_unknown"),
        (Canned(404), "hub_unknown"),
        (Canned(404, headers={"X-Error-Code": "RepoNotFound"}), "hub_unknown"),
        (Canned(401, headers={"X-Error-Code": "GatedRepo"}), "download_gated"),
        (Canned(403, headers={"X-Error-Code": "GatedRepo"}), "download_gated"),
        (Canned(403), "download_gated"),
        (Canned(404, headers={"X-Error-Code": "RevisionNotFound"}), "hub_revision"),
        (Canned(429), "hub_busy"),
        (Canned(503, headers={"Retry-After": "5"}), "hub_busy"),
        (Canned(503), "hub_unreachable"),
        (Canned(500, b"x"), "hub_unreachable"),
        (Canned(200, b"<!doctype html>", {"Content-Type": "text/html"}), "hub_page"),
        (Canned(200, b" <!doctype html>"), "hub_page"),
        (Canned(502, b"<html>", {"Content-Type": "text/html"}), "hub_page"),
        (Canned(200, b""), "hub_answer"),
        (Canned(200, b"{"), "hub_answer"),
        (Canned(200, b"\xff\xfe{}"), "hub_answer"),
        (Canned(200, b"[" * 100_000), "hub_answer"),
        (Canned(200, b'{"id":"o/r","likes":' + b"9" * 5000 + b"}"), "hub_answer"),
        (Canned(200, b'{"id":"o/r","likes":NaN}'), "hub_answer"),
        (Canned(200, b"[]"), "hub_answer"),
        (Canned(200, b'{"id":"../r"}'), "hub_answer"),
        (Canned(200, b'{"id":"o/r"}', {"Content-Encoding": "gzip"}), "hub_answer"),
        (Canned(200, b'{"id":"o/r"}', cut=5), "hub_unreachable"),
        (Canned(200, b'{"id":"o/r"}', {"Content-Length": "9" * 5000}, cut=99), "hub_unreachable"),
        (Canned(302, headers={"Location": "http://example.org/"}), "hub_unreachable"),
        (Canned(302, headers={"Location": "file:///etc/passwd"}), "hub_unreachable"),
        (Canned(302, headers={"Location": "http://[x"}), "hub_unreachable"),
        (Canned(302, headers={"Location": INFO}), "hub_unreachable"),
    ],
)
def test_refusals_in_words(canned, code):
    assert facts_error(canned).code == code


def test_a_token_that_is_refused():
    assert facts_error(Canned(401), TOKEN).code == "hub_token"
    missing = Canned(401, headers={"X-Error-Code": "RepoNotFound"})
    assert facts_error(missing, TOKEN).code == "hub_unknown"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"RateLimit": '"api";r=0;t=55'}, 55),
        ({"Retry-After": "soon"}, 60),
        ({}, 60),
    ],
)
def test_how_long_to_wait_is_told(headers, seconds):
    error = facts_error(Canned(429, headers=headers))
    assert error.reason.params["seconds"] == seconds


def test_chunked_answers_are_read():
    with hub_server() as server, Hub(server.url) as hub:
        server.canned[INFO] = [Canned(200, b'{"id":"o/r"}', chunked=True)]
        assert hub.facts(NAME).repo == "r"


def test_nobody_there():
    with hub_server() as server:
        pass
    assert error_of(server, lambda hub: hub.facts(NAME)).code == "hub_unreachable"


def test_endless_answers_end():
    with hub_server(o__r=Repo()) as server:
        server.canned[INFO] = [Canned(200, bytes(1 << 16), endless=True)]
        error = error_of(server, lambda hub: hub.facts(NAME))
    assert error.code == "hub_answer"
    assert server.sent < 3 * hub_answers.MAX_ANSWER_BYTES


def test_an_endless_redirect_is_not_read():
    with hub_server(n__w=Repo()) as server, Hub(server.url) as hub:
        moved = {"Location": "/api/models/n/w"}
        server.canned[INFO] = [Canned(302, bytes(1 << 16), moved, endless=True)]
        assert hub.facts(NAME).owner == "n"
    assert server.sent < 64 << 20


def test_slow_answers_end():
    clock = count(step=20.0)
    with hub_server(o__r=Repo()) as server:
        server.canned[INFO] = [Canned(200, b" " * (1 << 16), endless=True)]
        with HubSession(server.url) as session, pytest.raises(BuildError) as caught:
            ask(session, INFO, {}, "o/r", lambda: next(clock))
    assert caught.value.code == "hub_unreachable"


@pytest.mark.parametrize(
    "body", [b"[" + b"[]," * 2_000_000 + b"0]", b"[" + b'{"a":0},' * 900_000 + b"0]"]
)
def test_reading_an_answer_takes_little_memory(body):
    assert len(body) < hub_answers.MAX_ANSWER_BYTES
    with hub_server(o__r=Repo()) as server:
        server.canned[INFO] = [Canned(200, body)]
        tracemalloc.start()
        try:
            assert error_of(server, lambda hub: hub.facts(NAME)).code == "hub_answer"
            assert tracemalloc.get_traced_memory()[1] < 64 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    "link", ['<?cursor=1>; rel="next"', '<http://x[/>; rel="next"', '<?x>; rel="next"']
)
def test_pages_without_end_end(link):
    with hub_server(o__r=Repo()) as server:
        server.canned[TREE] = [Canned(200, b"[]", {"Link": link})]
        error = error_of(server, lambda hub: hub.files(NAME))
    assert error.code == "hub_answer"
    assert len(server.asked) <= 100


def test_too_many_files():
    with hub_server(o__r=Repo()) as server:
        server.canned[TREE] = [
            Canned(200, json.dumps([entry(f"{n}.gguf") for n in range(20_001)]).encode())
        ]
        assert error_of(server, lambda hub: hub.files(NAME)).code == "hub_answer"


def test_the_token_goes_nowhere_else(caplog):
    caplog.set_level(logging.DEBUG)
    with hub_server(o__r=Repo()) as other, hub_server() as server:
        server.canned[INFO] = [Canned(307, headers={"Location": other.url + INFO})]
        with Hub(server.url, TOKEN) as hub:
            assert hub.facts(NAME).repo == "r"
            assert TOKEN not in repr(hub) + repr(vars(hub)) + repr(hub.session)
    assert server.asked[0][1]["authorization"] == f"Bearer {TOKEN}"
    assert "authorization" not in other.asked[0][1]
    assert TOKEN not in caplog.text


def test_a_netrc_file_is_not_used(tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with hub_server(o__r=Repo()) as server:
        server.canned[INFO] = [Canned(302, headers={"Location": "/api/models/o/r/"})]
        for token in (None, TOKEN):
            with Hub(server.url, token) as hub:
                hub.facts(NAME)
    told = [headers.get("authorization") for _, headers in server.asked]
    assert told == [None, None, f"Bearer {TOKEN}", f"Bearer {TOKEN}"]


def test_cookies_are_not_kept():
    with hub_server(o__r=Repo()) as server, Hub(server.url) as hub:
        body = b'{"id":"o/r"}'
        server.canned[INFO] = [Canned(200, body, {"Set-Cookie": "a=b; Path=/"})]
        hub.facts(NAME)
        hub.facts(NAME)
    assert not any("cookie" in headers for _, headers in server.asked)


@pytest.mark.parametrize("token", ["", "a b", "a\nb", "ü", "x" * 513])
def test_what_cannot_be_a_token(token):
    with pytest.raises(BuildError) as caught:
        Hub(token=token)
    assert caught.value.code == "hub_token"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("told", "endpoint"),
    [
        ({}, "https://huggingface.co"),
        ({"HF_ENDPOINT": ""}, "https://huggingface.co"),
        ({"HF_ENDPOINT": "https://hf-mirror.com/"}, "https://hf-mirror.com"),
        ({"HF_ENDPOINT": "http://127.0.0.1:80/hf"}, "http://127.0.0.1:80/hf"),
    ],
)
def test_endpoints(told, endpoint):
    assert endpoint_of(told) == endpoint


@pytest.mark.parametrize(
    "told",
    [
        "hf-mirror.com",
        "http://hf-mirror.com",
        "https://user:password@hf-mirror.com",
        "https://hf-mirror.com?x",
        "https://",
        "https://a b",
        "https://a:b",
        "ftp://127.0.0.1",
    ],
)
def test_what_is_no_endpoint(told):
    with pytest.raises(BuildError) as caught:
        endpoint_of({"HF_ENDPOINT": told})
    assert caught.value.code == "hub_address"
    assert "password@" not in str(caught.value)


def test_names_made_by_hand_reach_no_other_route():
    with hub_server() as server:
        error = error_of(server, lambda hub: hub.facts(BuildName("..", "x?y")))
    assert error.code == "build_not_found"
    assert server.asked == []
