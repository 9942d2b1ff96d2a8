from pathlib import Path

import pytest

from desktop.power.choose import (
    NO_CARD_SENSOR,
    RAPL_MISSING,
    RAPL_REFUSED,
    PowerSources,
    choose_meter,
    used_cards,
)
from desktop.power.counter import Change, CountedSource, Counter, CounterMeter
from desktop.power.modelled import ModelledMeter
from desktop.power.nvml_meter import nvml_meter
from desktop.power.power_model import PowerModel, model_for, row_name
from desktop.power.rapl_meter import rapl_meter, wanted_domains
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import Cpu, Machine
from desktop.sources.nvml import NvmlCard
from desktop.sources.rapl import read_domains
from desktop.sources.system import CpuTimes

S = 1_000_000_000
FACTS = MeterFacts("RAPL", Source.SENSOR, MeterKind.COUNTER, Scope.PACKAGE)
MACHINE = Machine("Linux", "12", "x86_64", Cpu("AMD EPYC", 2, 4), None)
DESKTOP = Machine("Linux", "12", "x86_64", Cpu("AMD Ryzen 7 9700X", 8, 16), None)
MAX_UJ = 262143328850


class Ticks:
    """A clock that moves `step_ns` at every second look (before and after a reading)."""

    def __init__(self, step_ns=S):
        self.looks = 0
        self.step_ns = step_ns

    def __call__(self):
        self.looks += 1
        return (self.looks - 1) // 2 * self.step_ns


def counted(*columns, max_range=None):
    sources = []
    for column in columns:
        values = iter(column)
        sources.append(CountedSource(Counter(1e-6, max_range), lambda v=values: next(v)))
    return CounterMeter(FACTS, sources, clock=Ticks())


def energies(meter, n):
    return [(r.energy_j, r.restart) if (r := meter.read()) else None for _ in range(n)]


# --- counters


def test_a_counter_rises():
    meter = counted([5_000_000, 15_000_000, 40_000_000])
    assert energies(meter, 3) == [(0, False), (10, False), (35, False)]
    assert meter.dropped == 0


def test_a_counter_wraps():
    meter = counted([MAX_UJ - 4_000_000, 6_000_000], max_range=MAX_UJ)
    assert energies(meter, 2) == [(0, False), (pytest.approx(10), False)]
    assert meter.dropped == 0


def test_a_counter_that_goes_back_restarts_and_is_counted():
    # as a wrap it would be 262 kJ in a second
    meter = counted([9_000_000, 19_000_000, 1_000_000, 3_000_000], max_range=MAX_UJ)
    assert energies(meter, 4) == [(0, False), (10, False), (10, True), (12, False)]
    assert meter.dropped == 1


def test_a_counter_without_range_that_falls_restarts():
    meter = counted([9_000_000, 1_000_000, 2_000_000])
    assert energies(meter, 3) == [(0, False), (0, True), (1, False)]


def test_a_stalled_counter_is_dropped_and_catches_up():
    meter = counted([1_000_000, 1_000_000, 1_000_000, 4_000_000])
    assert energies(meter, 4) == [(0, False), None, None, (3, False)]
    assert meter.dropped == 2


def test_a_refused_reading_is_dropped_and_loses_nothing():
    meter = counted([1_000_000, None, 4_000_000])
    assert energies(meter, 3) == [(0, False), None, (3, False)]
    assert meter.dropped == 1


def test_a_jump_of_impossible_power_is_no_energy():
    counter = Counter(1e-6)
    counter.advance(0, 0)
    assert counter.advance(10**15, S) is Change.RESTARTED
    assert counter.total_j == 0


def test_several_counters_are_summed():
    meter = counted([0, 1_000_000, 2_000_000], [0, 5_000_000, 5_000_000])
    assert energies(meter, 3) == [(0, False), (6, False), (7, False)]


def test_one_refused_counter_drops_the_whole_reading_until_it_is_back():
    meter = counted([0, 1_000_000, 2_000_000], [0, None, 8_000_000])
    assert energies(meter, 3) == [(0, False), None, (10, False)]


# --- RAPL


def plant_rapl(root, **energy):
    names = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:0:2": "dram"}
    names |= {"intel-rapl:1": "psys", "intel-rapl-mmio:0": "package-0"}
    for domain, name in names.items():
        folder = Path(root) / domain
        folder.mkdir(exist_ok=True)
        (folder / "name").write_text(name)
        (folder / "energy_uj").write_text(energy.get(name.replace("-", "_"), "1000000"))
        (folder / "max_energy_range_uj").write_text(str(MAX_UJ))
    return read_domains(root)


def test_rapl_takes_package_and_memory_once(tmp_path):
    wanted = wanted_domains(plant_rapl(tmp_path))
    assert [d.id for d in wanted] == ["intel-rapl:0", "intel-rapl:0:2"]


def test_rapl_reads_joules(tmp_path):
    meter = rapl_meter(plant_rapl(tmp_path))
    assert meter.read().energy_j == 0
    plant_rapl(tmp_path, package_0="3000000", dram="1500000", core="9999999")
    assert meter.read().energy_j == pytest.approx(2.5)
    assert (meter.facts.source, meter.facts.scope) == (Source.SENSOR, Scope.PACKAGE)
    meter.close()


def test_rapl_that_may_not_be_read_is_no_meter(tmp_path):
    assert rapl_meter(plant_rapl(tmp_path, package_0="")) is None
    assert rapl_meter(()) is None


# --- NVML

T4 = NvmlCard(0, "Tesla T4", None, None, None)
T4_2 = NvmlCard(1, "Tesla T4", None, None, None)
RTX = NvmlCard(2, "NVIDIA GeForce RTX 3080 Ti", None, None, None)


class FakeNvml:
    def __init__(self, energy=None, power=None, cards=(T4, T4_2, RTX)):
        self.energy, self.power, self._cards = energy, power, cards
        self.closed = False

    def cards(self):
        return self._cards

    def energy_mj(self, index):
        return None if self.energy is None else self.energy[index]

    def power_mw(self, index):
        return None if self.power is None else self.power[index]

    def close(self):
        self.closed = True


def test_nvml_counter_of_two_cards():
    nvml = FakeNvml(energy=[1000, 5000])
    meter = nvml_meter(nvml, [T4, T4_2])
    assert meter.read().energy_j == 0
    nvml.energy = [1003, 5004]
    assert meter.read().energy_j == pytest.approx(0.007)
    assert (meter.facts.kind, meter.facts.scope) == (MeterKind.COUNTER, Scope.BOARD)
    meter.close()
    assert nvml.closed


def test_nvml_power_where_there_is_no_counter():
    nvml = FakeNvml(power=[70_000, 30_000])
    meter = nvml_meter(nvml, [T4, T4_2])
    assert meter.read().watts_w == pytest.approx(100.0)
    assert meter.facts.kind is MeterKind.INSTANTANEOUS
    nvml.power = [70_000, None]
    assert meter.read() is None
    assert meter.dropped == 1
    meter.close()
    assert nvml.closed


def test_nvml_that_tells_nothing_is_no_meter():
    assert nvml_meter(FakeNvml(), [T4]) is None
    assert nvml_meter(FakeNvml(), []) is None


def test_cards_are_found_by_whole_names():
    cards = (T4, T4_2, RTX)
    assert used_cards(cards, ["Tesla T4"]) == (T4, T4_2)
    assert used_cards(cards, ["GeForce RTX 3080 Ti"]) == (RTX,)
    assert used_cards(cards, ["NVIDIA GeForce RTX 3080"]) == ()


# --- the model


def test_modelled_watts_follow_the_load():
    model = PowerModel("desktop", 10.0, 110.0, Scope.PACKAGE, "a page")
    times = iter([CpuTimes(0, 0), CpuTimes(0, 4), CpuTimes(2, 8), CpuTimes(6, 12)])
    meter = ModelledMeter(model, lambda: next(times), clock=iter([0, S, 2 * S, 3 * S]).__next__)
    assert [meter.read().energy_j for _ in range(4)] == pytest.approx([0, 10, 70, 180])


def test_modelled_is_labelled_and_says_how():
    model = PowerModel("desktop", 10.0, 110.0, Scope.PACKAGE, "a page")
    facts = ModelledMeter(model, lambda: None, "Because.").facts
    assert facts.source is Source.MODELLED
    assert "not measured: 10.0 W + CPU load" in facts.detail
    assert facts.detail.endswith("a page. Because.")


def test_modelled_without_news_is_dropped():
    model = PowerModel("desktop", 10.0, 110.0, Scope.PACKAGE, "a page")
    times = iter([CpuTimes(1, 4), CpuTimes(1, 4), None])
    meter = ModelledMeter(model, lambda: next(times))
    assert [meter.read() is None for _ in range(3)] == [False, True, True]
    assert meter.dropped == 2


@pytest.mark.parametrize(
    ("cpu", "battery", "row"),
    [
        (Cpu("AMD EPYC", 2, 4), False, "server"),
        (Cpu("Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz", 20, 40), False, "server"),
        (Cpu("Some CPU", 8, 16, sockets=2), False, "server"),
        (Cpu("Apple M4", 10, 10), True, "apple"),
        (Cpu("Raspberry Pi 4 Model B · Cortex-A72", 4, 4), False, "board"),
        (Cpu("AMD Ryzen 7 7840U", 8, 16), True, "laptop"),
        (Cpu("AMD Ryzen 7 9700X", 8, 16), False, "desktop"),
    ],
)
def test_every_row_is_in_the_table_and_makes_sense(cpu, battery, row):
    machine = Machine("Linux", "1", "x86_64", cpu, None)
    assert row_name(machine, has_battery=battery) == row
    model = model_for(machine, has_battery=battery)
    assert 0 < model.idle_w < model.full_w
    assert model.source


def test_the_model_counts_the_cores_its_row_names():
    assert model_for(MACHINE, has_battery=False).full_w == pytest.approx(4 * 3.5)
    assert model_for(DESKTOP, has_battery=False).full_w == pytest.approx(8 * 8.1)


# --- the choice


def sources(nvml=None, domains=()):
    return PowerSources(lambda: nvml, lambda: domains, lambda: CpuTimes(1, 2), lambda: False)


def test_the_cards_sensor_comes_first(tmp_path):
    nvml = FakeNvml(energy=[1, 2, 3])
    meter = choose_meter(MACHINE, ["Tesla T4"], sources(nvml, plant_rapl(tmp_path)))
    assert meter.facts.name == "NVML"
    assert "Tesla T4, Tesla T4" in meter.facts.detail


def test_a_run_on_the_processor_is_not_given_the_cards_meter(tmp_path):
    meter = choose_meter(MACHINE, (), sources(FakeNvml(energy=[1]), plant_rapl(tmp_path)))
    assert meter.facts.name == "RAPL"


def test_a_card_without_sensor_is_said(tmp_path):
    nvml = FakeNvml()
    meter = choose_meter(MACHINE, ["Tesla T4"], sources(nvml, plant_rapl(tmp_path)))
    assert meter.facts.name == "RAPL"
    assert NO_CARD_SENSOR in meter.facts.detail
    assert nvml.closed


def test_an_unreadable_counter_is_modelled_and_says_how_to_allow_it(tmp_path):
    # H03 of the public cases: permission denied must not turn into a silent constant
    meter = choose_meter(MACHINE, (), sources(domains=plant_rapl(tmp_path, package_0="")))
    assert meter.facts.source is Source.MODELLED
    assert RAPL_REFUSED in meter.facts.detail
    assert meter.read().energy_j == 0


def test_no_counter_at_all_is_modelled():
    meter = choose_meter(MACHINE, ["Radeon"], sources())
    assert meter.facts.source is Source.MODELLED
    assert meter.facts.detail.endswith(f"{RAPL_MISSING} {NO_CARD_SENSOR}")


def test_unknown_cores_read_nothing_rather_than_a_guess():
    machine = Machine("Linux", "1", "x86_64", Cpu(None, None, None), None)
    meter = choose_meter(machine, (), sources())
    assert meter.read() is None
    assert meter.dropped == 1
    meter.close()


def test_choice_here():
    meter = choose_meter(MACHINE)
    assert meter.facts.detail
    meter.close()
