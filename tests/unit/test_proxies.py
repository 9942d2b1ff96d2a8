"""Downloads by a proxy: as the environment says, and its password is told to nobody else."""

import logging
import sys
import traceback

import pytest

from desktop.builds.hub_answers import ask
from desktop.builds.hub_session import HubSession
from desktop.builds.transfer import download
from desktop.errors import BuildError
from desktop.paths import default_paths
from desktop.services import offers
from tests.unit.fault_server import fault_server
from tests.unit.secure_servers import HOST, proxy, secure_server
from tests.unit.test_transfer import CONTENT, HASTY, fetch, quiet, wanted_at

URL = f"https://{HOST}/x.gguf"
VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
PASSWORD = "s3cret@word"
USER = f"name:{PASSWORD}"
WRITTEN = "name:s3cret%40word"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch, caplog):
    """None is set, and whatever a test does, the log has no password at the end."""
    for name in (*VARIABLES, *map(str.upper, VARIABLES)):
        monkeypatch.delenv(name, raising=False)
    caplog.set_level(logging.DEBUG)
    yield
    logged = [*caplog.get_records("setup"), *caplog.get_records("call")]
    assert not [r for r in logged if "s3cret" in f"{r.getMessage()}{r.exc_text or ''}"]


@pytest.fixture
def secure(tmp_path, monkeypatch):
    pytest.importorskip("cryptography")
    folder = tmp_path / "tls"
    folder.mkdir()
    with secure_server(CONTENT, folder) as server:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(folder / "cert.pem"))
        yield server


def get(target):
    download(wanted_at(URL), target, quiet, None, HASTY)


def refused(target):
    with pytest.raises(BuildError) as caught:
        get(target)
    shown = "".join(traceback.format_exception(caught.value))
    assert "s3cret" not in shown + str(caught.value)
    return caught.value


def test_a_proxy_without_a_scheme_is_an_http_proxy(secure, tmp_path, monkeypatch):
    with proxy(secure.server_port) as by:
        monkeypatch.setenv("HTTPS_PROXY", f"localhost:{by.server_port}")
        get(tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT
    assert by.asked


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
def test_a_download_goes_by_the_proxy(secure, tmp_path, monkeypatch, variable):
    with proxy(secure.server_port) as by:
        monkeypatch.setenv(variable, f"http://127.0.0.1:{by.server_port}")
        get(tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT
    assert set(by.asked) == {("CONNECT", f"{HOST}:443")}


@pytest.mark.parametrize("start", ["http://", ""])
def test_a_proxy_gets_its_name_and_password(secure, tmp_path, monkeypatch, start):
    with proxy(secure.server_port, USER) as by:
        monkeypatch.setenv("HTTPS_PROXY", f"{start}{WRITTEN}@127.0.0.1:{by.server_port}")
        get(tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT


def test_a_proxy_that_refuses_is_told_without_the_password(secure, tmp_path, monkeypatch):
    with proxy(secure.server_port, "another:one") as by:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{WRITTEN}@127.0.0.1:{by.server_port}")
        error = refused(tmp_path / "x.gguf")
    assert error.code == "download_failed"
    assert "wants a name and a password" in str(error)


def test_a_proxy_that_is_not_there_is_told_without_the_password(tmp_path, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", f"http://{WRITTEN}@127.0.0.1:1")
    assert "proxy" in str(refused(tmp_path / "x.gguf"))


UNUSABLE = {
    "socks5://{}@127.0.0.1:1": "proxy_socks",
    "socks5h://{}@127.0.0.1:1": "proxy_socks",
    "SOCKS4://127.0.0.1:1": "proxy_socks",
    "ftp://{}@127.0.0.1:1": "proxy_unusable",
    "http://{}@127.0.0.1:port": "proxy_unusable",
    "http://{}@127.0.0.1:999999": "proxy_unusable",
    "http://{}@[::1": "proxy_unusable",
    "http://": "proxy_unusable",
    "socks5://": "proxy_unusable",
    "http://{}@": "proxy_unusable",
}


@pytest.mark.parametrize(("address", "code"), UNUSABLE.items(), ids=UNUSABLE)
def test_what_cannot_be_a_proxy_is_an_error_of_its_own(tmp_path, monkeypatch, address, code):
    # as where PySocks is not installed
    monkeypatch.setitem(sys.modules, "socks", None)
    monkeypatch.setenv("ALL_PROXY", address.format(WRITTEN))
    assert refused(tmp_path / "x.gguf").code == code


def test_the_hub_is_asked_by_the_proxy_too(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "ftp://127.0.0.1:1")
    with HubSession(f"https://{HOST}") as session, pytest.raises(BuildError) as caught:
        ask(session, "/api/models/a/b", {}, "a/b")
    assert caught.value.code == "proxy_unusable"


def test_for_many_repositories_it_is_told_once_and_the_others_are_not_asked(home, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "ftp://127.0.0.1:1")
    environment = {"HF_ENDPOINT": f"https://{HOST}"}
    asked = offers.ask(default_paths(), environment, ["a/b", "a/c", "a/d"])
    assert asked.listed == 0
    assert [reason.code for reason in asked.told] == ["proxy_unusable"]


def test_a_host_in_no_proxy_is_asked_without_it(monkeypatch):
    with proxy(1) as by, HubSession(f"https://{HOST}.invalid") as session:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{by.server_port}")
        monkeypatch.setenv("NO_PROXY", f"other.example,.{HOST}.invalid")
        with pytest.raises(BuildError) as caught:
            ask(session, "/api/models/a/b", {}, "a/b")
    assert caught.value.code == "hub_unreachable"
    assert by.asked == []


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
def test_a_mirror_on_this_machine_is_never_asked_by_a_proxy(tmp_path, monkeypatch, variable):
    with proxy(1) as by, fault_server(CONTENT) as server:
        monkeypatch.setenv(variable, f"http://{WRITTEN}@127.0.0.1:{by.server_port}")
        fetch(server, tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT
    assert by.asked == []
