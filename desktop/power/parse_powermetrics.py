"""What Apple's `powermetrics -f plist` prints: one property list a sample, a NUL byte between.

Power in milliwatts is the mean over the sample's `elapsed_ns`; Intel Macs give `package_joules`.
Apple's manual page calls the values estimates of its own.
"""

import math
import plistlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from xml.parsers.expat import ExpatError

from desktop.sources.numbers import above_zero, whole

SEPARATOR: Final = b"\0"
_END: Final = b"</plist>"
_PARTS: Final = ("cpu", "gpu", "ane")
_MOST_BYTES: Final = 1024 * 1024
_MOST_W: Final = 3_000.0
"""More than any of Apple's chips draws."""
_BROKEN: Final = (
    ArithmeticError,
    AttributeError,
    ExpatError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What plistlib raises for odd dates, encodings, numbers and nesting; it promises only some."""


@dataclass(frozen=True, slots=True)
class PowermetricsSample:
    """Joules that the chip used over one sample."""

    elapsed_ns: int
    energy_j: float


def split(data: bytes) -> tuple[list[bytes], bytes]:
    """The whole property lists in `data`, and the begun one after them.

    The last one is whole as soon as it is closed: the byte after it may come with the next.
    """
    *whole, rest = data.split(SEPARATOR)
    if rest.rstrip().endswith(_END):
        return [*whole, rest], b""
    # what never ends is no sample
    return whole, rest if len(rest) <= _MOST_BYTES else b""


def read_sample(plist: bytes) -> PowermetricsSample | None:
    """One property list; None when it is damaged or tells no power."""
    try:
        told = plistlib.loads(plist.strip()) if len(plist) <= _MOST_BYTES else None
    except _BROKEN:
        return None
    if not isinstance(told, Mapping):
        return None
    elapsed_ns, processor = above_zero(told.get("elapsed_ns")), told.get("processor")
    if elapsed_ns is None or not isinstance(processor, Mapping):
        return None
    seconds = elapsed_ns / 1e9
    energy_j = _joules(processor, seconds)
    if energy_j is None or energy_j > _MOST_W * seconds:
        return None
    return PowermetricsSample(elapsed_ns, energy_j)


def read_samples(data: bytes) -> tuple[PowermetricsSample, ...]:
    """Every sample of a whole output, the damaged ones left out."""
    plists = [part for part in data.split(SEPARATOR) if part.strip()]
    return tuple(s for part in plists if (s := read_sample(part)) is not None)


def mean_w(samples: tuple[PowermetricsSample, ...]) -> float | None:
    """Mean watts over all samples, each by its length: never the last one alone (case H02)."""
    seconds = sum(s.elapsed_ns for s in samples) / 1e9
    return sum(s.energy_j for s in samples) / seconds if seconds else None


def _joules(processor: Mapping[str, object], seconds: float) -> float | None:
    package_j = _figure(processor, "package_joules")
    if package_j is not None:
        return package_j
    combined_mw = _figure(processor, "combined_power")
    if combined_mw is not None:
        return combined_mw / 1e3 * seconds
    powers = [_figure(processor, f"{part}_power") for part in _PARTS]
    if powers[0] is not None:
        return sum(p for p in powers if p is not None) / 1e3 * seconds
    energies = [_figure(processor, f"{part}_energy") for part in _PARTS]
    return sum(e for e in energies if e is not None) / 1e3 if energies[0] is not None else None


def _figure(processor: Mapping[str, object], key: str) -> float | None:
    value = processor.get(key)
    figure = whole(value) if isinstance(value, int) else value
    known = isinstance(figure, int | float) and 0 <= figure < math.inf
    return float(figure) if known and isinstance(figure, int | float) else None
