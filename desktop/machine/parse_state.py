"""Linux's connectors, throttle counters and cooling devices to words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from desktop.records.machine import Thermal

_NO_SCREEN: Final = re.compile(r"card\d+-(?:Writeback|Virtual)-")
"""Connectors that lead to no screen: a virtual machine's is always connected."""
_SLOWS_CPU: Final = re.compile(r"Processor|(?:thermal-)?cpufreq-.*", re.IGNORECASE)
"""Cooling devices that slow the processor; fans and the offset of Intel's trip point do not."""


def display_attached(connectors: Mapping[str, str]) -> bool | None:
    """Whether a screen is plugged in; None where the kernel lists no connectors."""
    real = {name: status for name, status in connectors.items() if not _NO_SCREEN.match(name)}
    told = [status for status in real.values() if status in {"connected", "disconnected"}]
    return "connected" in told if told else None


def thermal(counts: Sequence[int], cooling: Iterable[tuple[str, int]]) -> Thermal | None:
    """Whether heat slows the processor now, where that can be said.

    A cooling device at work says so. That none is at work says little, since Intel's processors
    also slow themselves; their counters add up since boot: only zeros tell of the present moment.
    """
    if any(state > 0 for kind, state in cooling if _SLOWS_CPU.fullmatch(kind)):
        return Thermal.THROTTLED
    return Thermal.NOMINAL if counts and not any(counts) else None
