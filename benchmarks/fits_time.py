"""How long it takes to work out what fits on a machine, in seconds of the processor.

    python benchmarks/fits_time.py [--case NAME]

All models of the catalogue, by the catalogue's rates, for machines of 16 to 64 GiB without a card,
with one or two, and with memory that both share; once one quantization of each model, as `gram
fits` proposes it, and once all (`gram fits --all`). Each case has a process of its own, so that
none finds what another has kept; reading the tables is not counted.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from desktop.estimate.here import Here
from desktop.estimate.token_work import HOST
from desktop.records.fits import FitsRequest
from desktop.records.machine import (
    Accelerator,
    Cpu,
    Device,
    DeviceKind,
    Machine,
    MemoryModules,
)
from desktop.services import estimate_tables
from desktop.services.estimates import fits_of
from desktop.services.ground import Ground
from desktop.services.profiles import models
from desktop.services.this_machine import devices_of

GIB: Final = 1 << 30
SMALL: Final = Accelerator("NVIDIA", "GeForce RTX 3070", 8 * GIB, False, backends=("CUDA",))
LARGE: Final = Accelerator("NVIDIA", "GeForce RTX 3090", 24 * GIB, False, backends=("CUDA",))
SHARED: Final = Accelerator("AMD", "Radeon 780M", 12 * GIB, True, backends=("Vulkan",))
CASES: Final[Mapping[str, tuple[int, tuple[Accelerator, ...], bool]]] = MappingProxyType(
    {
        "no card": (16, (), False),
        "no card, --all": (16, (), True),
        "a card of 8 GiB": (32, (SMALL,), False),
        "a card of 8 GiB, --all": (32, (SMALL,), True),
        "a card of 24 GiB": (64, (LARGE,), False),
        "cards of 8 and 24 GiB": (64, (SMALL, LARGE), False),
        "cards of 8 and 24 GiB, --all": (64, (SMALL, LARGE), True),
        "shared memory": (16, (SHARED,), False),
    }
)
"""GiB of the system's memory, the cards, and whether all quantizations are asked for."""


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES)
    options = parser.parse_args()
    if options.case:
        print(f"{options.case}: {seconds(options.case)}")
        return
    for name in CASES:
        subprocess.run([sys.executable, __file__, "--case", name], check=True)


def seconds(name: str) -> str:
    """The processor's seconds and what came of them."""
    ram_gib, cards, every = CASES[name]
    ground = ground_of(ram_gib, cards)
    models(), estimate_tables.quants()
    start = time.process_time()
    found = fits_of(ground, FitsRequest(all_builds=every))
    used_s = time.process_time() - start
    running = sum(row.runs for row in found.rows)
    return f"{used_s:.1f} s; {running} rows of what runs, {len(found.rows)} in all"


def ground_of(ram_gib: int, cards: tuple[Accelerator, ...]) -> Ground:
    """A machine on which nothing was measured."""
    cpu = Device(HOST, "AMD EPYC", DeviceKind.CPU, "CPU")
    listed = tuple(listed_as(card, number) for number, card in enumerate(cards))
    modules = MemoryModules("DDR5", 5600, channels=2, modules=2)
    machine = Machine(
        "Linux", "6", "x86_64", Cpu("AMD EPYC", 8, 16), ram_gib * GIB, cards, modules=modules
    )
    devices = devices_of(machine, (cpu, *listed))
    here = Here(
        name="a machine",
        room=devices.room,
        cards=tuple(card.name for card in devices.cards),
        bandwidths=devices.bandwidths,
        sides=devices.sides,
        why_no_sides=devices.why_no_sides,
    )
    return Ground(
        here=here,
        kind=here.name,
        devices=devices.cards,
        threads=8,
        on_card_bytes=sum(devices.room.cards) if cards else None,
        with_offload_bytes=None,
        parts_at=None,
        computes_bf16=devices.computes_bf16,
        measured={},
        told=(),
    )


def listed_as(card: Accelerator, number: int) -> Device:
    """The engine's device for a card."""
    kind = DeviceKind.IGPU if card.integrated else DeviceKind.GPU
    (backend,) = card.backends or ("",)
    name = f"{backend}{number}"
    return Device(name, f"{card.vendor} {card.name}", kind, backend, card.memory_bytes)


if __name__ == "__main__":
    main()
