"""The ledger: kept once, kept for good, and never touched when it is not ours to touch."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from desktop.errors import LedgerError
from desktop.network.ledger import APPLICATION_ID, FORMAT, Ledger
from desktop.records.statement import Envelope
from desktop.rules.dsse import from_json, statement_id

TYPE = "application/vnd.gram.run.v1+json"
AT = "2026-03-04T05:06:07Z"


def envelope(number):
    return Envelope(TYPE, b'{"n":%d}' % number, (("ab" * 32, bytes(64)),))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "größe" / "ledger.sqlite"


@pytest.fixture
def ledger(path):
    path.parent.mkdir()
    return Ledger(path)


def refused(code, call, *args):
    with pytest.raises(LedgerError) as caught:
        call(*args)
    assert caught.value.code == code, caught.value
    return str(caught.value)


def digest(folder):
    """Every file of the folder with its content."""
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


def sql(path, *lines):
    with closing(sqlite3.connect(path)) as db:
        for line in lines:
            db.execute(line)
        db.commit()


def test_what_is_kept_is_found_again_byte_for_byte(ledger):
    found_id = ledger.keep(envelope(1), AT)
    assert found_id == statement_id(envelope(1).payload)
    entry = ledger.find(found_id)
    assert (entry.id, entry.payload_type, entry.kept_at) == (found_id, TYPE, AT)
    assert from_json(entry.envelope_json, "f") == envelope(1)


def test_the_newest_comes_first_whatever_the_clock_said(ledger):
    ids = [ledger.keep(envelope(n), f"20{30 - n}-01-01T00:00:00Z") for n in range(5)]
    assert [e.id for e in ledger.entries()] == ids[::-1]


def test_the_same_twice_is_one_row_and_keeps_its_time(ledger):
    first = ledger.keep(envelope(1), AT)
    assert ledger.keep(envelope(1), "2031-01-01T00:00:00Z") == first
    [entry] = ledger.entries()
    assert entry.kept_at == AT


def test_reading_makes_no_file(ledger, path):
    assert ledger.entries() == ()
    refused("no_such_result", ledger.find, "ab")
    ledger.close()
    assert list(path.parent.iterdir()) == []


def test_check_makes_the_file_and_nothing_more(ledger, path):
    ledger.check()
    assert ledger.entries() == ()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_prefix_finds_one_or_says_why_not(ledger):
    ids = [ledger.keep(envelope(n), AT) for n in range(40)]
    assert ledger.find(ids[7][:16]).id == ids[7]
    assert ledger.find(f" {ids[7].upper()[:16]} ").id == ids[7]
    assert "40 results" in refused("ambiguous_result", ledger.find, "")
    refused("no_such_result", ledger.find, "%")
    refused("no_such_result", ledger.find, "zz")
    assert len(ledger.entries()) == 40


def test_a_newer_format_is_left_alone(ledger, path):
    ledger.keep(envelope(1), AT)
    sql(path, f"PRAGMA user_version = {FORMAT + 1}")
    before = digest(path.parent)
    for call in (ledger.check, ledger.entries, lambda: ledger.keep(envelope(2), AT)):
        assert f"format {FORMAT + 1}" in refused("ledger_newer", call)
    assert digest(path.parent) == before


def test_another_programs_file_is_left_alone(ledger, path):
    sql(path, "CREATE TABLE other (x)", "PRAGMA user_version = 1")
    before = digest(path.parent)
    refused("ledger_open", ledger.check)
    assert digest(path.parent) == before


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to look like one" * 99, b"x"]
)
def test_a_file_that_is_no_ledger_is_left_alone(ledger, path, content):
    path.write_bytes(content)
    for call in (ledger.check, ledger.entries, lambda: ledger.keep(envelope(2), AT)):
        refused("ledger_open", call)
    assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_cut_or_overwritten_ledger_is_an_error_and_stays(ledger, path):
    for n in range(200):
        ledger.keep(envelope(n), AT)
    good = path.read_bytes()
    for bad in (good[: len(good) // 2], good[:4096] + b"\xa5" * (len(good) - 4096)):
        path.write_bytes(bad)
        refused("ledger_open", ledger.entries)
        assert path.read_bytes() == bad


def test_a_log_without_its_file_is_not_thrown_away(ledger, path):
    ledger.keep(envelope(1), AT)
    log = path.with_name(path.name + "-wal")
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM statements")
        db.commit()
        saved = log.read_bytes()
    for empty in (True, False):
        path.write_bytes(b"") if empty else path.unlink()
        log.write_bytes(saved)
        refused("ledger_open", ledger.entries)
        refused("ledger_open", ledger.keep, envelope(2), AT)
        assert log.read_bytes() == saved


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    missing = Ledger(tmp_path / "no" / "ledger.sqlite")
    refused("ledger_write", missing.check)
    refused("ledger_write", missing.keep, envelope(1), AT)
    refused("ledger_open", Ledger(tmp_path).entries)


READ_ONLY = """
import sys
from pathlib import Path
from desktop.errors import LedgerError
from desktop.network.ledger import Ledger
from desktop.records.statement import Envelope
import os
if os.geteuid() == 0:
    os.seteuid(65534)
for call in (Ledger.check, lambda l: l.keep(Envelope("t", b'{"n":2}', (("ab" * 32, bytes(64)),)), "x")):
    try:
        call(Ledger(Path(sys.argv[1])))
        print("kept")
    except LedgerError as e:
        print(e.code)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows protects by access lists")
@pytest.mark.parametrize("exists", [True, False])
def test_a_read_only_folder_is_an_error_before_and_after(tmp_path_factory, exists):
    """As another user where the tests run as root, who may write everywhere."""
    folder = tmp_path_factory.mktemp("shared")
    for parent in (folder, folder.parent):
        parent.chmod(0o755)
    root = folder.parent.parent
    if os.geteuid() == 0 and not root.stat().st_mode & 0o001:
        root.chmod(root.stat().st_mode | 0o011)
    path = folder / "ledger.sqlite"
    if exists:
        Ledger(path).keep(envelope(1), AT)
        path.chmod(0o444)
    folder.chmod(0o555)
    before = digest(folder)
    command = [sys.executable, "-c", READ_ONLY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    folder.chmod(0o755)
    assert done.stdout.split() == ["ledger_write", "ledger_write"], done.stderr
    assert digest(folder) == before


def test_threads_share_one_ledger(ledger):
    start = threading.Barrier(6)

    def keep(first):
        start.wait()
        for n in range(first, first + 8):
            ledger.keep(envelope(n // 2), AT)
            ledger.entries()

    threads = [threading.Thread(target=keep, args=(8 * i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {e.id for e in ledger.entries()} == {
        statement_id(envelope(n).payload) for n in range(24)
    }
    assert len(ledger.entries()) == 24


KEEPER = """
import sys
from pathlib import Path
from desktop.network.ledger import Ledger
from desktop.records.statement import Envelope
ledger = Ledger(Path(sys.argv[1]))
sys.stdin.readline()
for n in range(20):
    ledger.keep(Envelope("t", b'{"n":%d}' % (n + int(sys.argv[2])), (("ab" * 32, bytes(64)),)), "x")
"""


def test_processes_that_start_at_once_lose_nothing(ledger, path):
    """Also the making of the file: all of them begin without one."""
    pipe = subprocess.PIPE
    running = [
        subprocess.Popen([sys.executable, "-c", KEEPER, str(path), str(first)], stdin=pipe)
        for first in (0, 10, 20, 30)
    ]
    for process in running:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert len(ledger.entries()) == 50


def test_a_copy_of_the_folder_is_a_ledger(ledger, path, tmp_path):
    ledger.keep(envelope(1), AT)
    shutil.copytree(path.parent, tmp_path / "copy")
    assert Ledger(tmp_path / "copy" / path.name).entries() == ledger.entries()


def test_a_ledger_of_format_one_is_read_for_ever(ledger, path):
    sql(
        path,
        "CREATE TABLE statements (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
        " payload_type TEXT NOT NULL, envelope_json TEXT NOT NULL, kept_at TEXT NOT NULL)",
        "INSERT INTO statements VALUES (1, 'abc', 't', '{}', 'then')",
        "PRAGMA application_id = 1196572997",
        "PRAGMA user_version = 1",
    )
    refused("ledger_open", ledger.entries)
    sql(path, "PRAGMA application_id = 1196573005")
    [entry] = ledger.entries()
    assert (entry.id, entry.envelope_json, entry.kept_at) == ("abc", "{}", "then")
