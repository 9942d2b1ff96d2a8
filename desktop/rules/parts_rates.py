"""What follows from the raw values of a machine's parts: work, rates, memory bandwidth."""

from collections.abc import Iterable
from statistics import median
from typing import Final

from desktop.records.parts import Part, PartRate, PartTest
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
MANY_CACHES_BYTES: Final = 512 * 2**20
"""Last-level caches of desktops and cards hold 4 to 128 MiB; a pass over less than this would
measure them. Faster memory takes more, since the largest caches go with it."""
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


def part_rate(part: Part) -> PartRate:
    """Median and spread: FLOP/s, bytes/s; seconds a graph for `SMALL_GRAPH`."""
    if part.test is PartTest.SMALL_GRAPH:
        values = [ns / 1e9 / part.work for ns in part.durations_ns]
    else:
        values = [part.work * 1e9 / ns for ns in part.durations_ns]
    figures = (median(values), spread(values), len(values))
    over_bytes = work_of(part.test, part.shape) if part.test in READING and part.shape else None
    return PartRate(part.device, part.test, part.threads, *figures, over_bytes)


def rates_of(parts: Iterable[Part]) -> tuple[PartRate, ...]:
    """Of each part, in order."""
    return tuple(part_rate(part) for part in parts)


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
    return rate.pass_bytes is not None and rate.pass_bytes < MANY_CACHES_BYTES
