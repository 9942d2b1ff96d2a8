"""rules.machine_line: a machine in one line, as the standings show it."""

from types import SimpleNamespace

import pytest

from desktop.cli import figures, machine_show
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import Accelerator, Conditions, Cpu, Machine
from desktop.rules.machine_line import machine_line
from desktop.rules.memory_answers import memory_answers

GIB = 2**30
T4 = Accelerator("NVIDIA", "Tesla T4", int(14.56 * GIB), False)
XE = Accelerator("Intel", "Intel(R) Iris(R) Xe Graphics", 8 * GIB, True)


def machine(*cards, os="Linux", cpus=4, ram_gib=31.3, name="AMD EPYC 7B12"):
    ram_bytes = None if ram_gib is None else int(ram_gib * GIB)
    return Machine(os, "12", "x86_64", Cpu(name, cpus, cpus), ram_bytes, cards)


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (machine(), "Linux · no GPU · 4 CPUs · 31 GB RAM"),
        (machine(T4), "Linux · Tesla T4 15 GB · 4 CPUs · 31 GB RAM"),
        (
            machine(
                Accelerator("Apple", "Apple M4", 12 * GIB, True), os="macOS", cpus=10, ram_gib=16
            ),
            "macOS · Apple M4 · 10 CPUs · 16 GB RAM",
        ),
        (
            machine(XE, os="Windows", cpus=1),
            "Windows · Intel(R) Iris(R) Xe Graphics · 1 CPU · 31 GB RAM",
        ),
    ],
)
def test_system_card_cpus_and_memory(found, line):
    assert machine_line(found) == line


def test_several_equal_cards_are_counted_with_the_memory_of_each():
    times = "\N{MULTIPLICATION SIGN}"
    assert (
        machine_line(machine(T4, T4))
        == f"Linux · 2{times} Tesla T4 15 GB each · 4 CPUs · 31 GB RAM"
    )


def test_different_cards_are_joined_and_an_integrated_one_beside_them_is_not_named():
    other = Accelerator("NVIDIA", "NVIDIA L4", None, False)
    assert machine_line(machine(T4, other, XE)).startswith("Linux · Tesla T4 15 GB + NVIDIA L4 · 4")


def test_what_was_not_told_is_left_out():
    nothing = Machine("unknown", "unknown", "", Cpu(None, None, None), None)
    assert machine_line(nothing) == "no GPU"


@pytest.mark.parametrize(
    ("gib", "said"),
    [(30.98, "31 GB"), (7.4, "7 GB"), (0.95, "1 GB"), (400 / 1024, "400 MB"), (0.5, "512 MB")],
)
def test_memory_is_in_whole_gb(gib, said):
    assert machine_line(machine(ram_gib=gib)).endswith(f"{said} RAM")


@pytest.mark.parametrize(
    ("mib", "said"),
    [(50, "50 MiB"), (512, "0.5 GiB"), (1024, "1 GiB"), (15974, "15.6 GiB"), (0.01, "10485 B")],
)
def test_a_small_carve_out_is_not_nothing(mib, said):
    assert figures.memory(int(mib * 2**20)) == said


def test_gram_machine_begins_with_it(capsys):
    here = machine(T4, T4)
    meter = MeterFacts("NVML", Source.SENSOR, MeterKind.COUNTER, Scope.BOARD)
    machine_show.machine(
        SimpleNamespace(
            machine=here,
            kind="2\N{MULTIPLICATION SIGN} Tesla T4",
            meter=meter,
            engine=None,
            conditions=Conditions(None, None, None, None, None, None),
            answers=memory_answers(here),
            given_up=(),
        )
    )
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.split(maxsplit=2) == ["This", "machine", machine_line(here)]
