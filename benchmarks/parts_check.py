"""The parts against numpy with its BLAS, on the same machine in the same run.

    python benchmarks/parts_check.py --pairs 20

Printed are ratios, ours ÷ numpy's, each the median of interleaved pairs: products of F32 matrices
(ggml ÷ sgemm), matrix-vector products over 512 MiB of distinct F32 matrices (ggml ÷ sgemv), copies
with one thread and with all; and, with no counterpart in numpy, what ggml gets with F16 weights,
which is what `gram parts` tells. Both sides have the same number of threads, and a pause before
each measurement: threads of either side spin for a while after their work.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np
from pairs import Quiet, interleaved, ratio_of, save

from desktop.bench.engine import Engine
from desktop.bench.engine_log import EngineLog
from desktop.bench.parts_data import Floats, RandomData
from desktop.bench.parts_device import GGML_TYPES, PartDevice, open_device
from desktop.bench.tensors import F32
from desktop.machine.cores import usable_cores
from desktop.records.machine import DeviceKind
from desktop.records.parts import PartTest

THREADS: Final = usable_cores()
BLAS_THREADS: Final = tuple(
    f"{library}_NUM_THREADS" for library in ("OPENBLAS", "MKL", "OMP", "VECLIB_MAXIMUM", "BLIS")
)
SETTLE_S: Final = 0.3
REPETITIONS: Final = 5
SIDE: Final = 4096
COLUMNS: Final = 512
MATRICES: Final = 8
"""Of F32: 512 MiB."""
COPIED: Final = 64 * 2**20
"""Values: 256 MiB read and 256 MiB written."""
F16: Final = GGML_TYPES[PartTest.MATVEC_F16]


@dataclass(frozen=True)
class Side:
    """One thing that is timed: what it does, and its operations or bytes."""

    do: Callable[[], object]
    work: float

    def rate(self) -> float:
        """Work a second: the median of a few repetitions after a pause and a warm-up."""
        time.sleep(SETTLE_S)
        self.do()
        times = []
        for _ in range(REPETITIONS):
            start = time.perf_counter_ns()
            self.do()
            times.append(time.perf_counter_ns() - start)
        return self.work * 1e9 / median(times)


class Ours:
    """ggml's side, on the engine's processor device."""

    def __init__(self, held: ExitStack) -> None:
        self._held = held
        self._ggml = Engine(EngineLog()).ggml
        self._data = RandomData(self._ggml)
        listed = self._ggml.listed()
        self._cpu = next(handle for device, handle in listed if device.kind is DeviceKind.CPU)
        self._all = self._open(THREADS)

    def product(self, ggml_type: int) -> Side:
        """A product of two matrices."""
        load = self._all.product(self._held, ggml_type, (SIDE, COLUMNS, SIDE, 1))
        return Side(load.compute, 2 * SIDE * SIDE * COLUMNS)

    def matvec(self, ggml_type: int, bytes_each: int) -> Side:
        """Matrix-vector products over 512 MiB."""
        count = MATRICES * 4 // bytes_each
        load = self._all.product(self._held, ggml_type, (SIDE, 1, SIDE, count))
        return Side(load.compute, SIDE * SIDE * bytes_each * count)

    def copy(self, threads: int) -> Side:
        """A copy with so many threads."""
        device = self._all if threads == THREADS else self._open(threads)
        load = self._held.enter_context(device.workload(PartTest.COPY, (COPIED,)))
        return Side(load.compute, 8 * COPIED)

    def _open(self, threads: int) -> PartDevice:
        return self._held.enter_context(open_device(self._ggml, self._data, self._cpu, threads))


class Numpy:
    """numpy's side."""

    def __init__(self, held: ExitStack) -> None:
        self._held = held
        self._rng = np.random.default_rng(1)

    def product(self) -> Side:
        """Sgemm."""
        w, x = self._random(SIDE, SIDE), self._random(SIDE, COLUMNS)
        out = np.empty((SIDE, COLUMNS), np.float32)
        return Side(lambda: np.matmul(w, x, out=out), 2 * SIDE * SIDE * COLUMNS)

    def matvec(self) -> Side:
        """Sgemv over 512 MiB."""
        matrices = [self._random(SIDE, SIDE) for _ in range(MATRICES)]
        x, out = self._random(SIDE), np.empty(SIDE, np.float32)

        def do() -> None:
            for matrix in matrices:
                np.dot(matrix, x, out=out)

        return Side(do, 4 * SIDE * SIDE * MATRICES)

    def copy(self, threads: int) -> Side:
        """A copy, cut into as many parts as there are threads."""
        x, y = self._random(COPIED), np.empty(COPIED, np.float32)
        if threads == 1:
            return Side(lambda: np.copyto(y, x), 8 * COPIED)
        pool = self._held.enter_context(ThreadPoolExecutor(threads))
        halves = list(zip(np.array_split(y, threads), np.array_split(x, threads), strict=True))
        return Side(lambda: list(pool.map(lambda yx: np.copyto(*yx), halves)), 8 * COPIED)

    def _random(self, *shape: int) -> Floats:
        return self._rng.standard_normal(shape, dtype=np.float32)


def compare(name: str, ours: Side, other: Side, options: argparse.Namespace) -> dict[str, object]:
    """Print the ratio of two sides and their rates; return the raw values."""
    done = interleaved(options.pairs, lambda: {"rate": ours.rate()}, lambda: {"rate": other.rate()})
    a, b = [p[0]["rate"] for p in done], [p[1]["rate"] for p in done]
    print(ratio_of(name, [x / y for x, y in zip(a, b, strict=True)]))
    print(f"    medians {median(a) / 1e9:.2f} ÷ {median(b) / 1e9:.2f} G/s")
    return {"name": name, "ours": a, "other": b}


def main() -> int:
    """Print every ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.child:
        # the BLAS library reads the number of its threads once, when it is loaded
        env = os.environ | dict.fromkeys(BLAS_THREADS, str(THREADS))
        command = [sys.executable, __file__, "--child", "--pairs", str(options.pairs)]
        return subprocess.run(command, env=env, check=False).returncode
    return check(options)


def check(options: argparse.Namespace) -> int:
    """In a process where both sides have as many threads."""
    quiet = Quiet()
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    print(f"{THREADS} threads each; numpy {np.__version__} with {blas['name']} {blas['version']}")
    with ExitStack() as held:
        ours, numpy = Ours(held), Numpy(held)
        f32, sgemv = ours.product(F32), numpy.matvec()
        pairs = (
            ("product F32 ÷ sgemm", f32, numpy.product()),
            ("product F16 ÷ product F32", ours.product(F16), f32),
            ("matrix-vector F32 ÷ sgemv", ours.matvec(F32, 4), sgemv),
            ("matrix-vector F16 ÷ sgemv", ours.matvec(F16, 2), sgemv),
            ("copy, 1 thread", ours.copy(1), numpy.copy(1)),
            (f"copy, {THREADS} threads", ours.copy(THREADS), numpy.copy(THREADS)),
        )
        raw = [compare(name, one, other, options) for name, one, other in pairs]
    print(quiet.words())
    print(f"raw values: {save('parts-check', raw).name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
