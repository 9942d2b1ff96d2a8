"""The machine on macOS."""

from desktop.machine import parse_mac
from desktop.machine.cores import usable_cpus
from desktop.records.machine import Accelerator, Cpu
from desktop.sources import mac


def read_cpu() -> Cpu:
    """The processor."""
    return parse_mac.cpu(parse_mac.sysctl_values(mac.read_sysctl() or ""), usable_cpus())


def read_accelerators() -> tuple[Accelerator, ...]:
    """Apple's chip, or the cards of an older Mac."""
    chip = parse_mac.apple_chip(parse_mac.sysctl_values(mac.read_sysctl() or ""))
    if chip is not None:
        return (chip,)
    return parse_mac.displays(mac.read_displays() or "")


def read_virtual() -> str | None:
    """Whether macOS runs in a virtual machine."""
    values = parse_mac.sysctl_values(mac.read_sysctl() or "")
    return "virtual machine" if values.get("kern.hv_vmm_present") == "1" else None
