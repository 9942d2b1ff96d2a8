"""The bytes of Windows' Energy Metering Interface, laid out as in `emi.h` (little-endian). Pure."""

import struct
from dataclasses import dataclass
from typing import Final

from desktop.sources.texts import line

J_PER_PWH: Final = 3.6e-9
"""Joules of a picowatt-hour, the only unit that the interface knows."""
_PICOWATT_HOURS: Final = 0
_V1: Final = struct.Struct("<i32s32sHH")
_V2: Final = struct.Struct("<32s32sHH")
_CHANNEL: Final = struct.Struct("<iH")
_MEASUREMENT: Final = struct.Struct("<QQ")
_V2_VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class EmiChannel:
    """One counter of a device."""

    name: str
    """`RAPL_Package0_PKG`, `Current Socket Power`; for version 1 the hardware that is metered."""


def read_channels(version: int, metadata: bytes) -> tuple[EmiChannel, ...]:
    """The channels of `EMI_METADATA_V1` or `_V2`; none when the bytes are cut or another unit."""
    try:
        return _two(metadata) if version == _V2_VERSION else _one(metadata)
    except (struct.error, UnicodeDecodeError):
        return ()


def read_energies(measurement: bytes) -> tuple[int, ...]:
    """`AbsoluteEnergy` of each channel, picowatt-hours; what is cut at the end is left out."""
    whole = len(measurement) - len(measurement) % _MEASUREMENT.size
    return tuple(energy for energy, _ in _MEASUREMENT.iter_unpack(measurement[:whole]))


def _one(metadata: bytes) -> tuple[EmiChannel, ...]:
    unit, _, _, _, length = _V1.unpack_from(metadata)
    name = _text(metadata, _V1.size, length)
    return (EmiChannel(name),) if unit == _PICOWATT_HOURS else ()


def _two(metadata: bytes) -> tuple[EmiChannel, ...]:
    _, _, _, count = _V2.unpack_from(metadata)
    at, channels = _V2.size, []
    for _ in range(count):
        unit, length = _CHANNEL.unpack_from(metadata, at)
        if unit != _PICOWATT_HOURS:
            return ()
        channels.append(EmiChannel(_text(metadata, at + _CHANNEL.size, length)))
        at += _CHANNEL.size + length
    return tuple(channels)


def _text(data: bytes, at: int, length: int) -> str:
    if at + length > len(data):
        raise struct.error("a name is cut")
    return line(data[at : at + length].decode("utf-16-le").split("\0")[0]) or ""
