"""What the terminal prints: tables and short lists, for people."""

from collections.abc import Iterable, Iterator

from rich.table import Table

from desktop.cli import figures, parts_show
from desktop.cli.costs import lines as cost_lines
from desktop.cli.figures import DASH
from desktop.cli.output import say
from desktop.cli.tables import cell, lines, print_facts, print_table
from desktop.records.cost import Costs
from desktop.records.events import RunFinished
from desktop.records.run import Note, Plan, Rate, Run
from desktop.rules.marks import SIGNS, marks_of
from desktop.rules.notes import RUN_WORDS, other_percent
from desktop.rules.rates import energy_per_token_j
from desktop.services.finding import FAULTS, Finding
from desktop.services.power_facts import PowerFacts
from desktop.services.results import Checked

WHOLE_PERCENT = 98
DERIVED = "Not signed: by the settings of today, what a million generated tokens cost here."
PLACES = {"used": "green", "readable": "", "not readable": "yellow"}
STATES = {"ok": "green", "optional": "yellow", **dict.fromkeys(FAULTS, "red")}
"""The words of `gram power` and `gram doctor`, and their colours."""


def run_finished(done: RunFinished, costs: Costs) -> None:
    """The result of `gram bench`."""
    _run(done.run)
    print_facts(*cost_lines(costs))
    print_facts(("Signature", figures.signature(done.key_id, done.statement_id)))


def statement(checked: Checked, costs: Costs | None) -> None:
    """`gram verify`, and `gram results` of one result.

    Args:
        checked: the statement, and what is in it.
        costs: of a run that is kept here; None of everything else.
    """
    said = checked.statement
    print_facts(
        ("Signature", f"holds: signed by {said.short_key}"),
        ("Key", said.key_id),
        ("Statement", f"{said.id} ({said.payload_type})"),
    )
    if checked.run is not None:
        _run(checked.run)
    if checked.parts is not None:
        parts_show.parts(checked.parts)
    if costs is not None:
        print_facts(("Derived", DERIVED), *cost_lines(costs))


def findings(found: Iterable[Finding]) -> None:
    """`gram doctor`."""
    table = _three_columns()
    for finding in found:
        text = lines(finding.detail)
        if finding.advice:
            text.append("\n").append_text(lines(finding.advice, "dim"))
        table.add_row(cell(finding.what), cell(finding.state, STATES[finding.state]), text)
    print_table(table)


def power(facts: PowerFacts) -> None:
    """`gram power`."""
    now = facts.now
    print_facts(
        ("Power now", figures.watts(now.watts_w)),
        ("Mean", f"{figures.watts(now.mean_w)} over {now.seconds:.1f} s"),
        ("Source", figures.meter(now.meter)),
        ("", now.meter.detail),
    )
    say("")
    say("Where watts were looked for, the best first:")
    table = _three_columns()
    for place in facts.places:
        detail = "" if place.state == "used" else place.detail
        table.add_row(cell(place.name), cell(place.state, PLACES[place.state]), cell(detail))
    print_table(table)


def _three_columns() -> Table:
    """Without heads: a name, its state, and what is said of it."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    return table


def _run(run: Run) -> None:
    build = run.build
    synthetic = " (synthetic)" if build.synthetic else ""
    print_facts(
        ("Build", f"{build.name}{synthetic}, {figures.size(build.size_bytes)}"),
        ("Engine", _engine_line(run)),
        *((f"{_test(r.test)} ({r.test})", _rate_line(r, run.plan)) for r in run.rates),
        *((f"Energy ({test})", _energy_line(run, test)) for test, _ in run.energy),
        *_idle(run),
        ("Memory held", _memory_line(run)),
        *(("Note", _note(note, run)) for note in run.notes),
    )


def _note(note: Note, run: Run) -> str:
    """With the sign that stands at the figures that it is of."""
    words = RUN_WORDS[note].format(percent=other_percent(run))
    return f"{SIGNS[note]}  {words}" if note in SIGNS else words


def _rate_line(rate: Rate, plan: Plan) -> str:
    peak = figures.number(rate.peak_tok_s)
    times = "1 repetition" if rate.repetitions == 1 else f"{rate.repetitions} repetitions"
    figure = figures.marked(figures.rate(rate), marks_of(rate.spread, plan.target_spread))
    return f"{figure}   ({times}, peak {peak})"


def _engine_line(run: Run) -> str:
    engine = run.engine
    threads = f"{engine.threads} thread{'s' if engine.threads != 1 else ''}"
    return f"{engine.name} {engine.version}, {engine.backend}, {threads}"


def _energy_line(run: Run, test: str) -> str:
    energy, per_token_j = dict(run.energy)[test], energy_per_token_j(run, test)
    if per_token_j is None:
        return DASH
    percent = round(100 * energy.covered)
    covered = "" if percent > WHOLE_PERCENT else f", from {percent} % of the time"
    return f"{figures.number(per_token_j)} J/token, {figures.source(energy)}{covered}"


def _idle(run: Run) -> Iterator[tuple[str, str]]:
    """What the machine drew before the run, by the same meter; nothing where it was not read."""
    known = next((energy for _, energy in run.energy if energy.idle_w is not None), None)
    if known is not None:
        yield "Idle before it", f"{figures.watts(known.idle_w)}, {figures.source(known)}"


def _memory_line(run: Run) -> str:
    held = run.memory
    size = figures.size
    return (
        f"weights {size(held.weights_bytes)}, KV cache {size(held.kv_cache_bytes)}, "
        f"buffers {size(held.compute_bytes)}; "
        f"process at most {size(held.process_peak_bytes)}{_untouched(run)}"
    )


def _untouched(run: Run) -> str:
    """Why the process holds less than was set aside; a card's memory is none of the process."""
    held = run.memory
    parts = (held.weights_bytes, held.kv_cache_bytes, held.compute_bytes)
    set_aside, peak = sum(part or 0 for part in parts), held.process_peak_bytes
    if run.engine.backend != "CPU" or peak is None or set_aside <= peak:
        return ""
    return ", as not all that is set aside is touched"


def _test(name: str) -> str:
    return "Prompt" if name.startswith("pp") else "Generation"
