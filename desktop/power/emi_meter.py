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
NOT_ALL = (
    "Windows' energy counters (EMI) do not cover the processors once each, so none is used: "
    "counters {shown}, processors {sockets}."
)
UNKNOWN = "unknown"
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
    amd = sorted((name for name in names if _AMD.fullmatch(name)), key=_width)
    return tuple(i for i, name in enumerate(names) if name in amd[:1])


def emi_meter(devices: Sequence[EmiDevice], sockets: int | None = None) -> Meter | str:
    """A meter over the packages of all devices, each once; devices that are not used are closed.

    Args:
        devices: all of the system's.
        sockets: processors of the machine; AMD's counters do not tell which one is theirs.
    """
    found = [metered for device in devices if (metered := _metered(device)) is not None]
    used = _each_once(found, sockets)
    kept = [] if isinstance(used, str) else [metered.device for metered in used]
    for device in devices:
        if not any(device is other for other in kept):
            device.close()
    return used if isinstance(used, str) else _meter(used)


@dataclass(frozen=True, slots=True)
class _Metered:
    """A device with the channels that are taken from it."""

    device: EmiDevice
    wanted: tuple[int, ...]
    names: tuple[str, ...]

    def counts(self) -> list[int | None]:
        energies = read_energies(self.device.measurement() or b"")
        return [energies[i] if i < len(energies) else None for i in self.wanted]

    def only(self, names: Sequence[str]) -> "_Metered":
        """With those of its channels that have these names."""
        pairs = zip(self.wanted, self.names, strict=True)
        return _Metered(self.device, tuple(i for i, name in pairs if name in names), tuple(names))

    def first(self) -> "_Metered":
        """With its first channel alone."""
        return _Metered(self.device, self.wanted[:1], self.names[:1])


def _metered(device: EmiDevice) -> _Metered | None:
    channels = read_channels(device.version, device.metadata() or b"")
    wanted = wanted_channels(channels)
    metered = _Metered(device, wanted, tuple(channels[i].name for i in wanted))
    return metered if wanted and None not in metered.counts() else None


def _width(name: str) -> int:
    """0 for the widest of AMD's names."""
    found = _AMD.fullmatch(name)
    return _WIDEST_FIRST.index(found[1].lower()) if found else len(_WIDEST_FIRST)


def _each_once(found: Sequence[_Metered], sockets: int | None) -> list[_Metered] | str:
    """What covers every processor of the machine once: half of them is not its package."""
    if not found:
        return MISSING
    numbered = _numbered(found)
    used = numbered or _unnumbered(found, sockets)
    shown = sum(not name.endswith("DRAM") for metered in used for name in metered.names)
    # one package may have two numbers (one of each chip in it), but no socket has two of a name
    enough = shown >= (sockets or 1) if numbered else shown == (sockets or 1)
    return used if enough else NOT_ALL.format(shown=shown, sockets=sockets or UNKNOWN)


def _numbered(found: Sequence[_Metered]) -> list[_Metered]:
    """Intel's: their names tell the package, so one that is shown twice is taken once."""
    seen: set[str] = set()
    used = []
    for metered in found:
        new = [name for name in metered.names if _INTEL.fullmatch(name) and name not in seen]
        seen.update(new)
        if new:
            used.append(metered.only(new))
    return used


def _unnumbered(found: Sequence[_Metered], sockets: int | None) -> list[_Metered]:
    """AMD's: the widest of all devices; on one processor one counter, however often it is shown."""
    widest = min(_width(metered.names[0]) for metered in found)
    used = [metered for metered in found if _width(metered.names[0]) == widest]
    return [used[0].first()] if sockets == 1 else used


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
