"""What follows from the raw values of a machine's parts: work, rates, memory bandwidth."""

from collections.abc import Iterable
from statistics import median
from typing import Final

from desktop.records.machine import DeviceKind
from desktop.records.parts import Part, PartRate, Parts, PartsPlan, PartTest
from desktop.records.run import Note
from desktop.rules.caches import many_caches_bytes
from desktop.rules.marks import marks_of
from desktop.rules.rates import spread

Shape = tuple[int, ...]
BLOCKS: Final = {
    PartTest.MATVEC_F16: (1, 2),
    PartTest.MATVEC_Q8_0: (32, 34),
    PartTest.MATVEC_Q6_K: (256, 210),
    PartTest.MATVEC_Q4_K: (256, 144),
    PartTest.MATVEC_Q4_0: (32, 18),
}
"""Elements of a block and its bytes, by the block structs of ggml-common.h."""
READING: Final = frozenset({PartTest.COPY, *BLOCKS})
"""The tests whose rate is one of memory."""
_ON_PROCESSOR: Final = frozenset({DeviceKind.CPU, DeviceKind.SOFTWARE})
_USUAL: Final = PartsPlan()
_MATRICES: Final = 4
_F32: Final = 4


def work_of(test: PartTest, shape: Shape) -> int | None:
    """Operations, bytes or graphs of one pass over `shape`; None for another test's shape.

    A product of M x K weights with K x N columns takes 2·M·N·K operations; a matrix-vector product
    reads each encoded byte of its matrices once, for one column; a copy reads and writes each
    value.
    """
    if test is PartTest.SMALL_GRAPH:
        return 1 if len(shape) == 1 else None
    if test is PartTest.COPY:
        return 2 * _F32 * shape[0] if len(shape) == 1 else None
    if len(shape) != _MATRICES:
        return None
    m, n, k, count = shape
    if test is PartTest.MATMUL_F16:
        return 2 * m * n * k * count
    elements, size_bytes = BLOCKS[test]
    if n != 1 or k % elements:
        return None
    return m * (k // elements * size_bytes) * count


def part_rate(part: Part, plan: PartsPlan = _USUAL, kind: DeviceKind = DeviceKind.GPU) -> PartRate:
    """Median and spread: FLOP/s, bytes/s; seconds a graph for `SMALL_GRAPH`.

    Args:
        part: with its raw values.
        plan: that it was measured by.
        kind: of its device.
    """
    if part.test is PartTest.SMALL_GRAPH:
        values = [ns / 1e9 / part.work for ns in part.durations_ns]
    else:
        values = [part.work * 1e9 / ns for ns in part.durations_ns]
    over_bytes = work_of(part.test, part.shape) if part.test in READING and part.shape else None
    cached = over_bytes is not None and over_bytes < least_bytes(kind, plan)
    found = spread(values)
    marks = (*marks_of(found, plan.target_spread), *((Note.CACHED,) if cached else ()))
    figures = (median(values), found, len(values))
    return PartRate(part.device, part.test, part.threads, *figures, over_bytes, marks)


def rates_of(found: Parts) -> tuple[PartRate, ...]:
    """Of each part, in order."""
    kinds = {device.name: device.kind for device in found.devices}
    return tuple(part_rate(p, found.plan, kinds.get(p.device, DeviceKind.GPU)) for p in found.parts)


def least_bytes(kind: DeviceKind, plan: PartsPlan) -> int:
    """What a pass over a device's memory goes over at least, so that no cache can hold it, bytes.

    Faster memory takes more, since the largest caches go with it. Nobody tells a card's cache.
    """
    return many_caches_bytes(plan.last_level_cache_bytes if kind in _ON_PROCESSOR else None)


def memory_bandwidth_bytes_s(rates: Iterable[PartRate], device: str) -> float | None:
    """The most bytes a second that a device's memory gave in any test of it; None without one.

    For the ceiling: what was reached once can be reached. A rate that caches may have helped is
    not one of memory and does not count.
    """
    of_memory = (
        rate.median
        for rate in rates
        if rate.device == device and rate.pass_bytes is not None and not caches_may_help(rate)
    )
    return max(of_memory, default=None)


def caches_may_help(rate: PartRate) -> bool:
    """Whether a rate of memory comes from passes so small that caches may have held them."""
    return Note.CACHED in rate.marks
