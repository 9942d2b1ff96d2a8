"""`gram doctor` in folders where not everything can be done: each row is true by itself."""

import os
import shutil
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from desktop.cli import show
from desktop.identity.key_file import load_or_create
from desktop.network.ledger import FORMAT, Ledger
from desktop.paths import Paths
from desktop.records.statement import Envelope
from desktop.services import doctor, key_findings
from desktop.services.doctor import examine
from desktop.services.ledger_finding import ledger_finding
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


def settings_row(home):
    return doctor._settings(home, room=True)


def test_a_misspelt_name_is_not_called_fine(home):
    home.settings.write_text('plaec = "NL"\n[costs]\nrented = true\n')
    row = settings_row(home)
    assert row.state == "optional"
    assert "plaec is no setting" in row.detail
    assert "rented stands below [costs]" in row.detail
    assert "Did you mean place?" in row.advice


def test_each_thing_that_is_told_has_a_line_of_its_own(home, capsys):
    home.settings.write_text('plaec = "NL"\n[costs]\nrented = true\n')
    show.findings([settings_row(home)])
    said = capsys.readouterr().out
    assert "\N{REPLACEMENT CHARACTER}" not in said
    assert [line.split()[0] for line in said.splitlines()] == ["Settings", "In", "Did", "Write"]


def test_files_that_were_set_aside_are_named_with_what_to_do(home):
    for text in ("one", "two", "place = NL"):
        home.settings.write_text(text)
        row = settings_row(home)
    assert "settings.broken-1.toml, settings.broken-2.toml, settings.broken-3.toml" in row.detail
    assert row.state == "optional"
    (home.data / "settings.broken-10.toml").touch()
    (home.data / "settings.broken-x.toml").touch()
    row = settings_row(home)
    assert row.state == "ok"
    assert row.detail.endswith("settings.broken-3.toml, settings.broken-10.toml.")
    assert "name it settings.toml" in row.advice
    assert (home.data / "settings.broken-1.toml").read_text() == "one"


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
    assert row.state == "unusable"
    assert row.detail.endswith("can be read by others (mode 0644).")
    assert "chmod 600" in row.advice
    home.key_file.chmod(0o600)
    home.key_file.write_text("x")
    row = rows(home)["Keychain"]
    assert row.state == "unusable"
    assert "does not hold a Gram key" in row.detail


def test_a_ledger_that_can_be_read_and_not_written_is_told_of(home):
    Ledger(home.ledger).check()
    assert rows(home)["Ledger"].state == "ok"
    # as a file that may not be written is for root too: SQLite's own file beside it cannot be made
    (home.data / "ledger.sqlite-shm").mkdir()
    row = rows(home)["Ledger"]
    assert row.state == "unusable"
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


POSIX = pytest.mark.skipif(os.name != "posix", reason="Windows has lists of access instead")


@POSIX
def test_the_key_file_that_the_variable_names_is_looked_at(home, monkeypatch):
    named = home.data / "other"
    monkeypatch.setenv("GRAM_KEY_FILE", str(named))
    row = key_findings.key_file_finding()
    assert (row.state, "a key is made there" in row.detail) == ("optional", True)
    assert not named.exists()
    load_or_create(named)
    row = key_findings.key_file_finding()
    assert (row.state, row.detail) == ("ok", f"{named} (GRAM_KEY_FILE) holds a key")
    named.chmod(0o640)
    row = key_findings.key_file_finding()
    assert (row.state, "mode 0640" in row.detail) == ("unusable", True)
    assert "chmod 600" in row.advice
    named.chmod(0o600)
    named.write_text("x")
    assert "does not hold a Gram key" in key_findings.key_file_finding().detail
    monkeypatch.setenv("GRAM_KEY_FILE", str(home.data / "none" / "key"))
    row = key_findings.key_file_finding()
    assert (row.state, "none can be made" in row.detail) == ("missing", True)
    monkeypatch.setenv("GRAM_KEY_FILE", "~nobody-of-that-name/key")
    assert key_findings.key_file_finding().state == "unusable"
    assert "Key file" in rows(home)


def filled(home, count):
    """A ledger of so many statements, without a log beside it."""
    ledger = Ledger(home.ledger)
    for n in range(count):
        signed = (("ab" * 32, bytes(64)),)
        ledger.keep(Envelope("t", b'{"n":%d,"x":"%s"}' % (n, b"x" * 400), signed), "then")
    with sqlite3.connect(home.ledger) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return ledger


def damaged(home):
    filled(home, 200)
    good = home.ledger.read_bytes()
    # pages of the rows, in the middle
    middle = len(good) // 2 // 4096 * 4096
    home.ledger.write_bytes(good[:middle] + b"\xa5" * 8192 + good[middle + 8192 :])


def test_a_damaged_ledger_is_called_so_with_what_can_be_read_of_it(home):
    damaged(home)
    before = home.ledger.read_bytes()
    row = ledger_finding(home, room=True)
    assert row.state == "damaged"
    assert row.detail.startswith("The ledger of results is damaged: ")
    count = Ledger(home.ledger).still_readable()
    assert 0 < count < 200
    assert row.detail.endswith(f"Statements that can still be read in it: {count}.")
    assert "Gram deletes nothing" in row.advice
    assert home.ledger.read_bytes() == before


@POSIX
@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="SQLite's own tool is not here")
def test_the_commands_for_a_damaged_ledger_do_what_is_said_of_them(home):
    damaged(home)
    count = Ledger(home.ledger).still_readable()
    advice = ledger_finding(home, room=True).advice
    said = advice.split("`")[1::2]
    commands = [c for c in said if c.startswith(("mkdir ", "mv ", "sqlite3 "))]
    assert [c.split(" ")[0] for c in commands] == ["mkdir", "mv", "sqlite3", "sqlite3"]
    for command in commands:
        # the tool also complains of a table that SQLite makes of itself
        subprocess.run(command, shell=True, check=False, capture_output=True, timeout=60)  # noqa: S602
    row = ledger_finding(home, room=True)
    assert row.state == "ok"
    assert int(row.detail.split(" ")[-1]) >= count
    assert (home.data / "ledger.damaged-1" / "ledger.sqlite").exists()


def test_what_is_no_ledger_at_all_is_moved_away_by_a_stated_command(home):
    home.ledger.mkdir()
    row = ledger_finding(home, room=True)
    assert row.state == "unusable"
    assert "it is a folder" in row.detail
    assert "ledger.other-1" in row.advice


def test_a_ledger_of_a_newer_gram_is_not_called_missing(home):
    filled(home, 1)
    with sqlite3.connect(home.ledger) as db:
        db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    db.close()
    row = ledger_finding(home, room=True)
    assert (row.state, "newer Gram" in row.detail) == ("unusable", True)
    assert "Update Gram" in row.advice


def test_a_ledger_that_is_locked_is_not_called_missing(home, monkeypatch):
    monkeypatch.setattr("desktop.network.ledger.BUSY_S", 0.0)
    filled(home, 1)
    db = sqlite3.connect(home.ledger, isolation_level=None)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    row = ledger_finding(home, room=True)
    db.close()
    assert (row.state, "in use by another program" in row.detail) == ("unusable", True)


def test_an_empty_file_is_told_of_and_left_as_it_is(home):
    home.ledger.touch()
    row = ledger_finding(home, room=True)
    assert (row.state, "empty (0 bytes)" in row.detail) == ("optional", True)
    assert "copy of the ledger" in row.advice
    assert home.ledger.read_bytes() == b""
