"""How fast a device reads each of ggml's types, from its measured parts.

Five types are measured. Of another one the rate is not known, but it lies between two: where memory
is the limit its bytes are read as fast as a near type's, where unpacking is the limit its weights
are, or on processors more slowly still. What is said of it is the middle, with an uncertainty that
spans both.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from desktop.estimate.trusted import is_trusted, spread_sd
from desktop.records.parts import PartRate, PartTest
from desktop.rules.ggml_types import BLOCKS

MEASURED: Final = {
    PartTest.MATVEC_F16: "F16",
    PartTest.MATVEC_Q8_0: "Q8_0",
    PartTest.MATVEC_Q6_K: "Q6_K",
    PartTest.MATVEC_Q4_K: "Q4_K",
    PartTest.MATVEC_Q4_0: "Q4_0",
}
MEASURED_SD: Final = 0.08
"""Of a measured type: a build's matrices are narrower than the parts' 4096 columns."""
_NEAR: Final[Mapping[str, tuple[str, ...]]] = {
    "F32": ("F16",),
    "BF16": ("F16",),
    "Q4_1": ("Q4_0", "Q8_0"),
    "Q5_0": ("Q4_0", "Q8_0"),
    "Q5_1": ("Q4_0", "Q8_0"),
    "Q8_1": ("Q8_0",),
    "Q2_K": ("Q4_K",),
    "Q3_K": ("Q4_K",),
    "Q5_K": ("Q4_K", "Q6_K"),
    "Q8_K": ("Q8_0",),
    "IQ4_NL": ("Q4_0",),
    "IQ4_XS": ("Q4_K",),
    "MXFP4": ("Q4_0",),
    "NVFP4": ("Q4_0",),
}
"""Types that are stored alike; of those that are not here, the measured ones of most like bits."""
_SLOWER: Final = {"F32": 1.1, "BF16": 1.6}
"""How many times as long a weight may take on processors; some have no instructions for BF16."""
_PLAINLY_SLOWER: Final = 2.2
"""Processors store Q4_0, Q4_K and others anew, several rows interleaved, for their widest
instructions, and leave the rest as it is: on a Zen processor a weight of Q4_1 took twice as long as
one of Q4_0, one of Q5_0 a fifth longer."""
_LOOKED_UP_SLOWER: Final = 4.0
"""Of types that are unpacked by looking up vectors (IQ1 to IQ3) or by powers of three (TQ)."""
_LOOKED_UP_ON_CARDS: Final = 1.6
_BESIDE_SD: Final = 0.08
"""Uncertainty besides that between the two limits."""
_NINETY: Final = 1.64
"""Standard deviations of a normal distribution that hold 90 % of it, on both sides."""


@dataclass(frozen=True, slots=True)
class TypeRate:
    """How long a byte of a type takes."""

    byte_s: float
    """Seconds for one byte."""
    sd: float
    """Relative standard deviation."""
    near: tuple[str, ...] = ()
    """The measured types that it was taken from; empty where it was measured itself."""


def type_rates(
    rates: Sequence[PartRate], device: str, threads: int | None
) -> Mapping[str, TypeRate]:
    """The types of a device that were measured surely enough; empty where none was.

    Args:
        rates: of the machine's parts.
        device: the engine's name of it, `CPU`, `CUDA0`.
        threads: of a processor; None of cards.
    """
    return {
        MEASURED[rate.test]: TypeRate(1 / rate.median, math.hypot(MEASURED_SD, spread_sd(rate)))
        for rate in rates
        if rate.device == device
        and rate.threads == threads
        and rate.test in MEASURED
        and is_trusted(rate)
    }


def rate_for(kind: str, measured: Mapping[str, TypeRate], *, processor: bool = True) -> TypeRate:
    """The rate of ggml's type `kind`.

    Args:
        kind: ggml's name of it.
        measured: the types that were measured of the device.
        processor: whether the device is one; on cards types that are stored alike are read alike.

    Raises:
        KeyError: ggml has no such type.
        ValueError: nothing was measured.
    """
    if kind in measured:
        return measured[kind]
    near = _near(kind, measured)
    bits = _bits(kind)
    limits = [
        at
        for name in near
        for at in (measured[name].byte_s, measured[name].byte_s * _bits(name) / bits)
    ]
    # no type's bytes come faster than the fastest one's: that is the memory
    low = max(min(limits), min(rate.byte_s for rate in measured.values()))
    high = max(low, *limits) * _slower(kind, processor=processor)
    between = math.log(high / low) / 2 / _NINETY
    sd = math.hypot(max(measured[name].sd for name in near), between, _BESIDE_SD)
    return TypeRate(math.sqrt(low * high), sd, near)


def _near(kind: str, measured: Mapping[str, TypeRate]) -> tuple[str, ...]:
    if not measured:
        raise ValueError("no type was measured")
    told = tuple(name for name in _NEAR.get(kind, ()) if name in measured)
    bits = _bits(kind)
    return told or (min(measured, key=lambda name: abs(_bits(name) - bits)),)


def _slower(kind: str, *, processor: bool) -> float:
    looked_up = kind.startswith(("IQ1", "IQ2", "IQ3", "TQ"))
    if not processor:
        return _LOOKED_UP_ON_CARDS if looked_up else 1.0
    return _LOOKED_UP_SLOWER if looked_up else _SLOWER.get(kind, _PLAINLY_SLOWER)


def _bits(kind: str) -> float:
    block = BLOCKS[kind]
    return block.block_bytes / block.block_elements
