"""Processor packages on Windows, through the Energy Metering Interface."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from desktop.power.counter import Counter, CounterMeter
from desktop.power.meter import Meter
from desktop.power.parse_emi import J_PER_PWH, EmiChannel, read_channels, read_energies
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.sources.emi import EmiDevice

NAME = "EMI"
MISSING = "Windows shows no energy counter of the processor (EMI)."
_INTEL = re.compile(r"RAPL_Package\d+_(PKG|DRAM)")
_AMD = re.compile(r"(Current Socket|Socket|Apu|CPU) (?:Energy|Power)", re.IGNORECASE)
_WIDEST_FIRST = ("current socket", "socket", "apu", "cpu")
"""AMD's drivers' names of the whole package."""


def wanted_channels(channels: Sequence[EmiChannel]) -> tuple[int, ...]:
    """Which channels of a device make up the packages with their memory, each joule once.

    Cores (`PP0`), graphics (`PP1`) and voltage rails (`VDDCR_…`) lie inside the package.
    """
    names = [channel.name for channel in channels]
    intel = [i for i, name in enumerate(names) if _INTEL.fullmatch(name)]
    if any(names[i].endswith("PKG") for i in intel):
        return tuple(intel)
    amd = [(i, found[1].lower()) for i, name in enumerate(names) if (found := _AMD.fullmatch(name))]
    widest = sorted(amd, key=lambda found: _WIDEST_FIRST.index(found[1]))
    return tuple(i for i, _ in widest[:1])


def emi_meter(devices: Sequence[EmiDevice]) -> Meter | str:
    """A meter over the packages of all devices, each once; devices without one are closed."""
    used: list[_Metered] = []
    for device in devices:
        metered = _metered(device)
        if metered is None or any(set(metered.names) & set(u.names) for u in used):
            device.close()
        else:
            used.append(metered)
    return _meter(used) if used else MISSING


@dataclass(frozen=True, slots=True)
class _Metered:
    """A device with the channels that are taken from it."""

    device: EmiDevice
    wanted: tuple[int, ...]
    names: tuple[str, ...]

    def counts(self) -> list[int | None]:
        energies = read_energies(self.device.measurement() or b"")
        return [energies[i] if i < len(energies) else None for i in self.wanted]


def _metered(device: EmiDevice) -> _Metered | None:
    channels = read_channels(device.version, device.metadata() or b"")
    wanted = wanted_channels(channels)
    metered = _Metered(device, wanted, tuple(channels[i].name for i in wanted))
    return metered if wanted and None not in metered.counts() else None


def _meter(used: Sequence[_Metered]) -> Meter:
    names = [name for metered in used for name in metered.names]
    detail = f"Energy counters {', '.join(names)}."
    facts = MeterFacts(NAME, Source.SENSOR, MeterKind.COUNTER, Scope.PACKAGE, detail)

    def look() -> list[int | None]:
        return [count for metered in used for count in metered.counts()]

    def close() -> None:
        for metered in used:
            metered.device.close()

    return CounterMeter(facts, [Counter(J_PER_PWH) for _ in names], look, close)
