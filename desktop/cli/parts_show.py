"""A machine's parts as a table, for people."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.table import Table

from desktop.cli import figures
from desktop.cli.figures import DASH
from desktop.cli.tables import LABEL_WIDTH, cell, print_facts, print_table
from desktop.records.events import PartsFinished
from desktop.records.machine import DeviceKind
from desktop.records.parts import Part, PartRate, Parts, PartSkip, PartTest
from desktop.rules.parts_rates import caches_may_help, part_rate
from desktop.rules.parts_words import TESTS, WHY
from desktop.services.results import Checked

_UNITS: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
_MICRO: Final = 1e-6
_MIB: Final = 2**20


def parts_finished(done: PartsFinished) -> None:
    """The result of `gram parts`."""
    parts(done.parts)
    print_facts(("Signature", figures.signature(done.key_id, done.statement_id)))


def parts_kept(kept: Checked) -> None:
    """`gram parts --last`: what the ledger holds."""
    if kept.parts is not None:
        print_facts(("Measured", f"{kept.parts.started_at} (UTC)"))
        parts(kept.parts)
    print_facts(("Signature", figures.signature(kept.statement.key_id, kept.statement.id)))


def parts(found: Parts) -> None:
    """Engine, devices, and one line a figure: median and spread."""
    print_facts(
        ("Engine", f"{found.engine} {found.engine_version}"),
        *(("Device", _device(found, name)) for name in _names(found)),
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("device", overflow="fold", max_width=LABEL_WIDTH)
    table.add_column("test", no_wrap=True)
    for head in ("median", "spread", "repetitions"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("size", overflow="fold")
    for cells in _rows(found):
        table.add_row(*map(cell, cells))
    print_table(table)


def figure(rate: PartRate) -> str:
    """`0.187 TFLOP/s`, `23.1 GB/s`, `4.20 µs`."""
    if rate.test is PartTest.SMALL_GRAPH:
        return f"{figures.number(rate.median / _MICRO)} µs"
    unit = "FLOP/s" if rate.test is PartTest.MATMUL_F16 else "B/s"
    factor, letter = next((u for u in _UNITS if rate.median >= u[0]), (1.0, ""))
    return f"{figures.number(rate.median / factor)} {letter}{unit}"


def _rows(found: Parts) -> Iterable[tuple[str, ...]]:
    for part in _in_order(found.parts):
        rate = part_rate(part)
        yield (
            _with_threads(part),
            TESTS[part.test],
            figure(rate),
            figures.spread(rate.spread),
            str(rate.repetitions),
            _size(part) + _caution(rate),
        )
    for skip in found.skipped:
        yield _with_threads(skip), TESTS[skip.test], DASH, "", "", WHY[skip.why]


def _in_order(parts: Sequence[Part]) -> list[Part]:
    """Of each device the tests as people read them; they are measured in another order."""
    groups = list(dict.fromkeys((p.device, p.threads) for p in parts))
    tests = list(PartTest)
    return sorted(parts, key=lambda p: (groups.index((p.device, p.threads)), tests.index(p.test)))


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


def _caution(rate: PartRate) -> str:
    """Said of a rate of memory that may be one of caches."""
    if rate.pass_bytes is None or not caches_may_help(rate):
        return ""
    mib = rate.pass_bytes / _MIB
    return f"; read only {figures.number(mib)} MiB: caches may have helped"


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
