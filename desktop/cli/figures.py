"""Figures as the terminal prints them: three significant, a dash where nothing was measured."""

from collections.abc import Iterable, Mapping
from typing import Final

from desktop.estimate import printed
from desktop.records.energy import Energy, MeterFacts, Scope
from desktop.records.run import Note, Rate
from desktop.rules.marks import signs
from desktop.sentences import figures

DASH = "—"
_SCOPES: Final[Mapping[Scope, str]] = {
    Scope.BOARD: "the card only",
    Scope.PACKAGE: "the processor only",
    Scope.SYSTEM: "the whole machine",
}


def number(value: float) -> str:
    """Three significant figures, never in powers of ten: `0.0712`, `48.3`, `1,230`."""
    return printed.figure(value)


def spread(value: float | None) -> str:
    """`± 1.2 %`; empty when there were too few repetitions to tell."""
    return f"± {100 * value:.1f} %" if value is not None else ""


def rate(value: Rate | None) -> str:
    """`48.3 tok/s ± 1.2 %`."""
    if value is None:
        return DASH
    return f"{number(value.median_tok_s)} tok/s {spread(value.spread)}".rstrip()


def speed(value: float | None, value_spread: float | None, marks: Iterable[Note] = ()) -> str:
    """A rate in a table whose head names the unit."""
    if value is None:
        return DASH
    return marked(f"{number(value)} {spread(value_spread)}".rstrip(), marks)


def marked(figure: str, marks: Iterable[Note]) -> str:
    """`7.97 GB/s !`: a figure and the signs that say to read it with care."""
    return f"{figure} {signs(marks)}".rstrip()


def size(count_bytes: int | None) -> str:
    """Decimal: `98.4 MB`, `25.2 GB`."""
    return DASH if count_bytes is None else figures.size(count_bytes)


def memory(count_bytes: int | None) -> str:
    """Binary: `8 GiB`, `15.6 GiB`; what would round to none is in a smaller unit: `50 MiB`."""
    if count_bytes is None:
        return DASH
    for factor, unit in ((2**30, "GiB"), (2**20, "MiB")):
        said = f"{count_bytes / factor:.1f}".removesuffix(".0")
        if said != "0":
            return f"{said} {unit}"
    return f"{count_bytes} B"


def watts(value_w: float | None) -> str:
    """`41.2 W`."""
    return DASH if value_w is None else f"{number(value_w)} W"


def joules(value_j: float | None) -> str:
    """`824 J`."""
    return DASH if value_j is None else f"{number(value_j)} J"


def source(energy: Energy) -> str:
    """Where the joules come from: `sensor (NVML)` or `modelled (CPU load)`."""
    return f"{energy.meter.source} ({energy.meter.name})"


def signature(key_id: str | None, statement_id: str | None) -> str:
    """`signed ·acbe75, kept as 5af9778abb84`."""
    if not (key_id and statement_id):
        return "not signed, not kept"
    return f"signed ·{key_id[-6:]}, kept as {statement_id[:12]}"


def meter(facts: MeterFacts) -> str:
    """With what the watts feed: `sensor (RAPL), the processor only`."""
    return f"{facts.source} ({facts.name}), {_SCOPES[facts.scope]}"
