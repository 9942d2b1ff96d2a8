"""The ledger: kept once, kept for good, and never touched when it is not ours to touch."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager

import pytest

from desktop.errors import LedgerError, StatementError
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
    common = next(c for c in "0123456789abcdef" if sum(i.startswith(c) for i in ids) > 1)
    assert "results" in refused("ambiguous_result", ledger.find, common)
    assert len(ledger.entries()) == 40


@pytest.mark.parametrize(
    "wanted", ["", " ", "%", "zz", "\udcff", "a\x00", "٣", "a" * 65, "x" * 9999]
)
def test_what_is_no_id_finds_nothing(ledger, wanted):
    ledger.keep(envelope(1), AT)
    said = refused("no_such_result", ledger.find, wanted)
    assert len(said.encode("utf-8")) < 400


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
    refused("ledger_not_ours", ledger.check)
    assert digest(path.parent) == before


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to look like one" * 99, b"x"]
)
def test_a_file_that_is_no_ledger_is_left_alone(ledger, path, content):
    path.write_bytes(content)
    for call in (ledger.check, ledger.entries, lambda: ledger.keep(envelope(2), AT)):
        refused("ledger_damaged", call)
    assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_cut_or_overwritten_ledger_is_an_error_and_stays(ledger, path):
    for n in range(200):
        ledger.keep(envelope(n), AT)
    good = path.read_bytes()
    for bad in (good[: len(good) // 2], good[:4096] + b"\xa5" * (len(good) - 4096)):
        path.write_bytes(bad)
        refused("ledger_damaged", ledger.entries)
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
        refused("ledger_damaged", ledger.entries)
        refused("ledger_damaged", ledger.keep, envelope(2), AT)
        assert log.read_bytes() == saved


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    missing = Ledger(tmp_path / "no" / "ledger.sqlite")
    refused("ledger_write", missing.check)
    refused("ledger_write", missing.keep, envelope(1), AT)
    refused("ledger_not_ours", Ledger(tmp_path).entries)


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
    refused("ledger_not_ours", ledger.entries)
    sql(path, "PRAGMA application_id = 1196573005")
    [entry] = ledger.entries()
    assert (entry.id, entry.envelope_json, entry.kept_at) == ("abc", "{}", "then")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("CAST(x'7b22ff227d' AS TEXT)", '{"\ufffd"}'),
        ("7", "7"),
        ("x'fe41'", "\ufffdA"),
        ("1.5", "1.5"),
    ],
)
def test_one_damaged_row_hides_no_other(ledger, path, value, text):
    ids = [ledger.keep(envelope(n), AT) for n in range(3)]
    # a column of type TEXT turns numbers to text unless the table is written below it
    sql(path, "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'envelope_json TEXT', 'envelope_json BLOB')")  # fmt: skip
    sql(path, f"UPDATE statements SET envelope_json = {value} WHERE id = '{ids[1]}'")  # noqa: S608
    newest, damaged, oldest = ledger.entries()
    assert (newest.id, damaged.id, oldest.id) == (ids[2], ids[1], ids[0])
    assert damaged.envelope_json == text == ledger.find(ids[1]).envelope_json
    assert from_json(oldest.envelope_json, "f") == envelope(0)
    with pytest.raises(StatementError) as caught:
        from_json(damaged.envelope_json, "f")
    assert caught.value.code == "bad_envelope"


MARKS = (f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {FORMAT}")
OURS = "number INTEGER PRIMARY KEY, id TEXT UNIQUE, payload_type TEXT, kept_at TEXT"


@pytest.mark.parametrize(
    "columns",
    [
        "number INTEGER PRIMARY KEY, id TEXT",
        "number INTEGER PRIMARY KEY, id TEXT, payload_type TEXT, envelope_json TEXT, kept_at TEXT",
        f"{OURS}, envelope_json TEXT, more TEXT NOT NULL",
        f"{OURS}, envelope_json INT CHECK (envelope_json < 3)",
    ],
)
def test_other_columns_are_told_before_a_measurement(ledger, path, columns):
    sql(path, f"CREATE TABLE statements ({columns})", *MARKS)
    refused("ledger_damaged", ledger.check)
    refused("ledger_damaged", ledger.keep, envelope(1), AT)


def test_a_ledger_without_its_table_is_told(ledger, path):
    sql(path, "CREATE TABLE other (x)", *MARKS)
    refused("ledger_damaged", ledger.check)
    refused("ledger_damaged", ledger.entries)


def test_a_folder_in_the_ledgers_place_is_told(ledger, path):
    path.mkdir()
    for call in (ledger.check, ledger.entries, lambda: ledger.keep(envelope(1), AT)):
        assert "is a folder" in refused("ledger_not_ours", call)


def test_of_a_damaged_ledger_what_stands_before_and_behind_the_damage_can_be_read(ledger, path):
    for n in range(200):
        ledger.keep(envelope(n), AT)
    assert ledger.still_readable() == 200
    sql(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    good = path.read_bytes()
    # one page of the rows, in the middle
    middle = good.index(b"eyJuIjoxMDB9") // 4096 * 4096
    bad = good[:middle] + b"\xa5" * 4096 + good[middle + 4096 :]
    path.write_bytes(bad)
    refused("ledger_damaged", ledger.entries)
    assert 150 < ledger.still_readable() < 200
    assert path.read_bytes() == bad
    path.write_bytes(b"not a database" * 99)
    assert ledger.still_readable() == 0
    assert Ledger(path.parent / "none" / "x").still_readable() == 0
    assert not (path.parent / "none").exists()


def test_a_ledger_that_another_program_locks_is_told_as_such(ledger, path, monkeypatch):
    monkeypatch.setattr("desktop.network.ledger.BUSY_S", 0.0)
    ledger.keep(envelope(1), AT)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        for call in (ledger.entries, ledger.check, lambda: ledger.keep(envelope(2), AT)):
            assert "locked" in refused("ledger_busy", call)
    assert len(ledger.entries()) == 1


def test_check_leaves_rows_and_numbers_as_they_are(ledger, path):
    first = ledger.keep(envelope(1), AT)
    size_bytes = path.stat().st_size
    for _ in range(3):
        ledger.check()
    assert [e.id for e in ledger.entries()] == [first]
    assert path.stat().st_size == size_bytes
    ledger.keep(envelope(2), AT)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT max(number) FROM statements").fetchone() == (2,)


def test_reading_changes_no_byte_and_leaves_no_file(ledger, path):
    found_id = ledger.keep(envelope(1), AT)
    sql(path, "PRAGMA journal_mode = DELETE")
    before = digest(path.parent)
    assert ledger.find(found_id).id == found_id
    assert digest(path.parent) == before


def test_names_that_a_uri_would_bend_are_read(tmp_path):
    path = tmp_path / "a%41 b#c" / "x&mode=memory.sqlite"
    path.parent.mkdir()
    found_id = Ledger(path).keep(envelope(1), AT)
    assert [e.id for e in Ledger(path).entries()] == [found_id]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@contextmanager
def disk(folder, size_kb):
    """A file system of that size; only root on Linux can make one."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting needs root on Linux")
    if mounted("-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", str(folder)):
        pytest.skip("no tmpfs can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def mounted(*arguments):
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode


def fill(folder, left_kb=0):
    free_bytes = shutil.disk_usage(folder).free - left_kb * 1024
    (folder / "ballast").write_bytes(bytes(free_bytes))
    assert shutil.disk_usage(folder).free == left_kb * 1024


@pytest.mark.parametrize("left_kb", [0, 40, 64])
def test_a_disk_without_room_is_told_before_a_measurement(tmp_path, left_kb):
    with disk(tmp_path, 1024) as folder:
        ledger = Ledger(folder / "ledger.sqlite")
        ledger.keep(envelope(1), AT)
        ledger.check()
        fill(folder, left_kb)
        refused("ledger_write", ledger.check)
        (folder / "ballast").unlink()
        ledger.check()
        assert len(ledger.entries()) == 1


def test_a_full_disk_can_be_read(tmp_path):
    with disk(tmp_path, 1024) as folder:
        ledger = Ledger(folder / "ledger.sqlite")
        ids = [ledger.keep(envelope(n), AT) for n in range(3)]
        fill(folder)
        assert [e.id for e in ledger.entries()] == ids[::-1]
        assert ledger.find(ids[0]).id == ids[0]


@pytest.mark.parametrize("log", [None, b""])
def test_a_read_only_disk_can_be_read_and_not_written(tmp_path, log):
    with disk(tmp_path, 1024) as folder:
        ledger = Ledger(folder / "ledger.sqlite")
        found_id = ledger.keep(envelope(1), AT)
        if log is not None:
            (folder / "ledger.sqlite-wal").write_bytes(log)
        assert mounted("-o", "remount,ro", str(folder)) == 0
        before = digest(folder)
        assert [e.id for e in ledger.entries()] == [found_id]
        assert ledger.find(found_id[:8]).id == found_id
        refused("ledger_write", ledger.check)
        refused("ledger_write", ledger.keep, envelope(2), AT)
        assert digest(folder) == before
