"""The ledger's row of `gram doctor`; of a damaged one what can be rescued, and the commands for it.

Nothing here moves or deletes a file: what is in it may be all that is left of results.
"""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Final

from desktop.errors import LedgerError
from desktop.network.ledger import LEDGER_MARKS, Ledger
from desktop.paths import Paths
from desktop.services.finding import FOLDER_FIRST, Finding

WHAT: Final = "Ledger"
_EMPTY: Final = "its file is there and empty (0 bytes), and the next result begins it anew"
_RESTORE: Final = "If results were kept here before, put a copy of the ledger in its place first."
_WINDOWS: Final = os.name == "nt"
_BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""What SQLite's files are called after the ledger's name (sqlite.org/tempfiles.html)."""
_READABLE: Final = "Statements that can still be read in it: {count}."
_RESCUE: Final = (
    "Nothing was changed, and Gram deletes nothing. Where there is a good copy, put that in its "
    "place. Else move it aside with all that belongs to it: {aside}. Then let SQLite's own tool "
    "(sqlite3) copy what it can read into a new one: {copy}. Where that finds too little, its "
    "`.recover` may find more. Every statement carries its signature: `gram verify ID` shows "
    "whether it holds. Without a copy Gram begins a new ledger, and the old one stays where you "
    "moved it."
)
_AWAY: Final = "Nothing was changed. Move it away, and Gram makes a ledger of its own: {aside}."


def ledger_finding(paths: Paths, *, room: bool) -> Finding:
    """Read, and written to where there is one: a file may refuse what its folder allows.

    Args:
        paths: the profile's folders.
        room: whether anything can be written there.
    """
    ledger = Ledger(paths.ledger)
    try:
        kept = f"statements kept: {len(ledger.entries())}"
    except LedgerError as e:
        return _unread(paths.ledger, e)
    if not room:
        return Finding(WHAT, "missing", f"{kept}; no further result can be kept", FOLDER_FIRST)
    return _writable(paths.ledger, ledger, kept)


def _writable(path: Path, ledger: Ledger, kept: str) -> Finding:
    if not path.exists():
        return Finding(WHAT, "ok", kept)
    if path.stat().st_size == 0:
        # nothing is written to it: who restores a copy finds it as it was
        return Finding(WHAT, "optional", f"{kept}: {_EMPTY}", _RESTORE)
    try:
        ledger.check()
    except LedgerError as e:
        if e.code == "ledger_damaged":
            return _unread(path, e)
        why = e.reason.params.get("detail", e.reason.text())
        detail = f"{kept}; no further result can be kept ({why})"
        return Finding(WHAT, "unusable", detail, e.reason.advice())
    return Finding(WHAT, "ok", kept)


def _unread(path: Path, error: LedgerError) -> Finding:
    said = error.reason
    match error.code:
        case "ledger_damaged":
            told = f"{said.text()} {_READABLE.format(count=Ledger(path).still_readable())}"
            return Finding(WHAT, "damaged", told, _rescue(path))
        case "ledger_not_ours":
            aside = _aside(path, _free(path, "other"))
            return Finding(WHAT, "unusable", said.text(), _AWAY.format(aside=aside))
        case _:
            return Finding(WHAT, "unusable", said.text(), said.advice())


def _rescue(path: Path) -> str:
    folder = _free(path, "damaged")
    old, new = _quoted(folder / path.name), _quoted(path)
    # `.recover` itself is lacking in builds of some systems
    clone = f"`sqlite3 {old} {_clone(path)}`"
    marks = f'`sqlite3 {new} "{LEDGER_MARKS}"`'
    return _RESCUE.format(aside=_aside(path, folder), copy=f"{clone}, {marks}")


def _clone(path: Path) -> str:
    """The tool's own command, as one word; within it the name stands in quotes of its own."""
    return f"\".clone '{path}'\"" if _WINDOWS else shlex.quote(f'.clone "{path}"')


def _aside(path: Path, folder: Path) -> str:
    """The commands that move the ledger, and what SQLite keeps beside it, into a new folder."""
    beside = (path.with_name(path.name + end) for end in _BESIDE)
    files = [_quoted(file) for file in beside if os.path.lexists(file)]
    into = _quoted(folder)
    moved = [f"move {file} {into}" for file in files] if _WINDOWS else [_moved(files, into)]
    return ", ".join(f"`{command}`" for command in (f"mkdir {into}", *moved))


def _moved(files: list[str], into: str) -> str:
    return " ".join(("mv", *files, into))


def _free(path: Path, word: str) -> Path:
    """A folder beside that is not there yet: `ledger.damaged-1`."""
    number = 1
    while os.path.lexists(folder := path.with_name(f"{path.stem}.{word}-{number}")):
        number += 1
    return folder


def _quoted(path: Path) -> str:
    """As a shell takes it for one word."""
    quote: Callable[[str], str] = _double_quoted if _WINDOWS else shlex.quote
    return quote(str(path))


def _double_quoted(text: str) -> str:
    # no name on Windows has a quotation mark
    return f'"{text}"'
