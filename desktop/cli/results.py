"""`gram results` and `gram verify`: what was kept, and statements checked."""

import sys
from typing import Final

from desktop.cli import results_show, show
from desktop.cli.costs import costs_today
from desktop.cli.output import say_json, say_json_text
from desktop.cli.plain import to_plain
from desktop.cli.statements import statement_json
from desktop.errors import StatementError
from desktop.paths import Paths
from desktop.rules.dsse import MAX_BYTES
from desktop.services.results import (
    Checked,
    exported,
    kept_statement,
    parts_rows,
    result_rows,
    verified,
    verified_bytes,
)

STDIN: Final = "-"


def list_all(paths: Paths, *, only_parts: bool, as_json: bool) -> None:
    """Every run and all parts that are kept; for programs one of the two lists.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    if as_json:
        say_json(to_plain(parts_rows(paths) if only_parts else result_rows(paths)))
    elif only_parts:
        results_show.parts(parts_rows(paths))
    else:
        results_show.everything(result_rows(paths), parts_rows(paths))


def export(paths: Paths, id_prefix: str) -> None:
    """Print a kept statement as it was signed.

    Raises:
        StatementError: `nothing_named`.
        LedgerError: there is no such result.
    """
    # unlike other foreign text it stays as it was written, or its signature would not fit
    say_json_text(exported(paths, _named(id_prefix)))


def show_one(paths: Paths, id_prefix: str, *, as_json: bool) -> None:
    """Show a kept result in full, with what it cost by the settings of today.

    Raises:
        StatementError: `nothing_named`, or it does not hold.
        LedgerError: there is no such result.
    """
    _show(paths, kept_statement(paths, _named(id_prefix)), as_json=as_json)


def verify(paths: Paths, name: str, *, as_json: bool) -> None:
    """Check and show the statement in a file, of an id, or, for `-`, of standard input.

    Raises:
        StatementError: `nothing_named`, there is neither such a file nor such a result, or it does
            not hold.
        LedgerError: the ledger cannot be read.
    """
    if name == STDIN:
        checked = verified_bytes(sys.stdin.buffer.read(MAX_BYTES + 1), "standard input")
    else:
        checked = verified(paths, _named(name))
    _show(paths, checked, as_json=as_json)


def _show(paths: Paths, checked: Checked, *, as_json: bool) -> None:
    # what somebody else's run cost is not for this machine's settings to say
    costs = costs_today(paths, checked.run) if checked.kept and checked.run else None
    if as_json:
        say_json(statement_json(checked, costs))
    else:
        show.statement(checked, costs)


def _named(name: str) -> str:
    """Raises StatementError `nothing_named`: an empty text stands for no file and no id."""
    if not name.strip():
        raise StatementError("nothing_named")
    return name
