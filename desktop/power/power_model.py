"""The table behind modelled watts, which of its rows fits a machine, and its cards' limits."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from desktop import resources
from desktop.errors import Reason
from desktop.power.used import UsedCard
from desktop.records.energy import Scope
from desktop.records.machine import Machine
from desktop.rules.catalogue import CatalogueDevice, find_device

NO_CORES = "The number of cores is not known, so nothing can be modelled."
NO_ROW = (
    "Gram knows no published watts of this processor or board, so its power is not modelled: "
    "another kind's would be a guess."
)
_SERVER_CPU = re.compile(r"\b(EPYC|Xeon|Opteron|Neoverse|Ampere|QEMU)\b")
_MODULE = re.compile(r"\b(Jetson|Tegra|Orin|Xavier|Thor)\b")
"""NVIDIA's modules: their processors' designs are those of servers, their watts are not."""
_BOARD = re.compile(r"Raspberry Pi (4|400|Compute Module 4)\b")
"""One row, one generation: a Raspberry Pi 5 draws more, a 3 less."""
_X86 = {"x86_64", "amd64", "i386", "i586", "i686", "x86"}
_CARD_ROW = "card"


@dataclass(frozen=True, slots=True)
class PowerModel:
    """Watts of one machine, without its cards, as a straight line over its load."""

    row: str
    idle_w: float
    full_w: float
    scope: Scope
    source: str
    cores: int
    """That the row's figures of one core were multiplied by."""
    logical: bool = False
    """Whether `cores` are logical ones."""
    guest: bool = False
    """A virtual machine: the cores are its own, not its host's."""

    def watts_w(self, load: float) -> float:
        """Modelled watts at a `load` of 0 to 1."""
        return self.idle_w + load * (self.full_w - self.idle_w)

    def formulas(self) -> tuple[Reason, ...]:
        """The formula with its constants, and what it leaves out of a virtual machine's host."""
        made = Reason(
            "modelled_logical" if self.logical else "modelled_physical",
            {
                "idle_w": f"{self.idle_w:.1f}",
                "full_w": f"{self.full_w:.1f}",
                "idle_core_w": f"{self.idle_w / self.cores:.3g}",
                "full_core_w": f"{self.full_w / self.cores:.3g}",
                "cores": self.cores,
                "row": self.row,
                "source": self.source,
            },
        )
        guest = (Reason("modelled_guest", {"cores": self.cores}),) if self.guest else ()
        return made, *guest


@dataclass(frozen=True, slots=True)
class CardModel:
    """Watts of one card as a straight line over the share of time in which it works."""

    name: str
    idle_w: float
    limit_w: float
    source: str
    """Of the share that is drawn while idle; the limit is the catalogue's."""

    def watts_w(self, load: float) -> float:
        """Modelled watts at a `load` of 0 to 1."""
        return self.idle_w + load * (self.limit_w - self.idle_w)

    def formula(self) -> Reason:
        """The formula with its constants."""
        return Reason(
            "modelled_card",
            {
                "name": self.name,
                "idle_w": f"{self.idle_w:.1f}",
                "limit_w": f"{self.limit_w:.1f}",
                "idle_share": f"{self.idle_w / self.limit_w:.3g}",
                "row": _CARD_ROW,
                "source": self.source,
            },
        )


def model_for(machine: Machine, *, has_battery: bool) -> PowerModel | str:
    """The machine's model; why there is none, without a row of its own or a number of cores."""
    row = row_name(machine, has_battery=has_battery)
    if row is None:
        return NO_ROW
    table = _table()[row]
    cpu = machine.cpu
    logical = table["per"] == "logical" or not cpu.physical_cores
    cores = cpu.logical_cores if logical else cpu.physical_cores
    if not cores:
        return NO_CORES
    return PowerModel(
        row,
        idle_w=float(str(table["idle_w_per_core"])) * cores,
        full_w=float(str(table["full_w_per_core"])) * cores,
        scope=Scope(str(table["scope"])),
        source=str(table["source"]),
        cores=cores,
        logical=logical,
        guest=_is_guest(machine.virtual),
    )


def _is_guest(virtual: str | None) -> bool:
    """A container alone is none: it sees the cores, and the load, of the whole machine under it."""
    layers = virtual.split(", ") if virtual else []
    return any(not layer.endswith("container") for layer in layers)


def row_name(machine: Machine, *, has_battery: bool) -> str | None:
    """`server`, `apple`, `board`, `laptop` or `desktop`; None where none of them fits.

    The rows of laptops and desktops are x86 processors': for an ARM board or an ARM laptop they
    are wrong by a factor of ten.
    """
    name = machine.cpu.name or ""
    if name.startswith("Apple"):
        return "apple"
    if _BOARD.match(name):
        return "board"
    if _SERVER_CPU.search(name) and not _is_module(machine):
        return "server"
    if machine.architecture.lower() not in _X86:
        return None
    several = (machine.cpu.sockets or 1) > 1
    return "server" if several else "laptop" if has_battery else "desktop"


def _is_module(machine: Machine) -> bool:
    names = (machine.cpu.name or "", *(card.name for card in machine.accelerators))
    return any(_MODULE.search(name) for name in names)


def card_model(card: UsedCard, catalogue: Sequence[CatalogueDevice]) -> CardModel | None:
    """The card's model; None when the catalogue does not know its limit: there is no default."""
    found = find_device(card.name, catalogue, card.memory_bytes, vendor=card.vendor)
    if found is None or found.power_w is None:
        return None
    row = _table()[_CARD_ROW]
    idle_w = found.power_w * float(str(row["idle_share"]))
    return CardModel(card.name, idle_w, found.power_w, str(row["source"]))


def _table() -> dict[str, dict[str, object]]:
    return tomllib.loads(resources.text("power_model.toml"))
