"""The table behind modelled watts, and which of its rows fits a machine."""

import re
import tomllib
from dataclasses import dataclass

from desktop import resources
from desktop.records.energy import Scope
from desktop.records.machine import Machine

_SERVER_CPU = re.compile(r"\b(EPYC|Xeon|Opteron|Neoverse|Ampere|QEMU)\b")


@dataclass(frozen=True, slots=True)
class PowerModel:
    """Watts of one machine as a straight line over its load."""

    row: str
    idle_w: float
    full_w: float
    scope: Scope
    source: str

    def watts_w(self, load: float) -> float:
        """Modelled watts at a `load` of 0 to 1."""
        return self.idle_w + load * (self.full_w - self.idle_w)

    def formula(self) -> str:
        """The formula with its constants, in words for people."""
        return (
            f"Modelled, not measured: {self.idle_w:.1f} W + CPU load × "  # noqa: RUF001
            f"({self.full_w:.1f} W - {self.idle_w:.1f} W). Row '{self.row}': {self.source}."
        )


def model_for(machine: Machine, *, has_battery: bool) -> PowerModel | None:
    """The machine's model; None when the number of its cores is not known."""
    row = row_name(machine, has_battery=has_battery)
    table = tomllib.loads(resources.text("power_model.toml"))[row]
    cpu = machine.cpu
    cores = cpu.logical_cores if table["per"] == "logical" else cpu.physical_cores
    cores = cores or cpu.logical_cores
    if not cores:
        return None
    return PowerModel(
        row,
        idle_w=float(table["idle_w_per_core"]) * cores,
        full_w=float(table["full_w_per_core"]) * cores,
        scope=Scope(table["scope"]),
        source=str(table["source"]),
    )


def row_name(machine: Machine, *, has_battery: bool) -> str:
    """`server`, `apple`, `board`, `laptop` or `desktop`."""
    name = machine.cpu.name or ""
    if name.startswith("Apple"):
        return "apple"
    if name.startswith("Raspberry Pi"):
        return "board"
    if _SERVER_CPU.search(name) or (machine.cpu.sockets or 1) > 1:
        return "server"
    return "laptop" if has_battery else "desktop"
