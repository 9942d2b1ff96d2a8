"""The tests of the parts as graphs that stand ready on a device.

As llama.cpp does it: weights in the buffer type that the engine would choose, all else in the
device's own memory; on processors a pool of threads that poll.
"""

import ctypes as c
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from desktop.bench.ggml import Ggml
from desktop.bench.parts_data import Floats, RandomData, agree
from desktop.bench.tensors import F32, CannotMeasureError, Tensors, nodes_for
from desktop.records.parts import PartTest, Skipped
from desktop.rules.parts_rates import Shape

GGML_TYPES: Final = {
    PartTest.MATMUL_F16: 1,
    PartTest.MATVEC_F16: 1,
    PartTest.MATVEC_Q8_0: 8,
    PartTest.MATVEC_Q6_K: 14,
    PartTest.MATVEC_Q4_K: 12,
    PartTest.MATVEC_Q4_0: 2,
}
"""`enum ggml_type` of ggml.h."""
POLL: Final = 50
"""As a run's threads poll."""
_CHECKED: Final = 256
"""Values of a result that are compared with what they must be."""


class Workload(Protocol):
    """A graph that stands ready on a device."""

    def compute(self) -> None:
        """Compute it once and synchronize.

        Raises:
            CannotMeasureError: `failed`: the backend reported an error.
        """

    def right(self) -> bool:
        """Whether the last result is what it must be."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """A `Workload`."""

    compute_and_wait: Callable[[], int]
    right: Callable[[], bool]

    def compute(self) -> None:
        if self.compute_and_wait():
            raise CannotMeasureError(Skipped.FAILED)


class PartDevice:
    """A device that computes with a fixed number of threads; made by `open_device`."""

    def __init__(self, tensors: Tensors, data: RandomData) -> None:
        self._tensors, self._data = tensors, data

    @contextmanager
    def workload(self, test: PartTest, shape: Shape) -> Iterator[Workload]:
        """The graph of a test, random data in the device's memory; freed at the end.

        Raises:
            CannotMeasureError: `unsupported`, or `memory` where it does not fit.
        """
        with ExitStack() as held:
            if test in GGML_TYPES:
                yield self.product(held, GGML_TYPES[test], shape)
            elif test is PartTest.COPY:
                yield self._copy(held, *shape)
            else:
                yield self._sum(held, *shape)

    def product(self, held: ExitStack, ggml_type: int, shape: Shape) -> Workload:
        """`count` matrices of M x K weights, each times K x N columns; `shape` is (M, N, K, count).

        Raises:
            CannotMeasureError: as `workload`.
        """
        m, n, k, count = shape
        make = self._tensors
        stored = make.context(held, count)
        weights = [make.new(stored, ggml_type, k, m) for _ in range(count)]
        make.allocate(held, stored, make.weights_buffer_type(ggml_type, k))
        context = make.context(held, count + 1, nodes_for(count))
        x = make.new(context, F32, k, n)
        results = [make.operation("ggml_mul_mat", context, w, x) for w in weights]
        compute = make.graph(held, context, results)
        columns = self._data.columns(k, n)
        make.write(x, columns)
        block = self._fill(weights, ggml_type, (m, k))
        expected = (block * columns[0]).sum(axis=1)
        return _Ready(compute, lambda: agree(expected, make.read(results[0], len(expected))))

    def _fill(self, weights: list[int], ggml_type: int, size: tuple[int, int]) -> Floats:
        """Give each matrix rows of its own; return the values of the first one's first rows."""
        rows, columns = size
        encoded = self._data.rows(ggml_type, columns)
        tiled = encoded.tiled(rows)
        for i, matrix in enumerate(weights):
            first = encoded.first_row(i)
            self._tensors.write(matrix, tiled[first : first + rows])
        return encoded.values[: min(rows, _CHECKED)]

    def _copy(self, held: ExitStack, count: int) -> Workload:
        make = self._tensors
        context, x, y = self._pair(held, count)
        compute = make.graph(held, context, [make.operation("ggml_cpy", context, x, y)])
        block = self._data.block
        for at in range(0, count, len(block)):
            make.write(x, block[: count - at], at * block.itemsize)
        first = block[: min(count, _CHECKED)]
        return _Ready(compute, lambda: bool((make.read(y, len(first)) == first).all()))

    def _sum(self, held: ExitStack, count: int) -> Workload:
        make = self._tensors
        context, x, y = self._pair(held, count)
        result = make.operation("ggml_add", context, x, y)
        compute = make.graph(held, context, [result])
        values = self._data.columns(count, 1)[0]
        for tensor in (x, y):
            make.write(tensor, values)
        return _Ready(compute, lambda: agree(2 * values, make.read(result, count)))

    def _pair(self, held: ExitStack, count: int) -> tuple[int, int, int]:
        """A context and two tensors of `count` values."""
        context = self._tensors.context(held, 3, nodes_for(1))
        x, y = (self._tensors.new(context, F32, count) for _ in range(2))
        return context, x, y


@contextmanager
def open_device(
    ggml: Ggml, data: RandomData, device: int, threads: int | None
) -> Iterator[PartDevice]:
    """A device of the engine's list, ready to compute.

    Args:
        ggml: the engine's.
        data: shared by all devices.
        device: its handle.
        threads: of a processor; None for cards.

    Raises:
        CannotMeasureError: `failed`: it cannot be opened.
    """
    backend = ggml.function("ggml_backend_dev_init", c.c_void_p, c.c_void_p, c.c_char_p)(
        device, None
    )
    if not backend:
        raise CannotMeasureError(Skipped.FAILED)
    pool = _use_threads(ggml, device, backend, threads) if threads is not None else None
    try:
        yield PartDevice(Tensors(ggml, device, backend), data)
    finally:
        ggml.function("ggml_backend_free", None, c.c_void_p)(backend)
        ggml.free_threadpool(pool)


def _use_threads(ggml: Ggml, device: int, backend: int, threads: int) -> int | None:
    """So many threads, of a pool that polls as in a run; returns the pool."""
    count = ggml.device_function(device, "ggml_backend_set_n_threads", None, c.c_void_p, c.c_int)
    if count is not None:
        count(backend, threads)
    use = ggml.device_function(
        device, "ggml_backend_cpu_set_threadpool", None, c.c_void_p, c.c_void_p
    )
    pool = ggml.new_threadpool(threads, POLL) if use is not None else None
    if pool is not None:
        use(backend, pool)
    return pool
