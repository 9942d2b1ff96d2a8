"""Random weights for files that are only timed: any type of ggml's, made as fast as a disk writes.

A piece of random blocks is made once for each type and repeated. The bits are random, so no device
can skip or compress them; the scales in the blocks are small, so that what is computed stays
finite: some processors take longer for numbers that are not.
"""

import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import numpy as np

from desktop.builds.blocks import Bytes, random_bytes
from desktop.rules.ggml_types import BLOCKS

PIECE_BLOCKS: Final = 16_384
"""Of a type's piece; odd sizes of tensors cut it anywhere between blocks."""
_HALF: Final = "<e"
_TINY: Final = 2.0**-14
_SCALES: Final[Mapping[str, tuple[tuple[int, float], ...]]] = {
    "Q4_0": ((0, 2.0**-8),),
    "Q4_1": ((0, 2.0**-8), (2, -7.5 * 2.0**-8)),
    "Q5_0": ((0, 2.0**-9),),
    "Q5_1": ((0, 2.0**-9), (2, -15.5 * 2.0**-9)),
    "Q8_0": ((0, 2.0**-12),),
    "Q2_K": ((80, 2.0**-9), (82, 1.5 * 2.0**-9)),
    "Q3_K": ((108, 2.0**-11),),
    "Q4_K": ((0, _TINY), (2, 7.5 * _TINY)),
    "Q5_K": ((0, _TINY / 2), (2, 15.5 * _TINY / 2)),
    "Q6_K": ((208, 2.0**-17),),
    "IQ1_S": ((0, 2.0**-8),),
    "IQ2_XXS": ((0, 2.0**-11),),
    "IQ2_XS": ((0, 2.0**-11),),
    "IQ2_S": ((0, 2.0**-11),),
    "IQ3_XXS": ((0, 2.0**-11),),
    "IQ3_S": ((0, 2.0**-11),),
    "IQ4_NL": ((0, 2.0**-12),),
    "IQ4_XS": ((0, 2.0**-16),),
}
"""Where in a block its 16-bit scales stand (the block structs of ggml-common.h), and what they are
here: the weights have a magnitude of about 0.02, and their mean near zero."""
_EXPONENT: Final = 118
"""Of MXFP4's blocks, in place of a scale: 2⁻⁹."""


def filling(kind: str, size_bytes: int) -> Iterator[memoryview]:
    """`size_bytes` of random blocks of ggml's type `kind`, in pieces.

    Raises:
        ValueError: there is no filling of that type.
    """
    piece = memoryview(_piece(kind))
    left = size_bytes
    while left > 0:
        yield piece[: min(left, len(piece))]
        left -= len(piece)


def can_fill(kind: str) -> bool:
    """Whether there is a filling of the type."""
    return kind in _SCALES or kind in {"F32", "F16", "BF16", "MXFP4"}


@cache
def _piece(kind: str) -> bytes:
    if not can_fill(kind):
        raise ValueError(f"no filling of {kind}")
    block = BLOCKS[kind]
    size = PIECE_BLOCKS * block.block_bytes * (256 // block.block_elements)
    return _scaled(kind, random_bytes(kind, size)).tobytes()


def _scaled(kind: str, random: Bytes) -> Bytes:
    if kind in {"F32", "F16", "BF16"}:
        return _floats(kind, random)
    blocks = random.reshape(-1, BLOCKS[kind].block_bytes).copy()
    if kind == "MXFP4":
        blocks[:, 0] = _EXPONENT
    for at, scale in _SCALES.get(kind, ()):
        blocks[:, at : at + 2] = np.frombuffer(struct.pack(_HALF, scale), np.uint8)
    return blocks.reshape(-1)


def _floats(kind: str, random: Bytes) -> Bytes:
    """(b - 127.5) ÷ 4096 for each random byte b, as often as the type has room for."""
    width = BLOCKS[kind].block_bytes
    values = (random[: len(random) // width].astype(np.float32) - 127.5) / 4096
    if kind == "BF16":
        return np.ascontiguousarray(values.view("<u2")[1::2]).view(np.uint8)
    return values.astype("<f2" if kind == "F16" else "<f4").view(np.uint8)
