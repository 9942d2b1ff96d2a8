"""Random numbers for the parts, and their encodings by the engine's own library.

Never zeros: some devices compress or skip them, and a clock may rise where nothing toggles. One
block of random rows is repeated with another offset for each matrix, so every matrix lies in memory
of its own with contents of its own, and a gigabyte costs no gigabyte of random numbers.
"""

import ctypes as c
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from desktop.bench.ggml import Ggml

Floats: TypeAlias = npt.NDArray[np.float32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
BLOCK: Final = 2**20
"""Random numbers that are made."""
_LEAST: Final = 2.0**-10
"""Of the numbers' magnitudes: 16-bit floats below 2⁻¹⁴ are denormal, and slow on some devices."""
_STRIDE: Final = 13
"""Rows by which each matrix begins later in the block; odd, so that 64 rows and more all occur."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Rows of weights: their values (rows, K), and their bytes (rows, bytes of a row)."""

    values: Floats
    data: Bytes

    def tiled(self, rows: int) -> Bytes:
        """The block's bytes repeated, so that `rows` follow each of its rows."""
        return np.resize(self.data, (rows + len(self.data), self.data.shape[1]))

    def first_row(self, index: int) -> int:
        """The row of the block with which matrix `index` begins."""
        return index * _STRIDE % len(self.data)


class RandomData:
    """The block of random numbers; encodings are made once for each type and width."""

    def __init__(self, ggml: Ggml, seed: int | None = None) -> None:
        self._ggml = ggml
        self.block = random_block(seed)
        self._encoded: dict[tuple[int, int], Encoded] = {}

    def columns(self, k: int, n: int) -> Floats:
        """(n, k) values."""
        return np.resize(self.block[1:], (n, k))

    def rows(self, ggml_type: int, k: int) -> Encoded:
        """Rows of `k` weights, encoded as `ggml_type`."""
        if (ggml_type, k) not in self._encoded:
            self._encoded[ggml_type, k] = self._encode(ggml_type, k)
        return self._encoded[ggml_type, k]

    def _encode(self, ggml_type: int, k: int) -> Encoded:
        values = self.block.reshape(-1, k)
        row_size = self._ggml.function("ggml_row_size", c.c_size_t, c.c_int, c.c_int64)
        data = np.empty((len(values), row_size(ggml_type, k)), np.uint8)
        quantize = self._ggml.function(
            "ggml_quantize_chunk",
            c.c_size_t,
            c.c_int,
            c.c_void_p,
            c.c_void_p,
            c.c_int64,
            c.c_int64,
            c.c_int64,
            c.c_void_p,
        )
        quantize(ggml_type, values.ctypes.data, data.ctypes.data, 0, len(values), k, None)
        return Encoded(values, data)


def random_block(seed: int | None = None) -> Floats:
    """`BLOCK` normally distributed values, none of them near zero."""
    values = np.random.default_rng(seed).standard_normal(BLOCK, dtype=np.float32)
    return np.copysign(np.maximum(np.abs(values), np.float32(_LEAST)), values)


def agree(expected: Floats, found: Floats) -> bool:
    """Whether a device computed what was asked, but for rounding and quantization.

    Four-bit weights leave a correlation above 0.98; wrong, stale or empty results have none. NaN
    and infinity agree with nothing.
    """
    with np.errstate(all="ignore"):
        return bool(np.corrcoef(expected, found)[0, 1] > 0.9)  # noqa: PLR2004 - far from both
