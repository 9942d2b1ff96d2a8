"""services.measurement: which devices a run names, and what is not measured at all."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from desktop.bench.protocol import Finished, Loaded, Message
from desktop.errors import BenchError
from desktop.records.build import Build
from desktop.records.events import Devices
from desktop.records.machine import Accelerator, Cpu, Device, DeviceKind, Machine
from desktop.records.run import Plan, Repetition
from desktop.services.curves import LiveCurves
from desktop.services.measurement import Measurement
from desktop.services.session import chosen_cards, refuse_lost_card

CPU = Device("CPU", "AMD Ryzen 9 7950X", DeviceKind.CPU, "CPU")
FIRST = Device("CUDA0", "NVIDIA GeForce RTX 3090", DeviceKind.GPU, "CUDA")
SECOND = Device("CUDA1", "NVIDIA GeForce RTX 3090", DeviceKind.GPU, "CUDA")
INTEGRATED = Device("Vulkan2", "AMD Radeon Graphics", DeviceKind.IGPU, "Vulkan")
LISTED = (FIRST, SECOND, INTEGRATED, CPU)
BUILD = Build("b", "00" * 32, 1, "llama", None, None, 1, None)
MACHINE = Machine("Linux", "12", "x86_64", Cpu("AMD Ryzen 9 7950X", 16, 32), 64 << 30)


class FakeWorker:
    """Says what it is given."""

    our_pids = ()

    def __init__(self, *messages: Message) -> None:
        self._messages = messages
        self.said = 0

    def messages(self) -> Iterator[Message]:
        for message in self._messages:
            self.said += 1
            yield message


class NoPower:
    """A meter that read nothing."""

    def energy(self, _windows):
        return None


def measured(loaded, cards):
    worker = FakeWorker(
        Devices("llama.cpp", "b1", LISTED),
        loaded,
        Repetition("tg128", False, 0, 10**9, 128),
        Finished(None, None, None, None),
    )
    curves = LiveCurves(0)
    taken = Measurement(
        BUILD, MACHINE, Plan(), worker, NoPower(), curves, lambda _event: None, cards
    )
    return taken, worker


@pytest.mark.parametrize(
    ("held", "used"),
    [
        # A31: a run on two cards names both; A30: a card that held nothing is not named
        (("CUDA0", "CUDA1"), (FIRST, SECOND)),
        (("CUDA1",), (SECOND,)),
        (("CUDA0", "CPU"), (FIRST, CPU)),
    ],
)
def test_a_run_names_the_cards_that_held_it(held, used):
    backend = "CPU+CUDA" if "CPU" in held else "CUDA"
    taken, _ = measured(Loaded(backend, 5, held), (FIRST, SECOND))
    assert taken.take().engine.devices == used


def test_a35_a_build_that_fell_back_to_the_processor_is_not_measured():
    taken, worker = measured(Loaded("CPU", 5, ("CPU",)), (FIRST, SECOND))
    with pytest.raises(BenchError) as caught:
        taken.take()
    assert caught.value.code == "processor_instead"
    assert "RTX 3090" in str(caught.value)
    assert "--gpu-layers 0" in caught.value.reason.advice()
    # told as soon as it was loaded
    assert worker.said == 2


def test_the_processor_on_purpose_is_measured():
    taken, _ = measured(Loaded("CPU", 5, ("CPU",)), ())
    run = taken.take()
    assert run.engine.backend == "CPU"
    assert run.engine.devices == (CPU,)


def test_cards_are_chosen_by_the_engines_names():
    assert chosen_cards(LISTED, ("CUDA1",)) == (SECOND,)
    assert chosen_cards(LISTED, ("CUDA1", "CUDA0")) == (FIRST, SECOND)


def test_the_processor_is_no_card_and_it_says_how_to_measure_it():
    with pytest.raises(BenchError) as caught:
        chosen_cards(LISTED, ("CPU",))
    assert str(caught.value) == (
        "CPU is the processor, not a card. Measure it: `gram bench --gpu-layers 0`. The engine's "
        "cards: CUDA0, CUDA1, Vulkan2."
    )


@pytest.mark.parametrize("name", ["CUDA7", "", "cuda0"])
def test_a_card_that_is_not_there_is_refused_with_those_that_are(name):
    with pytest.raises(BenchError) as caught:
        chosen_cards(LISTED, (name,))
    assert caught.value.code == "no_such_device"
    assert "CUDA0, CUDA1, Vulkan2" in caught.value.reason.advice()


CARD = Accelerator("NVIDIA", "NVIDIA GeForce RTX 5060 Ti", 16 << 30, False, "0000:01:00.0")
CHIP = Accelerator("Intel", "Intel UHD Graphics 730", 15 << 30, True)


def test_a35_a_card_whose_driver_was_lost_is_not_measured_as_a_processor():
    with pytest.raises(BenchError) as caught:
        refuse_lost_card(
            replace(MACHINE, accelerators=(CARD,)),
            Devices("llama.cpp", "b1", (CPU,), ("CUDA", "CPU")),
        )
    assert caught.value.code == "card_lost"
    assert "RTX 5060 Ti" in str(caught.value)
    assert "CUDA" in str(caught.value)


@pytest.mark.parametrize(
    ("card", "backends"),
    [
        # the only engine that many have: what it measures carries its backend and a note
        (CARD, ("CPU",)),
        (CARD, ("BLAS", "RPC", "CPU")),
        (CHIP, ("Vulkan", "CPU")),
        (None, ("CUDA", "CPU")),
    ],
)
def test_a_processor_that_is_all_the_engine_has_is_measured(card, backends):
    machine = replace(MACHINE, accelerators=(card,) if card else ())
    refuse_lost_card(machine, Devices("llama.cpp", "b1", (CPU,), backends))
