"""Which meter a run gets: the best sensor that can be read, else the model, and why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from desktop.power.meter import Meter
from desktop.power.modelled import NAME as MODELLED_NAME
from desktop.power.modelled import ModelledMeter, NoMeter
from desktop.power.nvml_meter import nvml_meter
from desktop.power.power_model import model_for
from desktop.power.rapl_meter import rapl_meter, wanted_domains
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import Machine
from desktop.sources import rapl, supply, system
from desktop.sources.limits import Pending
from desktop.sources.nvml import Nvml, NvmlCard, open_nvml
from desktop.sources.rapl import RaplDomain
from desktop.sources.system import CpuTimes

NVML_LIMIT_S = 2.0
NO_CARD_SENSOR = "No sensor of the card can be read: its power is not counted."
RAPL_REFUSED = (
    "The processor's energy counter (RAPL) is there but may not be read; an administrator allows "
    "it with: chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"
)
RAPL_MISSING = "This system shows no energy counter of the processor (RAPL)."


@dataclass(frozen=True, slots=True)
class PowerSources:
    """Where meters look; tests pass their own."""

    open_nvml: Callable[[], Nvml | None] = open_nvml
    rapl_domains: Callable[[], tuple[RaplDomain, ...]] = rapl.read_domains
    cpu_times: Callable[[], CpuTimes | None] = system.cpu_times
    has_battery: Callable[[], bool] = supply.has_battery


def choose_meter(
    machine: Machine, card_names: Sequence[str] = (), sources: PowerSources | None = None
) -> Meter:
    """The meter for a run on this machine. Never raises; may take 2 s with a stuck driver.

    Args:
        machine: for the model, when no sensor can be read.
        card_names: names of the cards that the run uses, as the engine or the driver gives them;
            empty for a run on the processor.
        sources: where to look.
    """
    chosen = sources or PowerSources()
    if card_names:
        meter = _card_meter(card_names, chosen)
        if meter is not None:
            return meter
    note = NO_CARD_SENSOR if card_names else ""
    domains = chosen.rapl_domains()
    return rapl_meter(domains, note) or _modelled(machine, chosen, _why(domains, note))


def _card_meter(names: Sequence[str], sources: PowerSources) -> Meter | None:
    nvml = Pending("NVML", sources.open_nvml).result(NVML_LIMIT_S)
    if nvml is None:
        return None
    meter = nvml_meter(nvml, used_cards(nvml.cards(), names))
    if meter is None:
        nvml.close()
    return meter


def used_cards(cards: Sequence[NvmlCard], names: Sequence[str]) -> tuple[NvmlCard, ...]:
    """The cards of those names.

    Cards of one name cannot be told apart by it: all of them are taken, used or not.
    """
    wanted = {_plain(name) for name in names}
    return tuple(card for card in cards if _plain(card.name) in wanted)


def _plain(name: str) -> str:
    return " ".join(name.lower().removeprefix("nvidia ").split())


def _why(domains: Sequence[RaplDomain], note: str) -> str:
    reason = RAPL_REFUSED if wanted_domains(domains) else RAPL_MISSING
    return f"{reason} {note}".strip()


def _modelled(machine: Machine, sources: PowerSources, note: str) -> Meter:
    model = model_for(machine, has_battery=sources.has_battery())
    if model is None:
        detail = f"The number of cores is not known, so nothing can be modelled. {note}"
        kind = MeterKind.AVERAGE
        return NoMeter(MeterFacts(MODELLED_NAME, Source.MODELLED, kind, Scope.PACKAGE, detail))
    return ModelledMeter(model, sources.cpu_times, note)
