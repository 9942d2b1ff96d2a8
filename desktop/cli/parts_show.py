"""A machine's parts as a table, for people."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from desktop.cli import figures
from desktop.cli.figures import DASH
from desktop.cli.fitting import Column, print_fitting
from desktop.cli.tables import print_facts
from desktop.records.events import PartsFinished
from desktop.records.machine import DeviceKind
from desktop.records.parts import Part, PartRate, Parts, PartSkip, PartTest, Skipped
from desktop.records.run import Note
from desktop.rules.marks import SIGNS, signs
from desktop.rules.notes import PARTS_WORDS, notes_of_parts
from desktop.rules.parts_rates import rates_of
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
    """Engine, devices, one line a figure, what has none, and with what care to read them."""
    print_facts(
        ("Engine", f"{found.engine} {found.engine_version}"),
        *(("Device", _device(found, name)) for name in _names(found)),
    )
    rates = rates_of(found)
    pairs = _in_order(list(zip(found.parts, rates, strict=True)))
    print_fitting(_columns([part for part, _ in pairs], [rate for _, rate in pairs]))
    print_facts(
        *(("No figure", line) for line in _missing(found.skipped)),
        *(("Note", _note(note)) for note in notes_of_parts(found)),
    )


def figure(rate: PartRate) -> str:
    """`0.187 TFLOP/s`, `23.1 GB/s`, `4.20 µs`."""
    if rate.test is PartTest.SMALL_GRAPH:
        return f"{figures.number(rate.median / _MICRO)} µs"
    unit = "FLOP/s" if rate.test is PartTest.MATMUL_F16 else "B/s"
    factor, letter = next((u for u in _UNITS if rate.median >= u[0]), (1.0, ""))
    return f"{figures.number(rate.median / factor)} {letter}{unit}"


def with_threads(device: str, threads: int | None) -> str:
    """`CUDA0`, `CPU, 2 threads`."""
    if threads is None:
        return device
    return f"{device}, {threads} thread{'s' if threads != 1 else ''}"


def _columns(parts: Sequence[Part], rates: Sequence[PartRate]) -> list[Column]:
    return [
        Column("device", [with_threads(p.device, p.threads) for p in parts], heading=True),
        Column("test", [TESTS[part.test] for part in parts]),
        Column("median", [figure(rate) for rate in rates], right=True),
        # beside the figures, which stand one below the other
        Column("", [signs(rate.marks) for rate in rates]),
        Column("spread", [figures.spread(rate.spread) for rate in rates], right=True),
        Column("repetitions", [str(rate.repetitions) for rate in rates], drop=1, right=True),
        Column("size", list(map(_size, parts, rates)), drop=2),
    ]


def _in_order(pairs: Sequence[tuple[Part, PartRate]]) -> list[tuple[Part, PartRate]]:
    """Of each device the tests as people read them; they are measured in another order."""
    groups = list(dict.fromkeys((p.device, p.threads) for p, _ in pairs))
    tests = list(PartTest)
    return sorted(
        pairs,
        key=lambda p: (groups.index((p[0].device, p[0].threads)), tests.index(p[0].test)),
    )


def _size(part: Part, rate: PartRate) -> str:
    """What one pass went over: matrices, a product, or values; of memory how much it is."""
    if part.test in {PartTest.COPY, PartTest.SMALL_GRAPH}:
        said = f"{part.shape[0]:,} values"
    else:
        m, n, k, count = part.shape
        one = f"{m} × {k}"  # noqa: RUF001 - the sign that is meant
        matrices = "1 matrix" if count == 1 else f"{count} matrices"
        said = f"{matrices} of {one}"
        if part.test is PartTest.MATMUL_F16:
            said = f"{one} by {k} × {n}"  # noqa: RUF001
    if rate.pass_bytes is None:
        return said
    return f"{said}, {figures.number(rate.pass_bytes / _MIB)} MiB"


def _missing(skipped: Iterable[PartSkip]) -> Iterator[str]:
    """`CPU, 2 threads: copy, F32; small graph: no time was left`."""
    tests: dict[tuple[str, Skipped], list[str]] = {}
    for skip in skipped:
        key = (with_threads(skip.device, skip.threads), skip.why)
        tests.setdefault(key, []).append(TESTS[skip.test])
    for (device, why), names in tests.items():
        yield f"{DASH} {device}: {'; '.join(names)}: {WHY[why]}"


def _note(note: Note) -> str:
    """With the sign that stands at the figures that it is of."""
    words = PARTS_WORDS[note]
    return f"{SIGNS[note]}  {words}" if note in SIGNS else words


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
