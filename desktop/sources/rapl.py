"""The kernel's powercap tree: energy counters of Intel and AMD processors (RAPL)."""

from dataclasses import dataclass
from pathlib import Path

from desktop.sources import files

ROOT = Path("/sys/class/powercap")


@dataclass(frozen=True, slots=True)
class RaplDomain:
    """One counter of the tree."""

    folder: Path
    id: str
    """`intel-rapl:0`, its part `intel-rapl:0:2`."""
    name: str
    """`package-0`, `core`, `uncore`, `dram`, `psys`."""
    readable: bool
    """False where the counter is there but may not be read (the default since Linux 5.10)."""
    max_range_uj: int | None
    """The counter starts again at 0 after this value."""

    def energy_uj(self) -> int | None:
        """Microjoules since some start; None when it cannot be read now."""
        return files.read_integer(self.folder / "energy_uj")


def read_domains(root: Path = ROOT) -> tuple[RaplDomain, ...]:
    """All domains, of all control types (`intel-rapl`, `intel-rapl-mmio`)."""
    folders = files.children(root, "intel-rapl*:*")
    domains = (_domain(folder) for folder in folders)
    return tuple(domain for domain in domains if domain is not None)


def _domain(folder: Path) -> RaplDomain | None:
    name = files.read_line(folder / "name")
    if name is None or not (folder / "energy_uj").exists():
        return None
    readable = files.read_integer(folder / "energy_uj") is not None
    max_range_uj = files.read_integer(folder / "max_energy_range_uj")
    return RaplDomain(folder, folder.name, name, readable, max_range_uj)
