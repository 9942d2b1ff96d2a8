"""The lists of `gram results`."""

from collections.abc import Iterable, Sequence
from typing import Final

from desktop.cli import figures
from desktop.cli.figures import DASH
from desktop.cli.fitting import Column, print_fitting
from desktop.cli.output import say
from desktop.cli.parts_show import figure, with_threads
from desktop.cli.prose import heading, paragraph
from desktop.records.parts import PartRate, PartsOfDevice, PartsRow, PartTest
from desktop.records.request import ResultRow
from desktop.records.run import Note
from desktop.rules.marks import SIGNS
from desktop.rules.notes import WORDS
from desktop.rules.parts_words import TESTS

NOTHING: Final = "Nothing was measured here yet. Start with `gram bench`."
_NO_RUNS: Final = "No build was measured here yet: `gram bench` does it."
_NO_PARTS: Final = "The parts of this machine were not measured here yet: `gram parts` does it."
_NOTES: Final = {
    Note.ON_BATTERY: "battery",
    Note.OTHER_LOAD: "other load",
    Note.CPU_INSTEAD: "processor only",
    Note.SOFTWARE_DEVICE: "software device",
}
"""In a word; what a note means stands with the result in full."""


def everything(rows: Sequence[ResultRow], kept: Sequence[PartsRow]) -> None:
    """Runs, and below them the machine's parts."""
    if not rows and not kept:
        say(NOTHING)
        return
    if rows:
        print_fitting(_columns(rows))
        legend(mark for row in rows for mark in (*row.prompt_marks, *row.generation_marks))
    else:
        say(_NO_RUNS)
    if kept:
        heading("Parts of this machine")
        parts(kept)


def parts(kept: Sequence[PartsRow]) -> None:
    """One line for each device that was measured each time."""
    if not kept:
        say(_NO_PARTS)
        return
    lines = [(row, device) for row in kept for device in row.devices]
    print_fitting(_parts_columns(lines))
    legend(mark for _, device in lines for mark in _marks(device))


def legend(marks: Iterable[Note]) -> None:
    """What the signs at figures mean, each once."""
    found = set(marks)
    for note, sign in SIGNS.items():
        if note in found:
            paragraph(f"{sign}  {WORDS[note]}")


def _columns(rows: Sequence[ResultRow]) -> list[Column]:
    prompts = [figures.speed(r.prompt_tok_s, r.prompt_spread, r.prompt_marks) for r in rows]
    generations = [
        figures.speed(r.generation_tok_s, r.generation_spread, r.generation_marks) for r in rows
    ]
    return [
        Column("id", [row.id[:8] for row in rows], heading=True),
        Column("when (UTC)", [_when(row.at) for row in rows], heading=True),
        Column("build", [_build(row) for row in rows], heading=True),
        Column("prompt tok/s", prompts, right=True),
        Column("generation tok/s", generations, right=True),
        Column("notes", [_notes(row) for row in rows]),
        Column("J/token", [_energy(row) for row in rows], drop=1, right=True),
        Column("signed", [_key(row.key_id) for row in rows], drop=2),
    ]


def _parts_columns(lines: Sequence[tuple[PartsRow, PartsOfDevice]]) -> list[Column]:
    devices = [device for _, device in lines]
    return [
        Column("id", [row.id[:8] for row, _ in lines], heading=True),
        Column("when (UTC)", [_when(row.at) for row, _ in lines], heading=True),
        Column("device", [with_threads(d.device, d.threads) for d in devices]),
        Column(TESTS[PartTest.MATMUL_F16], [_figure(d.product) for d in devices], right=True),
        Column(TESTS[PartTest.MATVEC_F16], [_figure(d.matrix_vector) for d in devices], right=True),
        Column("notes", [_notes(row) for row, _ in lines]),
        Column("signed", [_key(row.key_id) for row, _ in lines], drop=1),
        Column("what it is", [device.description or DASH for device in devices], drop=2),
    ]


def _when(at: str) -> str:
    return at.replace("T", " ")[:16]


def _build(row: ResultRow) -> str:
    return f"{row.build} (synthetic)" if row.synthetic else row.build


def _energy(row: ResultRow) -> str:
    if row.energy_per_token_j is None:
        return DASH
    return f"{figures.number(row.energy_per_token_j)} {(row.energy_source or '').split(' ')[0]}"


def _key(key_id: str) -> str:
    return f"·{key_id[-6:]}"


def _figure(rate: PartRate | None) -> str:
    return DASH if rate is None else figures.marked(figure(rate), rate.marks)


def _marks(device: PartsOfDevice) -> tuple[Note, ...]:
    return tuple(m for rate in (device.product, device.matrix_vector) if rate for m in rate.marks)


def _notes(row: ResultRow | PartsRow) -> str:
    return ", ".join(word for note, word in _NOTES.items() if note in row.notes)
