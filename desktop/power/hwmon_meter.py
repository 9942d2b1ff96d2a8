"""AMD's, Intel's and other cards through the kernel's hwmon files.

An APU's power is that of its whole package, processor included (kernel docs, gpu/amdgpu/thermal).
Intel's channels are told apart by their labels: `card` is the board, `pkg` the chip on it.
"""

from collections.abc import Callable
from pathlib import Path

from desktop.power.cards import CardSensor
from desktop.power.momentary import believed_w
from desktop.records.energy import MeterKind, Scope
from desktop.sources import hwmon
from desktop.sources.hwmon import HwmonCard, HwmonChannel

MICRO = 1e-6
_PACKAGE_LABEL = "pkg"
_BOARD_LABEL = "card"


def hwmon_sensor(card: HwmonCard, name: str, *, integrated: bool) -> CardSensor:
    """What one card tells. `name` is for people; `integrated`: it shares chip and power limit."""
    counted = _best([c for c in card.channels if c.energy])
    powered = _best([c for c in card.channels if c.average or c.now])
    chosen = counted or powered
    whole = integrated or card.has_northbridge
    return CardSensor(
        name=name,
        source=card.driver,
        pci_address=card.pci_address,
        integrated=whole,
        scope=Scope.PACKAGE if whole or _is_chip(chosen) else Scope.BOARD,
        count=_count(counted.energy) if counted and counted.energy else None,
        unit_j=MICRO,
        watts=_watts(powered) if powered else None,
        kind=_kind(powered),
        busy=_busy(card.busy) if card.busy else None,
    )


def _best(channels: list[HwmonChannel]) -> HwmonChannel | None:
    """The whole board's where it is told, else the first: it is the widest by the drivers' docs."""
    boards = [c for c in channels if c.label == _BOARD_LABEL]
    return next(iter(boards or channels), None)


def _is_chip(channel: HwmonChannel | None) -> bool:
    return channel is not None and channel.label == _PACKAGE_LABEL


def _kind(channel: HwmonChannel | None) -> MeterKind:
    # the driver's average misses nothing between two looks
    averaged = channel is not None and channel.average is not None
    return MeterKind.AVERAGE if averaged else MeterKind.INSTANTANEOUS


def _count(path: Path) -> Callable[[], int | None]:
    return lambda: hwmon.read_number(path)


def _watts(channel: HwmonChannel) -> Callable[[], float | None]:
    path = channel.average or channel.now

    def look() -> float | None:
        value = hwmon.read_number(path) if path is not None else None
        return None if value is None else believed_w(value * MICRO)

    return look


def _busy(path: Path) -> Callable[[], float | None]:
    def look() -> float | None:
        value = hwmon.read_number(path)
        return None if value is None else min(1.0, max(0.0, value / 100))

    return look
