"""What fits on a made-up machine: the real tables and rules, for tests and for the design."""

import tempfile
from functools import cache
from pathlib import Path

from desktop.estimate.catalogue import find
from desktop.estimate.device_page import device_page_of
from desktop.estimate.page import page_of
from desktop.estimate.sheet import sheet_of
from desktop.paths import Paths
from desktop.records.events import Devices, FitsKnown, Phase, Progress, RehearsalFinished
from desktop.records.fits import Fits, FitsRequest
from desktop.records.machine import Accelerator, Cpu, Device, DeviceKind, Machine, MemoryModules
from desktop.records.model import Model
from desktop.records.rehearsal import Rehearsal, RehearsedDepth
from desktop.rules.memory_answers import memory_answers
from desktop.services import profiles
from desktop.services.estimate_events import DevicePageKnown, HerePageKnown, ModelPageKnown
from desktop.services.estimates import fits_at
from desktop.services.facts import MachineFacts
from desktop.services.ground import Ground, read_ground
from desktop.services.written_rows import written_rows
from tests.gui.demo import CONDITIONS, MACHINE, METER, SENSOR

GIB = 2**30
CARD = "NVIDIA GeForce RTX 3060"
WORDS = ("llama",)
"""A part of the catalogue: all of it takes seconds."""
MODEL = "llama-3.1-8b-instruct"


@cache
def ground(*, card: bool = True) -> Ground:
    """A desktop with a card of 12 GiB and 32 GiB beside it, or a machine without a card."""
    with tempfile.TemporaryDirectory() as folder:
        return read_ground(Paths(*[Path(folder)] * 3), facts=_desktop() if card else _bare())


@cache
def fits(context: int = 4096, *, card: bool = True, all_of: bool = False) -> Fits:
    """As the window asks for one context."""
    words = () if all_of else WORDS
    request = FitsRequest(context, context - 1, words, every_model=True)
    return fits_at(ground(card=card), (request,))[0]


def fits_known(*contexts: int, card: bool = True, all_of: bool = False) -> tuple[FitsKnown, ...]:
    return tuple(FitsKnown(fits(context, card=card, all_of=all_of)) for context in contexts)


def model(name: str = MODEL) -> Model:
    found = find(name, profiles.models())
    assert found is not None
    return found


@cache
def model_page(name: str = MODEL, position: int = 4095) -> ModelPageKnown:
    page = page_of(model(name), profiles.own_profile(), profiles.models(), position)
    return ModelPageKnown(page, _here(name, position, all_builds=False))


@cache
def device_page(
    device: str, name: str = MODEL, position: int = 4095, quant: str | None = None
) -> DevicePageKnown:
    profile = profiles.own_profile()
    sheet = sheet_of(model(name), profile, position)
    found = find(device, profile.configurations)
    assert found is not None
    wanted = None if quant is None else find(quant, profile.quants)
    return DevicePageKnown(sheet, device_page_of(sheet, found, wanted))


def here_page(name: str = MODEL, position: int = 4095) -> HerePageKnown:
    found = _here(name, position, all_builds=True)
    return HerePageKnown(
        model(name), found, written_rows(ground(), model(name), found.rows, position)
    )


def rehearsal_begins() -> Progress:
    return Progress(Phase.PREPARING, None, 0.2, None)


def rehearsed(name: str = MODEL, quant: str = "q4_k_m") -> RehearsalFinished:
    depths = (RehearsedDepth(2, 600_000_000, (0.0102,)), RehearsedDepth(6, 1_200_000_000, (0.02,)))
    return RehearsalFinished(
        Rehearsal(
            model=name,
            quant=quant,
            layers=32,
            active_bytes=4_600_000_000,
            depths=depths,
            low_tok_s=41.3,
            middle_tok_s=43.6,
            high_tok_s=46.2,
            engine="llama.cpp",
            engine_version="b5123",
            backend="CUDA",
            threads=6,
            at="2025-03-14T09:26:53Z",
        )
    )


def _here(name: str, position: int, *, all_builds: bool) -> Fits:
    request = FitsRequest(
        position + 1, position, model=name, all_builds=all_builds, every_model=True
    )
    return fits_at(ground(), (request,))[0]


def _desktop() -> MachineFacts:
    machine = Machine(
        os="Linux",
        os_version="Debian 12",
        architecture="x86_64",
        cpu=Cpu("AMD Ryzen 5 5600X 6-Core Processor", 6, 12),
        ram_bytes=32 * GIB,
        accelerators=(
            Accelerator(
                "NVIDIA", CARD, 12 * GIB, integrated=False, dedicated_bytes=12 * GIB,
                backends=("CUDA",),
            ),
        ),
        modules=MemoryModules("DDR4", 3200, 2, 2),
    )  # fmt: skip
    listed = (
        Device("CUDA0", CARD, DeviceKind.GPU, "CUDA", 12 * GIB),
        Device("CPU", "AMD Ryzen 5 5600X 6-Core Processor", DeviceKind.CPU, "CPU"),
    )
    engine = Devices("llama.cpp", "b5123", listed)
    answers = memory_answers(machine)
    return MachineFacts(machine, CARD, SENSOR, engine, CONDITIONS, answers, ())


def _bare() -> MachineFacts:
    engine = Devices("llama.cpp", "b5123", (Device("CPU", "Xeon", DeviceKind.CPU, "CPU"),))
    answers = memory_answers(MACHINE)
    kind = "Linux, CPU only \N{MIDDLE DOT} 4 CPUs"
    return MachineFacts(MACHINE, kind, METER, engine, CONDITIONS, answers, ())
