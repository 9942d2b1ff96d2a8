"""A machine's parts as a table, for people."""

from collections.abc import Iterable, Mapping
from typing import Final

from rich.table import Table
from rich.text import Text

from desktop.cli import figures
from desktop.cli.figures import DASH
from desktop.cli.tables import print_facts, print_table
from desktop.records.events import PartsFinished
from desktop.records.machine import DeviceKind
from desktop.records.parts import Part, PartRate, Parts, PartSkip, PartTest, Skipped
from desktop.rules.parts_rates import part_rate

TESTS: Final[Mapping[PartTest, str]] = {
    PartTest.MATMUL_F16: "product, F16",
    PartTest.MATVEC_F16: "matrix-vector, F16",
    PartTest.MATVEC_Q8_0: "matrix-vector, Q8_0",
    PartTest.MATVEC_Q6_K: "matrix-vector, Q6_K",
    PartTest.MATVEC_Q4_K: "matrix-vector, Q4_K",
    PartTest.MATVEC_Q4_0: "matrix-vector, Q4_0",
    PartTest.COPY: "copy, F32",
    PartTest.SMALL_GRAPH: "small graph",
}
WHY: Final[Mapping[Skipped, str]] = {
    Skipped.UNSUPPORTED: "the device's back end cannot do it",
    Skipped.MEMORY: "not enough free memory",
    Skipped.TIME: "no time was left",
    Skipped.FAILED: "the back end reported an error",
    Skipped.WRONG: "the device computed a wrong result",
    Skipped.CRASHED: "the measuring process ended in it",
}
_UNITS: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
_MICRO: Final = 1e-6


def parts_finished(done: PartsFinished) -> None:
    """The result of `gram parts`."""
    parts(done.parts)
    signed = "not signed, not kept"
    if done.key_id and done.statement_id:
        signed = f"signed ·{done.key_id[-6:]}, kept as {done.statement_id[:12]}"
    print_facts(("Signature", signed))


def parts(found: Parts) -> None:
    """Engine, devices, and one line a figure: median and spread."""
    print_facts(
        ("Engine", f"{found.engine} {found.engine_version}"),
        *(("Device", _device(found, name)) for name in _names(found)),
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("device", no_wrap=True)
    table.add_column("test", no_wrap=True)
    for head in ("median", "spread", "repetitions"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("size")
    for cells in _rows(found):
        table.add_row(*(Text(cell) for cell in cells))
    print_table(table)


def figure(rate: PartRate) -> str:
    """`0.187 TFLOP/s`, `23.1 GB/s`, `4.20 µs`."""
    if rate.test is PartTest.SMALL_GRAPH:
        return f"{figures.number(rate.median / _MICRO)} µs"
    unit = "FLOP/s" if rate.test is PartTest.MATMUL_F16 else "B/s"
    factor, letter = next((u for u in _UNITS if rate.median >= u[0]), (1.0, ""))
    return f"{figures.number(rate.median / factor)} {letter}{unit}"


def _rows(found: Parts) -> Iterable[tuple[str, ...]]:
    for part in found.parts:
        rate = part_rate(part)
        yield (
            _with_threads(part),
            TESTS[part.test],
            figure(rate),
            figures.spread(rate.spread),
            str(rate.repetitions),
            _size(part),
        )
    for skip in found.skipped:
        yield _with_threads(skip), TESTS[skip.test], DASH, "", "", WHY[skip.why]


def _with_threads(of: Part | PartSkip) -> str:
    if of.threads is None:
        return of.device
    return f"{of.device}, {of.threads} thread{'s' if of.threads != 1 else ''}"


def _size(part: Part) -> str:
    """What one pass went over: matrices, a product, or values."""
    if part.test in {PartTest.COPY, PartTest.SMALL_GRAPH}:
        return f"{part.shape[0]:,} values"
    m, n, k, count = part.shape
    if part.test is PartTest.MATMUL_F16:
        return f"{m} × {k} by {k} × {n}"  # noqa: RUF001 - the sign that is meant
    return f"{count} matrices of {m} × {k}"  # noqa: RUF001


def _names(found: Parts) -> tuple[str, ...]:
    """Of the devices that were measured, or tried."""
    measured = [p.device for p in found.parts]
    return tuple(dict.fromkeys(measured + [s.device for s in found.skipped]))


def _device(found: Parts, name: str) -> str:
    device = next((d for d in found.devices if d.name == name), None)
    if device is None:
        return name
    software = ", software: no card" if device.kind is DeviceKind.SOFTWARE else ""
    return f"{name}: {device.description} ({device.backend}){software}"
