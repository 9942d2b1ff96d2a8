"""Signed statements as programs get them: one shape, whoever asks."""

from desktop.cli.costs import plain as plain_costs
from desktop.cli.plain import Plain, to_plain
from desktop.records.cost import Costs
from desktop.records.parts import Parts
from desktop.records.run import Run
from desktop.rules.notes import notes_of_parts
from desktop.rules.parts_rates import rates_of
from desktop.services.results import Checked


def statement_json(checked: Checked, costs: Costs | None = None) -> Plain:
    """A checked statement, and what follows from it: rates and notes of parts, costs of a run."""
    said = checked.statement
    return {
        "statement_id": said.id,
        "key_id": said.key_id,
        "statement": to_plain(said),
        **_contents(checked.run, checked.parts),
        "costs": plain_costs(costs) if costs else None,
    }


def unsigned_parts_json(parts: Parts) -> Plain:
    """The same of parts that are neither signed nor kept."""
    nothing = dict.fromkeys(("statement_id", "key_id", "statement"))
    return {**nothing, **_contents(None, parts), "costs": None}


def unsigned_run_json(run: Run, costs: Costs) -> Plain:
    """The same of a run that is neither signed nor kept."""
    nothing = dict.fromkeys(("statement_id", "key_id", "statement"))
    return {**nothing, **_contents(run, None), "costs": plain_costs(costs)}


def _contents(run: Run | None, parts: Parts | None) -> dict[str, Plain]:
    return {
        "run": to_plain(run),
        "parts": to_plain(parts),
        "rates": to_plain(rates_of(parts)) if parts else None,
        "notes": to_plain(notes_of_parts(parts) if parts else run.notes if run else ()),
    }
