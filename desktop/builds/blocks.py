"""Blocks of random weights, the same bytes on every platform and with every numpy.

Nothing here is rounded: blocks are put together from PCG64's raw 64-bit stream (which numpy keeps
stable, NEP 19) and fixed scales. The weights are small (about 0.02) with their mean at zero.
"""

import hashlib
import struct
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]


def random_bytes(name: str, count: int) -> Bytes:
    """`count` bytes that depend on the tensor's name only."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big")
    words = np.random.PCG64(seed).random_raw(-(-count // 8))
    return words.astype("<u8").view(np.uint8)[:count]


def _q4_0(random: Bytes) -> Bytes:
    return _with_scales(random, 18, 2.0**-8)


def _q4_1(random: Bytes) -> Bytes:
    blocks = random.reshape(-1, 20).copy()
    # 16 steps of 2⁻⁸ around 0: q·d + m with m = -7.5·d
    blocks[:, :4] = np.frombuffer(struct.pack("<ee", 2.0**-8, -7.5 * 2.0**-8), np.uint8)
    return blocks.reshape(-1)


def _q8_0(random: Bytes) -> Bytes:
    return _with_scales(random, 34, 2.0**-12)


def _with_scales(random: Bytes, block: int, scale: float) -> Bytes:
    """Blocks that begin with a scale; its sign alternates, as -8 to 7 has its mean at -½."""
    blocks = random.reshape(-1, block).copy()
    for first, signed in ((0, scale), (1, -scale)):
        blocks[first::2, :2] = np.frombuffer(struct.pack("<e", signed), np.uint8)
    return blocks.reshape(-1)


def _f16(random: Bytes) -> Bytes:
    return _halves(random[: len(random) // 2], "<f2")


def _f32(random: Bytes) -> Bytes:
    return _halves(random[: len(random) // 4], "<f4")


def _halves(random: Bytes, layout: str) -> Bytes:
    """(2·b - 255)·2⁻¹³ for each byte b: exact in half precision, so the same everywhere."""
    odd = random.astype(np.int16) * np.int16(2) - np.int16(255)
    return np.ldexp(odd.astype(np.float32), -13).astype(layout).view(np.uint8)


MAKERS: Final[Mapping[str, Callable[[Bytes], Bytes]]] = {
    "F32": _f32,
    "F16": _f16,
    "Q4_0": _q4_0,
    "Q4_1": _q4_1,
    "Q8_0": _q8_0,
}
