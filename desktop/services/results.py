"""Own results read back from the ledger, and statements checked."""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from desktop.builds.hashes import hashes_in
from desktop.builds.reference import FILE_VARIABLE, reference
from desktop.builds.store import find_build, list_builds
from desktop.errors import GramError, LedgerError, StatementError
from desktop.identity.envelope import verify
from desktop.network.ledger import Ledger
from desktop.paths import Paths
from desktop.records.build import LocalBuild
from desktop.records.events import PartsKnown
from desktop.records.parts import Parts, PartsRow
from desktop.records.request import ResultRow
from desktop.records.run import Run
from desktop.records.statement import Statement
from desktop.rules.dsse import MAX_BYTES, from_json
from desktop.rules.notes import notes_of_parts
from desktop.rules.parts_rates import rates_of
from desktop.rules.parts_row import parts_row
from desktop.rules.statements import (
    PARTS_TYPE,
    RUN_TYPE,
    parts_from_body,
    result_row,
    run_from_body,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Checked:
    """A statement whose signature holds, and the run or the parts in it if it is of that type."""

    statement: Statement
    run: Run | None
    parts: Parts | None = None
    kept: bool = False
    """It lies in this machine's ledger, so this machine's settings tell what it cost."""


def result_rows(paths: Paths) -> tuple[ResultRow, ...]:
    """Every run kept here, newest first. A statement that does not hold is logged and left out.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    found = _kept(paths, RUN_TYPE)
    return tuple(result_row(kept.statement, kept.run) for kept in found if kept.run is not None)


def parts_rows(paths: Paths) -> tuple[PartsRow, ...]:
    """All parts kept here, newest first. A statement that does not hold is logged and left out.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    found = _kept(paths, PARTS_TYPE)
    return tuple(parts_row(kept.statement, kept.parts) for kept in found if kept.parts is not None)


def kept_runs(paths: Paths) -> Iterator[Run]:
    """Every run kept here, newest first. A statement that does not hold is logged and left out.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    return (kept.run for kept in _kept(paths, RUN_TYPE) if kept.run is not None)


def newest_parts(paths: Paths) -> PartsKnown:
    """The newest parts kept here; without rates where there are none.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    kept = _last_parts(paths)
    if kept is None or kept.parts is None:
        return PartsKnown()
    return PartsKnown(
        rates_of(kept.parts),
        kept.parts.started_at,
        kept.statement.key_id,
        skipped=kept.parts.skipped,
        devices=kept.parts.devices,
        notes=notes_of_parts(kept.parts),
    )


def kept_parts_newest_first(paths: Paths) -> Iterator[Parts]:
    """All parts kept here, whole. A statement that does not hold is logged and left out.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    return (kept.parts for kept in _kept(paths, PARTS_TYPE) if kept.parts is not None)


def kept_parts(paths: Paths) -> Checked:
    """The newest parts kept here, with their statement.

    Raises:
        LedgerError: `no_parts_kept`, or the ledger cannot be read.
    """
    kept = _last_parts(paths)
    if kept is None:
        raise LedgerError("no_parts_kept")
    return kept


def _last_parts(paths: Paths) -> Checked | None:
    return next((kept for kept in _kept(paths, PARTS_TYPE) if kept.parts is not None), None)


def exported(paths: Paths, id_prefix: str) -> str:
    """The signed statement whose id starts so, as it was signed.

    Raises:
        LedgerError: `no_such_result`, or the ledger cannot be read.
    """
    return Ledger(paths.ledger).find(id_prefix).envelope_json


def verified(paths: Paths, file_or_id: str) -> Checked:
    """Check the statement in a file, or the kept one whose id starts so.

    Raises:
        StatementError: `no_file_no_result`; `file_not_found` for what can only be a path;
            `is_folder`; it does not hold, or is no statement.
        LedgerError: several results have such an id, or the ledger cannot be read.
    """
    path = Path(file_or_id)
    if _is_file(path):
        return verified_bytes(_read(path), path.name)
    try:
        return kept_statement(paths, file_or_id)
    except LedgerError as e:
        if e.code != "no_such_result":
            raise
        raise StatementError(_why_neither(path), name=file_or_id) from e


def _why_neither(path: Path) -> str:
    """The code for a name that is no file's and that no id begins with."""
    if _is_folder(path):
        return "is_folder"
    # what names a folder too is meant as a path
    return "file_not_found" if path.is_absolute() or len(path.parts) > 1 else "no_file_no_result"


def verified_bytes(told: bytes, name: str) -> Checked:
    """Check the statement that `told` holds; `name` is said in errors.

    Raises:
        StatementError: it does not hold, or is no statement.
    """
    try:
        text = told.decode("utf-8")
    except UnicodeDecodeError as e:
        raise StatementError("bad_envelope", name=name, detail="it is not UTF-8") from e
    return _checked(text, name)


def kept_statement(paths: Paths, id_prefix: str) -> Checked:
    """The kept statement whose id starts so, checked.

    Raises:
        StatementError: it does not hold.
        LedgerError: `no_such_result`, or the ledger cannot be read.
    """
    return replace(_checked(exported(paths, id_prefix), id_prefix), kept=True)


def builds_here(paths: Paths) -> tuple[LocalBuild, ...]:
    """The builds that Gram has here, and the reference build where the environment names it."""
    hashes = hashes_in(paths)
    found = list_builds(paths, hashes)
    named = os.environ.get(FILE_VARIABLE)
    if not named or any(b.build.sha256 == reference().sha256 for b in found):
        return found
    try:
        return (*found, find_build(named, paths, hashes))
    except GramError as e:
        log.warning("the reference build that is named cannot be used: %s", e)
        return found


def _is_file(path: Path) -> bool:
    """Whether it is one; a name that the system does not take is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _read(path: Path) -> bytes:
    """The file, no more of it than a statement may have."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as e:
        detail = e.strerror or "it cannot be read"
        raise StatementError("bad_envelope", name=path.name, detail=detail) from e


def _kept(paths: Paths, payload_type: str) -> Iterator[Checked]:
    """Kept statements of a type, newest first. One that does not hold is logged and left out."""
    for entry in Ledger(paths.ledger).entries():
        if entry.payload_type != payload_type:
            continue
        try:
            yield replace(_checked(entry.envelope_json, entry.id[:12]), kept=True)
        except GramError as e:
            log.warning("kept statement %s does not hold: %s", entry.id[:12], e)


def _checked(text: str, name: str) -> Checked:
    statement = verify(from_json(text, name))
    body, kind = statement.body, statement.payload_type
    run = run_from_body(body) if kind == RUN_TYPE else None
    return Checked(statement, run, parts_from_body(body) if kind == PARTS_TYPE else None)
