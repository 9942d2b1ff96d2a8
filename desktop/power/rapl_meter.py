"""Intel's and AMD's processor packages, through the kernel's powercap tree."""

from collections.abc import Sequence

from desktop.power.counter import CountedSource, Counter, CounterMeter
from desktop.power.meter import Meter
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.sources.rapl import RaplDomain

NAME = "RAPL"


def wanted_domains(domains: Sequence[RaplDomain]) -> tuple[RaplDomain, ...]:
    """Each socket's package and its memory, once.

    Core and uncore lie inside the package. `psys` is left out: on many boards it is not wired.
    The `mmio` tree shows the same packages a second time.
    """
    native = [d for d in domains if d.id.startswith("intel-rapl:")]
    chosen = native or [d for d in domains if d.id.startswith("intel-rapl-mmio:")]
    return tuple(d for d in chosen if d.name.startswith("package") or d.name == "dram")


def rapl_meter(domains: Sequence[RaplDomain], note: str = "") -> Meter | None:
    """A meter over the wanted domains; None when there is none or one may not be read."""
    wanted = wanted_domains(domains)
    if not wanted or not all(domain.readable for domain in wanted):
        return None
    names = ", ".join(domain.name for domain in wanted)
    detail = f"Energy counters {names}. {note}".strip()
    facts = MeterFacts(NAME, Source.SENSOR, MeterKind.COUNTER, Scope.PACKAGE, detail)
    sources = [CountedSource(Counter(1e-6, d.max_range_uj), d.energy_uj) for d in wanted]
    return CounterMeter(facts, sources)
