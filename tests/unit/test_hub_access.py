"""Who gets the token of Hugging Face, and where it is kept; tests/x11 has the real keychain."""

import io
import json
import logging
import traceback
from dataclasses import dataclass, field

import pytest
from keyring import errors as ke

from desktop.builds.names import parse_name
from desktop.cli import main
from desktop.errors import GramError
from desktop.identity import keychain
from desktop.records.hub_token import TokenSource
from desktop.services.hub_access import (
    forget_token,
    hub_sessions,
    keep_token,
    open_hub,
    token_state,
)
from tests.unit.hub_routes import Canned, Repo, hub_server

TOKEN = "hf_geheimgeheimgeheim"
OTHER = "hf_anderesanderes"
NAME = parse_name("hf.co/owner/repo")
WHO = "/api/whoami-v2"


@dataclass
class Memory:
    """A keychain that keeps what it is given."""

    kept: dict[tuple[str, str], str] = field(default_factory=dict)
    reads: int = 0

    def get_password(self, service, username):
        self.reads += 1
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self.kept[service, username] = password

    def delete_password(self, service, username):
        del self.kept[service, username]


@dataclass
class Failing:
    """A keychain that repeats in its error what it was given."""

    error: type[Exception] = ke.KeyringLocked
    lost: bool = False

    def get_password(self, service, username):
        if not self.lost:
            raise self.error("no")

    def set_password(self, service, username, password):
        if not self.lost:
            raise self.error(f"cannot keep {password} " * 9)

    def delete_password(self, service, username):
        raise self.error("no")


@pytest.fixture
def hub():
    with hub_server(owner__repo=Repo(files={"a.gguf": b"GGUF" + bytes(64)})) as server:
        server.canned[WHO] = [Canned(200, b'{"name": "anna"}')]
        yield server


def environment(server, **more):
    return {"HF_ENDPOINT": server.url, **more}


def sent(server, path="/api/models/owner/repo"):
    """The header Authorization of each question for `path`."""
    return [headers.get("authorization") for asked, headers in server.asked if asked == path]


def ask(paths, told, vault):
    with open_hub(told, vault=vault) as opened:
        opened.facts(NAME)


def test_what_is_kept_for_a_host_is_sent_to_it_and_to_no_other(hub, home):
    vault = Memory()
    state = keep_token(environment(hub), f" {TOKEN}\n", vault=vault)
    assert (state.host, state.source) == ("127.0.0.1", TokenSource.KEYCHAIN)
    assert list(vault.kept.values()) == [TOKEN]
    ask(home, environment(hub), vault)
    assert sent(hub) == [f"Bearer {TOKEN}"]
    with hub_server(owner__repo=Repo()) as elsewhere:
        # another port of one machine is another host
        ask(home, environment(elsewhere), vault)
        assert sent(elsewhere) == [None]
        assert token_state(environment(elsewhere), vault=vault).source is TokenSource.NONE


def test_the_environments_token_comes_first_and_is_kept_nowhere(hub, home):
    vault = Memory()
    keep_token(environment(hub), TOKEN, vault=vault)
    told = environment(hub, HF_TOKEN=f"{OTHER}\n")
    ask(home, told, vault)
    assert sent(hub) == [f"Bearer {OTHER}"]
    assert token_state(told, vault=vault).source is TokenSource.ENVIRONMENT
    assert list(vault.kept.values()) == [TOKEN]


@pytest.mark.parametrize("empty", ["", "  \n"])
def test_an_empty_token_of_the_environment_is_none(hub, home, empty):
    ask(home, environment(hub, HF_TOKEN=empty), Memory())
    assert sent(hub) == [None]


def test_other_programs_tokens_are_not_read(hub, home, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login anna password {TOKEN}\n")
    ask(home, environment(hub, HF_TOKEN_PATH=str(tmp_path / "token")), Memory())
    assert sent(hub) == [None]


@pytest.mark.parametrize(
    ("error", "source", "code"),
    [
        (ke.KeyringLocked, TokenSource.LOCKED, "token_keychain_locked"),
        (ke.NoKeyringError, TokenSource.NONE, "token_no_keychain"),
        (RuntimeError, TokenSource.NONE, "token_keychain_refused"),
    ],
)
def test_without_a_keychain_open_repositories_are_asked_all_the_same(
    hub, home, caplog, error, source, code
):
    caplog.set_level(logging.INFO)
    vault = Failing(error)
    ask(home, environment(hub), vault)
    assert sent(hub) == [None]
    assert "asked without a token" in caplog.text
    state = token_state(environment(hub), vault=vault)
    assert (state.source, state.reason.code) == (source, code)
    with pytest.raises(GramError) as caught:
        keep_token(environment(hub), TOKEN, vault=vault)
    assert caught.value.code == code
    with pytest.raises(GramError) as caught:
        forget_token(environment(hub), vault=vault)
    assert caught.value.code == code
    assert "HF_TOKEN" in caught.value.reason.advice()


def test_each_connection_has_the_token_which_is_read_once(hub, home):
    vault = Memory()
    keep_token(environment(hub), TOKEN, vault=vault)
    before = vault.reads
    make = hub_sessions(environment(hub), vault=vault)
    for _ in range(3):
        with make() as session:
            session.get(f"{hub.url}/owner/repo/resolve/main/a.gguf", timeout=9)
    assert sent(hub, "/owner/repo/resolve/main/a.gguf") == [f"Bearer {TOKEN}"] * 3
    assert vault.reads == before + 1


def test_a_redirect_takes_the_token_nowhere(hub, home):
    vault = Memory()
    keep_token(environment(hub), TOKEN, vault=vault)
    with hub_server(owner__repo=hub.repos["owner/repo"]) as held:
        hub.cdn = held.url
        make = hub_sessions(environment(hub), vault=vault)
        with make() as session:
            session.get(f"{hub.url}/owner/repo/resolve/main/a.gguf", timeout=9)
        assert sent(held, "/owner/repo/resolve/main/a.gguf") == [None]


@pytest.mark.parametrize("token", ["", " ", "hf_ä", "two words", "x" * 513])
def test_what_cannot_be_a_token_is_not_kept(hub, token):
    vault = Memory()
    with pytest.raises(GramError) as caught:
        keep_token(environment(hub), token, vault=vault)
    assert caught.value.code == "hub_token"
    assert not vault.kept
    assert not hub.asked


def test_a_token_that_the_hub_does_not_know_is_not_kept(hub):
    vault = Memory()
    hub.canned[WHO] = [Canned(401, b"{}")]
    with pytest.raises(GramError) as caught:
        keep_token(environment(hub), TOKEN, vault=vault)
    assert caught.value.code == "hub_token"
    assert not vault.kept


@pytest.mark.parametrize("status", [404, 403, 500, 200])
def test_where_the_hub_does_not_say_it_is_kept(hub, status):
    vault = Memory()
    hub.canned[WHO] = [Canned(status, b"<html>")]
    keep_token(environment(hub), TOKEN, vault=vault)
    assert list(vault.kept.values()) == [TOKEN]


def test_forgetting_says_whether_there_was_one(hub):
    vault = Memory()
    keep_token(environment(hub), TOKEN, vault=vault)
    assert forget_token(environment(hub), vault=vault) is True
    assert forget_token(environment(hub), vault=vault) is False
    assert not vault.kept


def test_a_keychain_that_loses_it_is_told(hub):
    with pytest.raises(GramError) as caught:
        keep_token(environment(hub), TOKEN, vault=Failing(lost=True))
    assert caught.value.code == "token_keychain_refused"


def test_the_token_is_in_no_error_log_or_repr(hub, home, caplog):
    caplog.set_level(logging.DEBUG)
    vault = Memory()
    told = environment(hub)
    with pytest.raises(GramError) as caught:
        keep_token(told, TOKEN, vault=Failing(RuntimeError))
    assert "cannot keep …" in str(caught.value)
    seen = ["".join(traceback.format_exception(caught.value)), repr(caught.value.__context__)]
    seen.append(repr(keep_token(told, TOKEN, vault=vault)))
    with open_hub(told, vault=vault) as opened:
        opened.facts(NAME)
        seen += [repr(opened), repr(opened.session), str(vars(opened.session))]
    hub.canned[WHO] = [Canned(401, b"{}")]
    with pytest.raises(GramError) as caught:
        keep_token(told, TOKEN, vault=vault)
    seen += ["".join(traceback.format_exception(caught.value)), caplog.text]
    assert not [text for text in seen if TOKEN in text]


# the terminal


@pytest.fixture
def door(hub, home, monkeypatch):
    """`gram builds token` with a keychain in memory; the vault."""
    vault = Memory()
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(keychain, "usable_backend", lambda _: vault)
    monkeypatch.setattr(keychain, "_backend", lambda _: vault)
    return vault


def said(capsys, *arguments):
    assert main(["builds", "token", *arguments]) == 0
    return capsys.readouterr().out


def test_the_door_keeps_shows_and_forgets(door, capsys, monkeypatch):
    none = said(capsys)
    assert "no token is sent" in none
    assert "HF_TOKEN is not set in the environment, and the keychain has no token" in none
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TOKEN}\n"))
    out = said(capsys, "--set")
    assert "127.0.0.1: the token in the keychain is sent." in out
    assert list(door.kept.values()) == [TOKEN]
    shown = json.loads(said(capsys, "--json"))
    assert shown == {"host": "127.0.0.1", "source": "keychain", "reason": None}
    assert "taken out" in said(capsys, "--forget")
    assert "had none" in said(capsys, "--forget")
    assert not door.kept


def test_the_door_shows_no_token(door, capsys, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TOKEN}\n"))
    said(capsys, "--set")
    monkeypatch.setenv("HF_TOKEN", OTHER)
    out = said(capsys) + said(capsys, "--json")
    assert "environment" in out
    assert "geheim" not in out
    assert OTHER not in out
    assert "geheim" not in caplog.text


@pytest.mark.parametrize("stdin", ["", "\n"])
def test_the_door_asks_for_a_line(door, capsys, monkeypatch, stdin):
    monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    assert main(["builds", "token", "--set"]) == 2
    assert "as one line" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", None)
    assert main(["builds", "token", "--set"]) == 2


def test_where_nothing_can_be_kept_no_token_is_asked_for(home, capsys, monkeypatch, hub):
    def nothing(_):
        raise ke.NoKeyringError("none")

    stdin = io.StringIO(f"{TOKEN}\n")
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setattr(keychain, "_backend", nothing)
    monkeypatch.setattr("sys.stdin", stdin)
    assert main(["builds", "token", "--set"]) == 1
    assert "HF_TOKEN" in capsys.readouterr().err
    monkeypatch.delenv("HF_TOKEN", raising=False)
    # why none is sent is the answer to the question
    told = said(capsys)
    assert "no token is sent" in told
    assert "There is no keychain that could keep a token" in told
    assert stdin.tell() == 0
    assert not hub.asked


def test_the_door_takes_one_of_two(door):
    assert main(["builds", "token", "--set", "--forget"]) == 2


def test_at_a_terminal_it_is_asked_for_and_not_shown(door, capsys, monkeypatch):
    import click

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    asked = []

    def prompt(text, **how):
        asked.append((text, how["hide_input"], how["err"]))
        return TOKEN

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr(click, "prompt", prompt)
    said(capsys, "--set")
    assert asked == [("Token of 127.0.0.1", True, True)]
    assert list(door.kept.values()) == [TOKEN]
