"""The estimates' tables, read from the data files once."""

from dataclasses import dataclass
from functools import cache

from desktop import resources
from desktop.estimate import catalogue, held_back, targets
from desktop.estimate.held_back import HeldBack, read_held_back
from desktop.records.estimate import Configuration, Target
from desktop.records.machine import Accelerator
from desktop.records.model import Quant
from desktop.rules.catalogue import CatalogueDevice, find_device, read_catalogue


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One row of the table of devices: the device, and what it is sold as."""

    device: CatalogueDevice
    configurations: tuple[Configuration, ...]


@cache
def quants() -> tuple[Quant, ...]:
    """All quantizations of the catalogue.

    Raises:
        GramError: `resource_damaged`.
    """
    return catalogue.read_quants(resources.text(catalogue.QUANTS))


@cache
def configurations() -> tuple[Configuration, ...]:
    """All devices of the catalogue.

    Raises:
        GramError: `resource_damaged`.
    """
    return catalogue.read_configurations(resources.text(catalogue.DEVICES))


@cache
def known_targets() -> tuple[Target, ...]:
    """What back ends reach on classes of devices.

    Raises:
        GramError: `resource_damaged`.
    """
    return targets.read_targets(resources.text(targets.RESOURCE))


@cache
def held_back_rule() -> HeldBack:
    """What of a card's memory nobody may count on.

    Raises:
        GramError: `resource_damaged`.
    """
    return read_held_back(resources.text(held_back.RESOURCE))


def device_row(card: Accelerator) -> DeviceRow | None:
    """The row of a card by its name, memory and cores; None where no row is its own.

    Raises:
        GramError: `resource_damaged`.
    """
    devices = tuple(row.device for row in _rows())
    own = None if card.integrated else card.memory_bytes
    found = find_device(card.name, devices, own, vendor=card.vendor, gpu_cores=card.gpu_cores)
    if found is None:
        return None
    # several rows of one name differ in what `find_device` then leaves out: no bandwidth, no row
    same = (row for row in _rows() if row.device.name == found.name)
    wanted = (found.bandwidth_bytes_s, found.gpu_cores)
    return next(
        (r for r in same if (r.device.bandwidth_bytes_s, r.device.gpu_cores) == wanted), None
    )


@cache
def _rows() -> tuple[DeviceRow, ...]:
    text = resources.text(catalogue.DEVICES)
    return tuple(map(DeviceRow, read_catalogue(text), catalogue.configurations_by_row(text)))
