"""What the terminal prints: tables and short lists, for people."""

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from desktop.cli import figures
from desktop.cli.figures import DASH
from desktop.cli.notes import NOTES
from desktop.records.build import LocalBuild
from desktop.records.events import RunFinished
from desktop.records.machine import Device, Machine
from desktop.records.request import ResultRow
from desktop.records.run import Rate, Run
from desktop.rules.rates import energy_per_token_j
from desktop.services.doctor import Finding
from desktop.services.facts import MachineFacts
from desktop.services.results import Checked

PIPED_WIDTH = 140
WHOLE_PERCENT = 98
STATES = {"ok": "[green]ok[/]", "optional": "[yellow]optional[/]", "missing": "[red]missing[/]"}


def machine(facts: MachineFacts) -> None:
    """`gram machine`."""
    here = facts.machine
    _facts(
        ("Kind of machine", facts.kind),
        ("System", f"{here.os} {here.os_version} ({here.architecture})"),
        ("Processor", here.cpu.name or DASH),
        ("Cores", f"{here.cpu.physical_cores or DASH} physical, {here.cpu.logical_cores} logical"),
        ("Memory", figures.size(here.ram_bytes)),
        ("Virtual", here.virtual or "no sign of it"),
        *_cards(here),
        ("Power", f"{facts.meter.source} ({facts.meter.name})"),
        ("", facts.meter.detail),
        *_engine(facts),
    )


def run_finished(done: RunFinished) -> None:
    """The result of `gram bench`."""
    _run(done.run)
    if done.key_id and done.statement_id:
        signed = f"signed ·{done.key_id[-6:]}, kept as {done.statement_id[:12]}"
        _facts(("Signature", signed))
    else:
        _facts(("Signature", "not signed, not kept"))


def results(rows: Sequence[ResultRow]) -> None:
    """`gram results`."""
    if not rows:
        print_line("Nothing was measured here yet. Start with `gram bench`.")
        return
    table = Table(box=None, pad_edge=False)
    for head in ("id", "when (UTC)"):
        table.add_column(head, no_wrap=True)
    table.add_column("build", overflow="fold")
    for head in ("prompt tok/s", "generation tok/s", "J/token"):
        table.add_column(head, justify="right")
    table.add_column("signed", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in _result_cells(row)))
    _print(table)


def statement(checked: Checked) -> None:
    """`gram verify`."""
    said = checked.statement
    _facts(
        ("Signature", f"holds: signed by {said.short_key}"),
        ("Key", said.key_id),
        ("Statement", f"{said.id} ({said.payload_type})"),
    )
    if checked.run is not None:
        _run(checked.run)


def builds(found: Iterable[LocalBuild]) -> None:
    """`gram builds`."""
    here = list(found)
    if not here:
        print_line("No builds here yet. `gram bench` fetches the reference build.")
        return
    table = Table(box=None, pad_edge=False)
    for head in ("build", "quantization", "size", "sha256"):
        table.add_column(head)
    for local in here:
        build = local.build
        cells = (build.name, build.quantization or DASH, figures.size(build.size_bytes))
        table.add_row(*(Text(c) for c in (*cells, build.sha256[:12])))
    _print(table)


def findings(found: Iterable[Finding]) -> None:
    """`gram doctor`."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in found:
        text = Text(finding.detail)
        if finding.advice:
            text.append(f"\n{finding.advice}", style="dim")
        table.add_row(finding.what, STATES[finding.state], text)
    _print(table)


def _print(table: Table) -> None:
    """To a terminal in its width; to a pipe or a file without folding and trailing blanks."""
    console = Console()
    if console.is_terminal:
        console.print(table)
        return
    wide = io.StringIO()
    Console(width=PIPED_WIDTH, file=wide).print(table)
    for line in wide.getvalue().splitlines():
        console.out(line.rstrip(), highlight=False)


def print_line(text: str) -> None:
    """One line, as it is."""
    Console().out(text, highlight=False)


def _run(run: Run) -> None:
    build = run.build
    synthetic = " (synthetic)" if build.synthetic else ""
    _facts(
        ("Build", f"{build.name}{synthetic}, {figures.size(build.size_bytes)}"),
        ("Engine", _engine_line(run)),
        *((f"{_test(r.test)} ({r.test})", _rate_line(r)) for r in run.rates),
        *((f"Energy ({test})", _energy_line(run, test)) for test, _ in run.energy),
        ("Memory held", _memory_line(run)),
        *(("Note", NOTES[note]) for note in run.notes),
    )


def _rate_line(rate: Rate) -> str:

    peak = figures.number(rate.peak_tok_s)
    times = "1 repetition" if rate.repetitions == 1 else f"{rate.repetitions} repetitions"
    return f"{figures.rate(rate)}   ({times}, peak {peak})"


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


def _memory_line(run: Run) -> str:
    held = run.memory
    size = figures.size
    return (
        f"weights {size(held.weights_bytes)}, KV cache {size(held.kv_cache_bytes)}, "
        f"buffers {size(held.compute_bytes)}; process at most {size(held.process_peak_bytes)}"
    )


def _result_cells(row: ResultRow) -> tuple[str, ...]:
    energy, source = row.energy_per_token_j, (row.energy_source or "").split(" ")[0]
    return (
        row.id[:8],
        row.at.replace("T", " ")[:16],
        row.build + (" (synthetic)" if row.synthetic else ""),
        figures.speed(row.prompt_tok_s, row.prompt_spread),
        figures.speed(row.generation_tok_s, row.generation_spread),
        DASH if energy is None else f"{figures.number(energy)} {source}",
        f"·{row.key_id[-6:]}",
    )


def _cards(here: Machine) -> list[tuple[str, str]]:
    if not here.accelerators:
        return [("Cards", "none")]
    return [
        ("Card", f"{c.vendor} {c.name}, {figures.size(c.memory_bytes)}") for c in here.accelerators
    ]


def _engine(facts: MachineFacts) -> list[tuple[str, str]]:
    if facts.engine is None:
        return [("Engine", "could not be loaded; `gram doctor` says why")]
    lines = [("Engine", f"{facts.engine.engine} {facts.engine.version}")]
    return lines + [("Engine's device", _device(d)) for d in facts.engine.devices]


def _device(device: Device) -> str:
    memory = figures.size(device.memory_bytes)
    return f"{device.name}: {device.description}, {device.kind}, {memory}"


def _test(name: str) -> str:
    return "Prompt" if name.startswith("pp") else "Generation"


def _facts(*pairs: tuple[str, str]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True, min_width=18)
    table.add_column(overflow="fold")
    for label, value in pairs:
        if label or value:
            table.add_row(label, Text(value))
    _print(table)
