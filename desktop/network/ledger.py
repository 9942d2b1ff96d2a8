"""Own signed statements, kept for ever in one SQLite file. Never lost, never changed.

Each call opens a connection of its own, so any thread and any process may call. Write-ahead log and
`synchronous=FULL`: what `keep` has answered is on the disk (sqlite.org/wal.html, pragma.html).
Reading needs neither room nor the right to write (sqlite.org/uri.html, `immutable`).
"""

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from desktop.errors import LedgerError
from desktop.records.statement import Envelope, LedgerEntry
from desktop.rules.dsse import statement_id, to_json

FORMAT: Final = 1
APPLICATION_ID: Final = 0x4752414D
"""`GRAM` in ASCII; `file` and SQLite's tools show it."""
LEDGER_MARKS: Final = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}"
"""What tells a ledger from another program's file, as SQL; copies made by other tools lack it."""
BUSY_S: Final = 15.0
_SMALLEST_PAGE_BYTES: Final = 512
_ROOM_BYTES: Final = 131_072
"""What `check` writes: a long statement's 64 kB, and as much again as SQLite may hold back."""
_TABLE = """
CREATE TABLE statements (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    payload_type TEXT NOT NULL,
    envelope_json TEXT NOT NULL,
    kept_at TEXT NOT NULL
)
"""
_COLUMNS = "SELECT id, payload_type, envelope_json, kept_at FROM statements"
_ID_PREFIX = re.compile("[0-9a-f]{1,64}")
_MAX_SHOWN = 80
# not an SQLite file, or one whose table is not ours
_DAMAGED = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_CONSTRAINT,
    }
)
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
# a full or read-only disk takes no file beside the ledger
_NO_ROOM_BESIDE = frozenset(
    {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
    }
)


class Ledger:
    """The ledger in one file. Making the object touches nothing; reading never makes the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self) -> None:
        """Write a long row and take it back; change nothing but to make the file when missing.

        Call it before a measurement, so that a ledger that cannot keep the result is told first.

        Raises:
            LedgerError: `ledger_write` (no room, read-only), or one of those of `entries`.
        """
        self._write(_rehearse)

    def keep(self, envelope: Envelope, kept_at: str) -> str:
        """Keep a statement; return its id once it is on the disk. The same twice is one row.

        Args:
            envelope: sealed.
            kept_at: RFC 3339, UTC.

        Raises:
            LedgerError: `ledger_write` (full or read-only disk), or one of those of `entries`.
        """
        found_id = statement_id(envelope.payload)
        row = (found_id, envelope.payload_type, to_json(envelope), kept_at)
        self._write(lambda db: _insert(db, row))
        return found_id

    def entries(self) -> tuple[LedgerEntry, ...]:
        """All statements, the one that was kept last first; empty when there is no file.

        A damaged row is among them, with what is left of it: verifying tells that it does not hold.

        Raises:
            LedgerError: `ledger_damaged`, `ledger_not_ours` (a folder, another program's file),
                `ledger_newer`, `ledger_busy` (locked by another program for `BUSY_S`), or
                `ledger_open` (the system refuses to read it).
        """
        return self._read(" ORDER BY number DESC", ())

    def still_readable(self) -> int:
        """How many rows of a damaged ledger can be read all the same. Changes nothing.

        Never raises: of what is too damaged to be opened there are none.
        """
        numbers: set[str] = set()
        for order in ("ASC", "DESC"):  # up to the damage, from either end
            with suppress(sqlite3.Error, OSError):
                numbers.update(_numbers(self._path, order))
        return len(numbers)

    def find(self, id_prefix: str) -> LedgerEntry:
        """The one statement whose id starts so.

        Raises:
            LedgerError: `no_such_result`, `ambiguous_result`, or one of those of `entries`.
        """
        wanted = id_prefix.strip().lower()
        found: tuple[LedgerEntry, ...] = ()
        if _ID_PREFIX.fullmatch(wanted):
            found = self._read(" WHERE substr(id, 1, ?) = ?", (len(wanted), wanted))
        if not found:
            raise LedgerError("no_such_result", id=_shown(id_prefix))
        if len(found) > 1:
            raise LedgerError("ambiguous_result", id=wanted, count=len(found))
        return found[0]

    def close(self) -> None:
        """Nothing stays open between calls; here so that owners can close what they opened."""

    def _is_missing(self) -> bool:
        return not self._path.exists() and not self._log().exists()

    def _log(self) -> Path:
        return self._path.with_name(f"{self._path.name}-wal")

    def _has_log(self) -> bool:
        log = self._log()
        return log.exists() and log.stat().st_size > 0

    def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        with _errors("ledger_write"):
            self._check_stubs()
            with _opened(self._path) as db:
                work(db)

    def _read(self, rest: str, values: tuple[int | str, ...]) -> tuple[LedgerEntry, ...]:
        with _errors("ledger_open"):
            if self._is_missing():
                return ()
            self._check_stubs()
            try:
                return _read(self._path, "mode=rw", rest, values)
            except sqlite3.OperationalError as e:
                # without a log all is in the file itself, and nobody can be writing it
                if _kind(e) not in _NO_ROOM_BESIDE or self._has_log():
                    raise
            return _read(self._path, "mode=ro&immutable=1", rest, values)

    def _check_stubs(self) -> None:
        """Refuse what SQLite would write over: a stub, and the log of a file that is gone.

        And a pipe, which it would wait at for ever.
        """
        for path in (self._path, self._log()):
            if path.exists() and not path.is_file():
                what = "a folder" if path.is_dir() else "something else"
                detail = f"it is {what}, not a file"
                raise LedgerError("ledger_not_ours", name=path.name, detail=detail)
        size_bytes = self._path.stat().st_size if self._path.exists() else 0
        if 0 < size_bytes < _SMALLEST_PAGE_BYTES:
            raise LedgerError("ledger_damaged", detail="the file is cut")
        if size_bytes:
            return
        if self._has_log():
            gone = f"{self._path.name} is gone, its log is there"
            raise LedgerError("ledger_damaged", detail=gone)


@contextmanager
def _errors(code: str) -> Iterator[None]:
    """Tell what SQLite and the system say; `code` is the error where the file is not at fault."""
    try:
        yield
    except sqlite3.Error as e:
        kind = _kind(e)
        busy = "ledger_busy" if kind in _BUSY else code
        raise LedgerError("ledger_damaged" if kind in _DAMAGED else busy, detail=str(e)) from e
    except OSError as e:
        raise LedgerError(code, detail=(e.strerror or str(e)).lower()) from e


def _kind(error: sqlite3.Error) -> int:
    """The extended codes carry the kind of error in their low byte."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        db.execute("PRAGMA synchronous = FULL")
        with _transaction(db, "BEGIN"):
            known = _is_known(db, path)
        if not known:
            _create(db, path)
        # refused while others read a file that is new or may not be written; the older journal is
        # as safe, only slower
        with suppress(sqlite3.OperationalError):
            db.execute("PRAGMA journal_mode = WAL")
        yield db
    finally:
        db.close()


def _is_known(db: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is a ledger; False when it is empty. Reads only.

    Call it in a transaction, as another process may be making the file just now.

    Raises:
        LedgerError: `ledger_newer`; `ledger_not_ours` when it belongs to another program.
    """
    application = _pragma(db, "application_id")
    found = _pragma(db, "user_version")
    empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application == 0 and found == 0 and empty:
        return False
    if application != APPLICATION_ID:
        detail = "it belongs to another program"
        raise LedgerError("ledger_not_ours", name=path.name, detail=detail)
    if found > FORMAT:
        raise LedgerError("ledger_newer", found=found, known=FORMAT)
    return True


def _create(db: sqlite3.Connection, path: Path) -> None:
    """Make the table in one transaction: another process sees all of it or nothing."""
    with _transaction(db, "BEGIN IMMEDIATE"):
        if not _is_known(db, path):
            db.execute(_TABLE)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {FORMAT}")


@contextmanager
def _transaction(db: sqlite3.Connection, begin: str) -> Iterator[None]:
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def _rehearse(db: sqlite3.Connection) -> None:
    """Keep a row and take it back: shows that there is room, and that the table is ours."""
    # with next to no cache the pages go to the disk at once and not at a commit
    db.execute("PRAGMA cache_size = 1")
    db.execute("PRAGMA cache_spill = 1")
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute(_COLUMNS + " LIMIT 1").fetchall()
        _insert(db, ("check", "check", "x" * _ROOM_BYTES, "check"))
    finally:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")


def _insert(db: sqlite3.Connection, row: tuple[str, str, str, str]) -> None:
    db.execute(
        "INSERT INTO statements (id, payload_type, envelope_json, kept_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (id) DO NOTHING",
        row,
    )


def _read(
    path: Path, how: str, rest: str, values: tuple[int | str, ...]
) -> tuple[LedgerEntry, ...]:
    """The rows of a ledger that is not changed by it; none when the file is empty."""
    with closing(sqlite3.connect(f"{_uri(path)}?{how}", BUSY_S, uri=True)) as db:
        db.isolation_level = None
        db.execute("PRAGMA query_only = ON")
        db.text_factory = _text
        with _transaction(db, "BEGIN"):
            if not _is_known(db, path):
                return ()
            return tuple(
                LedgerEntry(*map(_text, row)) for row in db.execute(_COLUMNS + rest, values)
            )


def _numbers(path: Path, order: str) -> Iterator[str]:
    """Of the rows that can be read in that order; the error comes where the damage is."""
    with closing(sqlite3.connect(f"{_uri(path)}?mode=ro", BUSY_S, uri=True)) as db:
        db.text_factory = _text
        rows = "SELECT number, id, payload_type, envelope_json FROM statements ORDER BY number"
        for row in db.execute(f"{rows} {order}"):
            yield str(row[0])


def _uri(path: Path) -> str:
    """As SQLite reads it: three slashes before a drive, four before a share."""
    text = quote(os.fsencode(path.absolute().as_posix()))
    return f"file://{text}" if text.startswith("/") else f"file:///{text}"


def _text(value: object) -> str:
    """One damaged row must not hide the others, so whatever stands there becomes text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _shown(text: str) -> str:
    """Fit for any screen: short, and without halves of surrogate pairs."""
    return text[:_MAX_SHOWN].encode("utf-8", "backslashreplace").decode("utf-8")


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])
