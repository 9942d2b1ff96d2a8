"""The reference build in a run: fetched as the settings of builds say, else another stands in."""

import pytest

from desktop.builds.reference import obtain_reference
from desktop.errors import BuildError
from desktop.records.request import RunRequest
from desktop.services.attempt import Outside
from desktop.services.reference_fetch import fetch_as_set
from desktop.services.session import Session
from desktop.services.slow import SlowCalls
from tests.unit.fault_server import fault_server
from tests.unit.test_transfer import CONTENT, quiet, wanted_at


class _EnoughError(Exception):
    pass


def set_to(home, line):
    home.settings.write_text(f"[builds]\n{line}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "paid", "comes"),
    [
        ("", False, True),
        ("", True, False),
        ('metered = "ask"', True, False),
        ('metered = "allow"', True, True),
    ],
)
def test_over_a_metered_connection_it_comes_only_where_that_is_allowed(home, line, paid, comes):
    set_to(home, line)
    target = home.builds / "x.gguf"
    fetch = fetch_as_set(home, {}, lambda _: paid)
    with fault_server(CONTENT) as server:
        if comes:
            fetch(wanted_at(server.url), target, quiet)
        else:
            with pytest.raises(BuildError) as caught:
                fetch(wanted_at(server.url), target, quiet)
            assert caught.value.code == "download_metered"
            assert server.sent == 0
    assert target.exists() == comes


def test_it_keeps_to_the_limit_of_speed(home):
    set_to(home, "limit_mb_s = 0.1")
    told = []

    def progress(done, total):
        told.append(done)
        if len(told) == 5:
            raise _EnoughError

    with fault_server(CONTENT) as server, pytest.raises(_EnoughError):
        fetch_as_set(home, {}, lambda _: False)(
            wanted_at(server.url), home.builds / "x.gguf", progress
        )
    assert max(told) < len(CONTENT)


def test_a_run_says_why_another_build_stands_in(home):
    fetch = fetch_as_set(home, {}, lambda _: True)
    found, reason = obtain_reference(home, environment={}, progress=quiet, fetch=fetch)
    assert found.build.synthetic
    assert reason.code == "using_synthetic"
    assert "This connection is metered" in reason.text()


def test_a_session_fetches_so(home, tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    asked = []

    def stand_in(paths, environment):
        asked.append((paths, dict(environment)))

        def fetch(wanted, _target, _progress):
            raise BuildError("download_metered", name=wanted.name, size_bytes=wanted.size_bytes)

        return fetch

    monkeypatch.setattr("desktop.services.reference_fetch.fetch_as_set", stand_in)
    seen = []
    session = Session(RunRequest(), Outside(home, SlowCalls(), "a test", {"A": "b"}), seen.append)
    assert session._find_build(home).build.synthetic
    assert asked == [(home, {"A": "b"})]
    assert [event.reason.code for event in seen] == ["using_synthetic"]
