"""How large the tests of a device are: as large as they need to be, and never larger than it bears.

A large product takes 40 s on a software device, and a small one measures a fast card's launches.
So a device begins with the smallest size, and what that takes decides the next.
"""

from dataclasses import dataclass
from typing import Final

from desktop.records.machine import Device, DeviceKind
from desktop.records.parts import PartTest
from desktop.rules.caches import MANY_CACHES_BYTES
from desktop.rules.parts_rates import READING, Shape, work_of

MIB: Final = 2**20
COLUMNS: Final = 4096
"""Of a matrix-vector product's matrices: the width of a model of 7 or 8 billion parameters."""
WANTED_NS: Final = {PartTest.MATMUL_F16: 50_000_000, PartTest.SMALL_GRAPH: 0}
LEAST_NS: Final = {PartTest.SMALL_GRAPH: 100_000_000}
"""A test that has this share whatever time is left: so little that it is never left out for it."""
PASS_NS: Final = 10_000_000
"""A pass over memory, and any timed repetition, takes so long at least where sizes allow it."""
FREE_SHARE: Final = 4
"""A test takes at most one part in so many of the memory that is free."""
_PRODUCTS: Final = (
    (256, 64, 256),
    (512, 128, 512),
    (1024, 256, 1024),
    (2048, 512, 2048),
    (4096, 512, 4096),
    (4096, 2048, 4096),
    (8192, 4096, 8192),
)
_TOTALS_MIB: Final = (64, 128, 256, 512, 1024, 2048, 4096)
_ROWS: Final = 4096
_MANY_ROWS: Final = 16_384
"""Of the matrices where there would be hundreds: fewer launches, as in a large model."""
_SHARING: Final = frozenset({DeviceKind.CPU, DeviceKind.SOFTWARE, DeviceKind.IGPU})
_METAL: Final = "MTL"
"""ggml's name of the backend; it tells of Apple's chips that they are cards of their own."""


def shapes_of(test: PartTest, memory_bytes: int | None) -> tuple[Shape, ...]:
    """The shapes of a test from small to large; the first is there whatever the memory."""
    if test is PartTest.SMALL_GRAPH:
        return ((32,),)
    found = _all_shapes(test)
    limit = 2 * MANY_CACHES_BYTES if memory_bytes is None else memory_bytes // FREE_SHARE
    return (found[0], *(shape for shape in found[1:] if held_bytes(test, shape) <= limit))


def held_bytes(test: PartTest, shape: Shape) -> int:
    """Memory of the device that a shape takes, scratch left out."""
    if test is PartTest.MATMUL_F16:
        m, n, k, count = shape
        return (2 * m * k + 4 * n * (k + m)) * count
    return work_of(test, shape) or 0


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a test may grow."""

    pass_ns: int
    """A pass may take so long."""
    least_pass_ns: int
    """A pass over no more than memory needs may take so long."""
    least_bytes: int
    """A pass over memory goes over so much at least: less may be held by caches."""


def next_size(
    test: PartTest, shapes: tuple[Shape, ...], at: int, took_ns: int, limits: Limits
) -> int | None:
    """Which of `shapes` to try after one; None when there is none to try, large enough or not.

    Args:
        test: what is measured.
        shapes: as `shapes_of` gives them.
        at: the index of the shape that was tried.
        took_ns: how long a pass over it took.
        limits: of the test.
    """
    done = work_of(test, shapes[at]) or 1
    wanted_ns = WANTED_NS.get(test, PASS_NS)
    wanted_bytes = max(MANY_CACHES_BYTES, limits.least_bytes) if test in READING else 0

    def expected_ns(i: int) -> float:
        return took_ns * (work_of(test, shapes[i]) or 1) / done

    def enough(i: int) -> bool:
        return expected_ns(i) >= wanted_ns and held_bytes(test, shapes[i]) >= wanted_bytes

    larger = range(at + 1, len(shapes))
    if not is_large_enough(test, shapes, at, limits.least_bytes):
        # no further at once: what caches give says little of how long memory will take
        least = next(i for i in larger if is_large_enough(test, shapes, i, limits.least_bytes))
        return least if expected_ns(least) <= limits.least_pass_ns else None
    if enough(at):
        return None
    in_time = [i for i in larger if expected_ns(i) <= limits.pass_ns]
    return next((i for i in in_time if enough(i)), in_time[-1] if in_time else None)


def is_large_enough(test: PartTest, shapes: tuple[Shape, ...], at: int, least_bytes: int) -> bool:
    """Whether a shape is out of reach of caches, or the largest for which there is memory."""
    if test not in READING:
        return True
    return held_bytes(test, shapes[at]) >= min(least_bytes, held_bytes(test, shapes[-1]))


def usable_bytes(device: Device, system_free_bytes: int | None) -> int | None:
    """Free memory of a device; where it shares the system's, never more than is free of that.

    Backends tell of such devices what there is, not what is free.
    """
    own = device.memory_free_bytes
    shares = device.kind in _SHARING or device.backend == _METAL
    if not shares or system_free_bytes is None:
        return own
    return system_free_bytes if own is None else min(own, system_free_bytes)


def _all_shapes(test: PartTest) -> tuple[Shape, ...]:
    if test is PartTest.MATMUL_F16:
        return tuple((*shape, 1) for shape in _PRODUCTS)
    if test is PartTest.COPY:
        return tuple((total * MIB // 8,) for total in (8, *_TOTALS_MIB))
    return ((_ROWS, 1, COLUMNS, 1), *(_matrices(test, total * MIB) for total in _TOTALS_MIB))


def _matrices(test: PartTest, total_bytes: int) -> Shape:
    """As many distinct matrices as hold `total_bytes` at least."""
    rows = _ROWS if total_bytes <= 2 * MANY_CACHES_BYTES else _MANY_ROWS
    one = work_of(test, (rows, 1, COLUMNS, 1)) or 1
    return (rows, 1, COLUMNS, -(-total_bytes // one))
