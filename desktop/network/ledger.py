"""Own signed statements, kept for ever in one SQLite file. Never lost, never changed.

Each call opens a connection of its own, so any thread and any process may call. Write-ahead log and
`synchronous=FULL`: what `keep` has answered is on the disk (sqlite.org/wal.html, pragma.html).
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from desktop.errors import LedgerError
from desktop.records.statement import Envelope, LedgerEntry
from desktop.rules.dsse import statement_id, to_json

FORMAT: Final = 1
APPLICATION_ID: Final = 0x4752414D
"""`GRAM` in ASCII; `file` and SQLite's tools show it."""
BUSY_S: Final = 15.0
_SMALLEST_PAGE_BYTES: Final = 512
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
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_T = TypeVar("_T")


class Ledger:
    """The ledger in one file. Making the object touches nothing; reading never makes the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self) -> None:
        """Open it for writing and change nothing but to make it when it is missing.

        Call it before a measurement, so that a ledger that cannot keep the result is told first.

        Raises:
            LedgerError: `ledger_open` (damaged), `ledger_newer`, or `ledger_write`.
        """
        self._do("ledger_write", _lock_and_release)

    def keep(self, envelope: Envelope, kept_at: str) -> str:
        """Keep a statement; return its id once it is on the disk. The same twice is one row.

        Args:
            envelope: sealed.
            kept_at: RFC 3339, UTC.

        Raises:
            LedgerError: `ledger_write` (full or read-only disk), `ledger_open`, `ledger_newer`.
        """
        found_id = statement_id(envelope.payload)
        row = (found_id, envelope.payload_type, to_json(envelope), kept_at)
        self._do("ledger_write", lambda db: _insert(db, row))
        return found_id

    def entries(self) -> tuple[LedgerEntry, ...]:
        """All statements, the one that was kept last first; empty when there is no file.

        Raises:
            LedgerError: `ledger_open`, `ledger_newer`.
        """
        if self._is_missing():
            return ()
        return self._do("ledger_open", lambda db: _select(db, " ORDER BY number DESC", ()))

    def find(self, id_prefix: str) -> LedgerEntry:
        """The one statement whose id starts so.

        Raises:
            LedgerError: `no_such_result`, `ambiguous_result`, `ledger_open`, `ledger_newer`.
        """
        wanted = id_prefix.strip().lower()
        where = " WHERE substr(id, 1, ?) = ?"
        values = (len(wanted), wanted)
        found: tuple[LedgerEntry, ...] = ()
        if not self._is_missing():
            found = self._do("ledger_open", lambda db: _select(db, where, values))
        if not found:
            raise LedgerError("no_such_result", id=id_prefix)
        if len(found) > 1:
            raise LedgerError("ambiguous_result", id=id_prefix, count=len(found))
        return found[0]

    def close(self) -> None:
        """Nothing stays open between calls; here so that owners can close what they opened."""

    def _is_missing(self) -> bool:
        return not self._path.exists() and not self._log().exists()

    def _log(self) -> Path:
        return self._path.with_name(f"{self._path.name}-wal")

    def _do(self, code: str, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work` on a fresh connection; `code` is the error where the file is not at fault."""
        try:
            self._check_stubs()
            with _opened(self._path) as db:
                return work(db)
        except sqlite3.Error as e:
            # the extended codes carry the kind of error in their low byte
            kind = getattr(e, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            raise LedgerError("ledger_open" if kind in _DAMAGED else code, detail=str(e)) from e
        except OSError as e:
            raise LedgerError(code, detail=(e.strerror or str(e)).lower()) from e

    def _check_stubs(self) -> None:
        """Refuse what SQLite would write over: a stub, and the log of a file that is gone."""
        size_bytes = self._path.stat().st_size if self._path.exists() else 0
        if 0 < size_bytes < _SMALLEST_PAGE_BYTES:
            raise LedgerError("ledger_open", detail="the file is cut")
        if size_bytes:
            return
        log = self._log()
        if log.exists() and log.stat().st_size:
            raise LedgerError("ledger_open", detail=f"{self._path.name} is gone, its log is there")


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        db.execute("PRAGMA synchronous = FULL")
        with _transaction(db, "BEGIN"):
            known = _is_known(db)
        if not known:
            _create(db)
        # refused while others read a file that is new or may not be written; the older journal is
        # as safe, only slower
        with suppress(sqlite3.OperationalError):
            db.execute("PRAGMA journal_mode = WAL")
        yield db
    finally:
        db.close()


def _is_known(db: sqlite3.Connection) -> bool:
    """Whether the file is a ledger; False when it is empty. Reads only.

    Call it in a transaction, as another process may be making the file just now.

    Raises:
        LedgerError: `ledger_newer`; `ledger_open` when it belongs to another program.
    """
    application = _pragma(db, "application_id")
    found = _pragma(db, "user_version")
    empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application == 0 and found == 0 and empty:
        return False
    if application != APPLICATION_ID:
        raise LedgerError("ledger_open", detail="the file belongs to another program")
    if found > FORMAT:
        raise LedgerError("ledger_newer", found=found, known=FORMAT)
    return True


def _create(db: sqlite3.Connection) -> None:
    """Make the table in one transaction: another process sees all of it or nothing."""
    with _transaction(db, "BEGIN IMMEDIATE"):
        if not _is_known(db):
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


def _lock_and_release(db: sqlite3.Connection) -> None:
    with _transaction(db, "BEGIN IMMEDIATE"):
        pass  # the lock alone needs a file that may be written


def _insert(db: sqlite3.Connection, row: tuple[str, str, str, str]) -> None:
    db.execute(
        "INSERT INTO statements (id, payload_type, envelope_json, kept_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (id) DO NOTHING",
        row,
    )


def _select(
    db: sqlite3.Connection, rest: str, values: tuple[int | str, ...]
) -> tuple[LedgerEntry, ...]:
    return tuple(LedgerEntry(*row) for row in db.execute(_COLUMNS + rest, values))


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])
