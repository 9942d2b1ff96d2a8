"""Own results read back from the ledger, and statements checked."""

import logging
from dataclasses import dataclass
from pathlib import Path

from desktop.builds.hashes import hashes_in
from desktop.builds.store import list_builds
from desktop.errors import GramError, StatementError
from desktop.identity.envelope import verify
from desktop.network.ledger import Ledger
from desktop.paths import Paths
from desktop.records.build import LocalBuild
from desktop.records.request import ResultRow
from desktop.records.run import Run
from desktop.records.statement import Statement
from desktop.rules.dsse import from_json
from desktop.rules.statements import RUN_TYPE, result_row, run_from_body

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Checked:
    """A statement whose signature holds, and the run in it if it is one."""

    statement: Statement
    run: Run | None


def result_rows(paths: Paths) -> tuple[ResultRow, ...]:
    """Every run kept here, newest first. A statement that does not hold is logged and left out.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    rows = []
    for entry in Ledger(paths.ledger).entries():
        if entry.payload_type != RUN_TYPE:
            continue
        try:
            checked = _checked(entry.envelope_json, entry.id[:12])
        except GramError as e:
            log.warning("kept statement %s does not hold: %s", entry.id[:12], e)
            continue
        if checked.run is not None:
            rows.append(result_row(checked.statement, checked.run))
    return tuple(rows)


def exported(paths: Paths, id_prefix: str) -> str:
    """The signed statement whose id starts so, as it was signed.

    Raises:
        LedgerError: `no_such_result`, or the ledger cannot be read.
    """
    return Ledger(paths.ledger).find(id_prefix).envelope_json


def verified(paths: Paths, file_or_id: Path) -> Checked:
    """Check the statement in a file, or the kept one whose id starts so.

    Raises:
        StatementError: it does not hold, or is no statement.
        LedgerError: there is neither such a file nor such a result.
    """
    if file_or_id.is_file():
        try:
            text = file_or_id.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise StatementError("bad_envelope", name=file_or_id.name, detail=str(e)) from e
        return _checked(text, file_or_id.name)
    return _checked(exported(paths, str(file_or_id)), str(file_or_id))


def builds_here(paths: Paths) -> tuple[LocalBuild, ...]:
    """The builds that Gram has here."""
    return list_builds(paths, hashes_in(paths))


def _checked(text: str, name: str) -> Checked:
    statement = verify(from_json(text, name))
    run = run_from_body(statement.body) if statement.payload_type == RUN_TYPE else None
    return Checked(statement, run)
