"""What macOS tells of the power of its chip.

`IOReport` is Apple's own counters, read without root through zeus-apple-silicon (Apache-2.0, see
docs/adr/0010-meters.md). `powermetrics` is Apple's tool; it needs root, so it is started only
where that takes no password.
"""

import contextlib
import importlib
import os
import subprocess
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

TOOL = "/usr/bin/powermetrics"
EVERY_MS = 500
_ADMINISTRATORS = 80
"""The group `admin` of macOS: only its members may use sudo, others are reported for trying."""
_BLOCK = 65_536
_REFUSAL_S = 0.3
"""sudo and the tool refuse at once; what lives longer is at work."""


@dataclass(frozen=True, slots=True)
class AppleCounts:
    """Millijoules since some start, by part of the chip; None where this chip has no counter."""

    cpu_mj: int | None
    gpu_mj: int | None
    gpu_memory_mj: int | None
    """The graphics processor's own static memory."""
    dram_mj: int | None
    neural_mj: int | None


class EnergyReader(Protocol):
    """An open source of `AppleCounts`; tests pass their own."""

    def counts(self) -> AppleCounts | None:
        """All counters at once; None when they cannot be read now."""
        ...


class IoReport:
    """Apple's counters through the library."""

    def __init__(self, monitor: Any) -> None:
        self._monitor = monitor

    def counts(self) -> AppleCounts | None:
        """All counters at once."""
        try:
            told = self._monitor.get_cumulative_energy()
            return AppleCounts(
                told.cpu_total_mj, told.gpu_mj, told.gpu_sram_mj, told.dram_mj, told.ane_mj
            )
        except (RuntimeError, AttributeError):
            return None


def open_ioreport(
    library: ModuleType | None = None, platform: str = sys.platform
) -> IoReport | None:
    """The counters of an Apple chip; None on any other machine or without the library."""
    chosen = library if library is not None else _load(platform)
    try:
        return IoReport(chosen.AppleEnergyMonitor()) if chosen is not None else None
    except (RuntimeError, AttributeError):
        return None


def _load(platform: str) -> ModuleType | None:
    if platform != "darwin":
        return None
    try:
        return importlib.import_module("zeus_apple_silicon")
    except ImportError:
        return None


class Powermetrics:
    """Apple's tool at work: property lists on its output, a NUL byte between them."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def new_bytes(self) -> bytes:
        """What it printed since the last look, never waiting; empty when nothing or when ended."""
        out = self._process.stdout
        if out is None:
            return b""
        blocks = []
        # nothing new, or closed
        with contextlib.suppress(BlockingIOError, OSError, ValueError):
            while block := os.read(out.fileno(), _BLOCK):
                blocks.append(block)
        return b"".join(blocks)

    def close(self) -> None:
        """End it: by closing its output, which also ends what runs as root and takes no signals."""
        if self._process.stdout is not None:
            self._process.stdout.close()
        for end in (self._process.terminate, self._process.kill):
            with contextlib.suppress(OSError):
                end()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
                return


def start_powermetrics(platform: str = sys.platform) -> Powermetrics | None:
    """Start it where that takes no password; None where it does, and on other systems."""
    if platform != "darwin":
        return None
    command = [TOOL, "--samplers", "cpu_power,gpu_power", "-i", str(EVERY_MS), "-f", "plist"]
    if os.geteuid() != 0:
        if _ADMINISTRATORS not in os.getgroups():
            return None
        command = ["/usr/bin/sudo", "-n", *command]
    return start(command)


def start(command: list[str], refusal_s: float = _REFUSAL_S) -> Powermetrics | None:
    """Start a tool that prints property lists; None when it is not there or ends at once."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
    except OSError:
        return None
    if process.stdout is not None:
        os.set_blocking(process.stdout.fileno(), False)
    tool = Powermetrics(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(refusal_s)
    if process.poll() is None:
        return tool
    tool.close()
    return None
