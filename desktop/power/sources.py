"""Where meters look on this system; tests pass their own."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from desktop import resources
from desktop.errors import GramError
from desktop.power.apple_meter import Tool
from desktop.power.parse_battery import (
    Discharge,
    linux_discharge,
    mac_discharge,
    windows_discharge,
)
from desktop.rules.catalogue import RESOURCE, CatalogueDevice, read_catalogue
from desktop.sources import apple_power, battery, emi, hwmon, rapl, supply, system
from desktop.sources.apple_power import EnergyReader
from desktop.sources.emi import EmiDevice
from desktop.sources.hwmon import HwmonCard
from desktop.sources.nvml import Nvml, open_nvml
from desktop.sources.rapl import RaplDomain
from desktop.sources.system import CpuTimes


def read_discharge(platform: str = sys.platform) -> Discharge:
    """The battery of this system, by `sys.platform`'s word for it."""
    if platform == "win32":
        return windows_discharge(battery.read_battery_state())
    if platform == "darwin":
        return mac_discharge(battery.read_smart_battery())
    return linux_discharge(battery.read_supplies())


@cache
def read_shipped_catalogue() -> tuple[CatalogueDevice, ...]:
    """The catalogue that ships with Gram, read once.

    Raises:
        GramError: `resource_damaged`, a fault of packaging.
        OSError: it is not there.
    """
    return read_catalogue(resources.text(RESOURCE))


def shipped_catalogue() -> tuple[CatalogueDevice, ...]:
    """The catalogue of cards; empty when it is missing or damaged, and then no card is modelled."""
    try:
        return read_shipped_catalogue()
    except (GramError, OSError):
        return ()


@dataclass(frozen=True, slots=True)
class PowerSources:
    """The readers of all systems; each gives nothing where its system is another one."""

    open_nvml: Callable[[], Nvml | None] = open_nvml
    hwmon_cards: Callable[[], Sequence[HwmonCard]] = hwmon.read_cards
    rapl_domains: Callable[[], tuple[RaplDomain, ...]] = rapl.read_domains
    discharge: Callable[[], Discharge] = read_discharge
    open_ioreport: Callable[[], EnergyReader | None] = apple_power.open_ioreport
    start_powermetrics: Callable[[], Tool | None] = apple_power.start_powermetrics
    open_emi: Callable[[], tuple[EmiDevice, ...]] = emi.open_devices
    cpu_times: Callable[[], CpuTimes | None] = system.cpu_times
    has_battery: Callable[[], bool] = supply.has_battery
    catalogue: Callable[[], tuple[CatalogueDevice, ...]] = shipped_catalogue
