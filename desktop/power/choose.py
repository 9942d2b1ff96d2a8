"""Which meter a run gets: the best sensor that can be read, else the model, and why.

The order, and its reasons, are in docs/adr/0010-meters.md:

on cards: their energy counters, their power sensors, the battery, the model of processor and cards,
the processor's sensors with the word that the cards are left out;
on the processor: its energy counter (RAPL; IOReport or powermetrics; EMI), an APU's package power,
the battery; last the model.
"""

from collections.abc import Sequence

from desktop.power.meter import Meter
from desktop.power.search import Looked, Search
from desktop.power.sources import PowerSources
from desktop.records.machine import Device, Machine

LIMIT_S = 2.0
"""For all sources together: one that has not opened in its share is given up on, and named."""


def choose_meter(
    machine: Machine,
    devices: Sequence[Device | str] = (),
    sources: PowerSources | None = None,
    limit_s: float = LIMIT_S,
) -> Meter:
    """The meter for a run on this machine. Never raises; takes `limit_s` at the most.

    Its facts' detail names the sources that were given up on.

    Args:
        machine: which systems to ask, and for the model when no sensor can be read.
        devices: what the run uses, as the engine lists it, or names alone; none for the processor.
        sources: where to look.
        limit_s: seconds for all sources together.
    """
    with Search(machine, devices, sources or PowerSources(), limit_s) as search:
        for place in search.places():
            if not isinstance(place.found, str):
                return place.found
        return search.last_resort()


def look_around(
    machine: Machine,
    devices: Sequence[Device | str] = (),
    sources: PowerSources | None = None,
    limit_s: float = LIMIT_S,
) -> tuple[Looked, ...]:
    """Every place that this system has, in the order of choice; the caller closes the meters.

    The last one is the model; NVML is listed where it gave no answer. Never raises; takes
    `limit_s` at the most.
    """
    with Search(machine, devices, sources or PowerSources(), limit_s) as search:
        return (*search.places(), Looked("model", search.last_resort()))
