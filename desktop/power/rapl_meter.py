"""Intel's and AMD's processor packages, through the kernel's powercap tree."""

from collections.abc import Sequence

from desktop.power.counter import Counter, CounterMeter
from desktop.power.meter import Meter
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.sources.rapl import RaplDomain

NAME = "RAPL"
MISSING = "This system shows no energy counter of the processor (RAPL)."
REFUSED = (
    "The processor's energy counter (RAPL) is there but may not be read; an administrator allows "
    "it until the next start with: chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"
)
_J_PER_UJ = 1e-6


def wanted_domains(domains: Sequence[RaplDomain]) -> tuple[RaplDomain, ...]:
    """Each socket's package and its memory, once.

    Core and uncore lie inside the package. `psys` is left out: on many boards it is not wired.
    The `mmio` tree shows the same packages a second time.
    """
    native = [d for d in domains if d.id.startswith("intel-rapl:")]
    chosen = native or [d for d in domains if d.id.startswith("intel-rapl-mmio:")]
    return tuple(d for d in chosen if d.name.startswith("package") or d.name == "dram")


def rapl_meter(domains: Sequence[RaplDomain]) -> Meter | str:
    """A meter over the wanted domains; why not, when there is none or one may not be read."""
    wanted = wanted_domains(domains)
    if not any(domain.name.startswith("package") for domain in wanted):
        return MISSING
    if not all(domain.readable for domain in wanted):
        return REFUSED
    names = ", ".join(domain.name for domain in wanted)
    detail = f"Energy counters {names}."
    facts = MeterFacts(NAME, Source.SENSOR, MeterKind.COUNTER, Scope.PACKAGE, detail)
    counters = [Counter(_J_PER_UJ, domain.max_range_uj) for domain in wanted]
    return CounterMeter(facts, counters, lambda: [domain.energy_uj() for domain in wanted])
