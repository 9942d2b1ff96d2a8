"""`gram doctor` in folders where not everything can be done: each row is true by itself."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from desktop.identity.key_file import load_or_create
from desktop.network.ledger import Ledger
from desktop.paths import Paths
from desktop.services import doctor
from desktop.services.doctor import examine
from desktop.settings import change_setting


def rows(paths):
    return {row.what: row for row in examine(paths)}


@pytest.fixture
def closed(home, monkeypatch):
    """A data folder that takes nothing more, for root too: the probe's name is taken."""
    monkeypatch.setattr(doctor, "token_hex", lambda _: "taken")
    (home.data / ".probe-taken").mkdir()
    return home


def test_where_nothing_is_set_it_says_that_the_defaults_are_used(home):
    row = rows(home)["Settings"]
    assert (row.state, row.advice) == ("ok", "")
    assert row.detail == f"none at {home.settings}: the defaults are used"
    assert not home.settings.exists()


def test_settings_that_are_read_are_fine(home):
    change_setting(home.settings, "place", "NL")
    row = rows(home)["Settings"]
    assert (row.state, row.detail) == ("ok", str(home.settings))


def test_a_value_that_is_not_understood_is_told_with_its_default(home):
    home.settings.write_text('place = "Atlantis"\nrented = "maybe"\n')
    row = rows(home)["Settings"]
    assert row.state == "optional"
    assert "place cannot be Atlantis, so the default is used (not set)" in row.detail
    assert "rented cannot be maybe" in row.detail
    assert "gram settings place --unset" in row.advice


def test_a_broken_file_is_set_aside_and_the_next_look_is_fine(home):
    home.settings.write_text("place = NL")
    row = rows(home)["Settings"]
    assert row.state == "optional"
    assert "set aside as settings.broken-1.toml" in row.detail
    assert rows(home)["Settings"].state == "ok"


@pytest.mark.engine
def test_in_a_folder_that_takes_nothing_each_row_says_what_still_works(closed):
    change_setting(closed.settings, "place", "NL")
    found = rows(closed)
    states = {what: row.state for what, row in found.items()}
    assert states["Data folder"] == "missing"
    assert (states["Engine"], states["Machine"]) == ("ok", "ok")
    assert states["Settings"] == "optional"
    assert found["Settings"].detail == f"{closed.settings}; nothing can be set"
    assert found["Ledger"].detail == "statements kept: 0; no further result can be kept"
    assert states["Ledger"] == "missing"
    assert all("GRAM_HOME" in found[what].advice for what in ("Data folder", "Settings", "Ledger"))


def test_a_reference_build_that_cannot_be_kept_is_not_promised(closed, monkeypatch):
    monkeypatch.delenv("GRAM_REFERENCE_FILE", raising=False)
    row = rows(closed)["Reference build"]
    assert row.state == "optional"
    assert "it cannot be kept" in row.detail
    assert "downloaded" not in row.detail + row.advice


def test_a_log_that_cannot_be_written_is_not_called_fine(home):
    home.log.mkdir()
    row = rows(home)["Log"]
    assert row.state == "optional"
    assert row.detail.startswith(f"{home.log} cannot be written (")
    assert row.detail.endswith("no log is kept")
    assert row.advice


@pytest.mark.engine
def test_the_engine_is_found_although_its_words_can_be_kept_nowhere(home):
    home.worker_log.with_suffix(".devices.log").mkdir()
    assert rows(home)["Engine"].state == "ok"


@pytest.mark.engine
def test_a_folder_that_cannot_be_made_hides_neither_engine_nor_machine(tmp_path):
    (tmp_path / "file").write_text("x")
    root = tmp_path / "file" / "home"
    found = rows(Paths(root, root / "cache", root / "log"))
    assert {found[what].state for what in ("Engine", "Machine")} == {"ok"}
    assert found["Data folder"].state == "missing"
    assert found["Log"].state == "optional"


def test_two_who_look_at_once_do_not_take_each_others_probe(home):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: doctor._folder(home), range(200)))
    assert not list(home.data.glob(".probe*"))


@pytest.fixture
def no_keychain(monkeypatch):
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


@pytest.mark.skipif(os.name != "posix", reason="Windows has lists of access instead")
@pytest.mark.usefixtures("no_keychain")
def test_a_key_file_that_gram_refuses_is_told_of(home):
    assert "A key file is here" not in rows(home)["Keychain"].detail
    load_or_create(home.key_file)
    row = rows(home)["Keychain"]
    assert (row.state, row.detail.endswith("A key file is here.")) == ("optional", True)
    home.key_file.chmod(0o644)
    row = rows(home)["Keychain"]
    assert row.state == "missing"
    assert row.detail.endswith("can be read by others (mode 0644).")
    assert "chmod 600" in row.advice
    home.key_file.chmod(0o600)
    home.key_file.write_text("x")
    row = rows(home)["Keychain"]
    assert row.state == "missing"
    assert "does not hold a Gram key" in row.detail


def test_a_ledger_that_can_be_read_and_not_written_is_told_of(home):
    Ledger(home.ledger).check()
    assert rows(home)["Ledger"].state == "ok"
    # as a file that may not be written is for root too: SQLite's own file beside it cannot be made
    (home.data / "ledger.sqlite-shm").mkdir()
    row = rows(home)["Ledger"]
    assert row.state == "missing"
    assert row.detail.startswith("statements kept: 0; no further result can be kept (")
    assert row.advice


def test_a_ledger_is_not_made_by_looking(home):
    assert rows(home)["Ledger"].detail == "statements kept: 0"
    assert not home.ledger.exists()


@pytest.mark.usefixtures("no_keychain")
def test_a_folder_that_cannot_be_searched_costs_only_its_own_rows(tmp_path, monkeypatch):
    monkeypatch.delenv("GRAM_REFERENCE_FILE", raising=False)
    # for root too: no system looks up a name as long as this one
    root = tmp_path / ("x" * 300)
    found = rows(Paths(root, tmp_path / "cache", tmp_path / "log"))
    assert len(found) == 10
    assert found["Gram"].state == "ok"
    for what in ("Data folder", "Settings", "Keychain", "Reference build", "Ledger"):
        assert found[what].state != "ok", what
        assert "too long" in found[what].detail
        assert "folder" in found[what].advice
