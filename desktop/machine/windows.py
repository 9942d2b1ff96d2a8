"""The machine on Windows."""

from desktop.machine import parse_windows
from desktop.machine.cores import usable_cpus
from desktop.machine.parse_virtual import names_virtual
from desktop.records.machine import Accelerator, Cpu
from desktop.sources import system, windows


def read_cpu() -> Cpu:
    """The processor."""
    physical, logical = system.cpu_counts()
    return Cpu(windows.read_cpu_name(), physical, logical, usable_cpus=usable_cpus())


def read_accelerators() -> tuple[Accelerator, ...]:
    """The display adapters that can compute."""
    present = windows.read_present_adapters(limit_s=1.8)
    return parse_windows.accelerators(present, windows.read_registry_adapters())


def read_virtual() -> str | None:
    """Whether Windows runs in a virtual machine."""
    return names_virtual(*windows.read_maker())
