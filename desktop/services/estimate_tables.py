"""The estimates' tables, read from the data files once."""

from functools import cache

from desktop import resources
from desktop.estimate import catalogue, targets
from desktop.records.estimate import Configuration, Target
from desktop.records.model import Quant


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
