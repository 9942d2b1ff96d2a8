"""The table behind modelled watts, which of its rows fits a machine, and its cards' limits."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from desktop import resources
from desktop.power.used import UsedCard
from desktop.records.energy import Scope
from desktop.records.machine import Machine
from desktop.rules.catalogue import CatalogueDevice, find_device

_SERVER_CPU = re.compile(r"\b(EPYC|Xeon|Opteron|Neoverse|Ampere|QEMU)\b")
_CARD_ROW = "card"


@dataclass(frozen=True, slots=True)
class PowerModel:
    """Watts of one machine, without its cards, as a straight line over its load."""

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
            f"{self.idle_w:.1f} W + CPU load × "  # noqa: RUF001
            f"({self.full_w:.1f} W - {self.idle_w:.1f} W). Row '{self.row}': {self.source}."
        )


@dataclass(frozen=True, slots=True)
class CardModel:
    """Watts of one card as a straight line over the share of time in which it works."""

    name: str
    idle_w: float
    limit_w: float
    source: str

    def watts_w(self, load: float) -> float:
        """Modelled watts at a `load` of 0 to 1."""
        return self.idle_w + load * (self.limit_w - self.idle_w)

    def formula(self) -> str:
        """The formula with its constants, in words for people."""
        return (
            f"{self.name}: {self.idle_w:.1f} W + its load × "  # noqa: RUF001
            f"({self.limit_w:.1f} W - {self.idle_w:.1f} W); {self.source}."
        )


def model_for(machine: Machine, *, has_battery: bool) -> PowerModel | None:
    """The machine's model; None when the number of its cores is not known."""
    row = row_name(machine, has_battery=has_battery)
    table = _table()[row]
    cpu = machine.cpu
    cores = cpu.logical_cores if table["per"] == "logical" else cpu.physical_cores
    cores = cores or cpu.logical_cores
    if not cores:
        return None
    return PowerModel(
        row,
        idle_w=float(str(table["idle_w_per_core"])) * cores,
        full_w=float(str(table["full_w_per_core"])) * cores,
        scope=Scope(str(table["scope"])),
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


def card_model(card: UsedCard, catalogue: Sequence[CatalogueDevice]) -> CardModel | None:
    """The card's model; None when the catalogue does not know its limit: there is no default."""
    found = find_device(card.name, catalogue, card.memory_bytes, vendor=card.vendor)
    if found is None or found.power_w is None:
        return None
    row = _table()[_CARD_ROW]
    idle_w = found.power_w * float(str(row["idle_share"]))
    source = f"limit by the catalogue, idle by the row '{_CARD_ROW}': {row['source']}"
    return CardModel(card.name, idle_w, found.power_w, source)


def _table() -> dict[str, dict[str, object]]:
    return tomllib.loads(resources.text("power_model.toml"))
