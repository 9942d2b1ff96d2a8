"""power: counters, momentary sensors, the parsers of three systems, models. Cases H02, H03, H04."""

import os
import plistlib
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from desktop.power import apple_meter, emi_meter, parse_battery, parse_powermetrics, rapl_meter
from desktop.power.apple_meter import PowermetricsMeter, ioreport_meter
from desktop.power.battery_meter import battery_meter
from desktop.power.cards import CardSensor, card_meter
from desktop.power.counter import Change, Counter, CounterMeter
from desktop.power.emi_meter import wanted_channels
from desktop.power.energy import energy_of
from desktop.power.hwmon_meter import hwmon_sensor
from desktop.power.meter import Noted, Reading
from desktop.power.modelled import ModelledCard, ModelledMeter
from desktop.power.momentary import PowerMeter
from desktop.power.nvml_meter import nvml_sensor
from desktop.power.parse_battery import Discharge, linux_discharge, mac_discharge, windows_discharge
from desktop.power.parse_emi import EmiChannel, read_channels, read_energies
from desktop.power.power_model import (
    NO_CORES,
    NO_ROW,
    CardModel,
    PowerModel,
    card_model,
    model_for,
    row_name,
)
from desktop.power.rapl_meter import wanted_domains
from desktop.power.sampler import Sampler
from desktop.power.used import UsedCard
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import Accelerator, Cpu, Machine
from desktop.rules.catalogue import CatalogueDevice, words_of
from desktop.sources import apple_power, battery, emi, hwmon, nvml
from desktop.sources.apple_power import AppleCounts
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


def counted(*columns, max_range=None, unit_j=1e-6, may_rest=False, **options):
    rows = iter(zip(*columns, strict=True))
    counters = [Counter(unit_j, max_range, may_rest) for _ in columns]
    return CounterMeter(FACTS, counters, lambda: next(rows), clock=Ticks(), **options)


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
    meter = counted([0, 1_000_000, 2_000_000], [0, 5_000_000, 6_000_000])
    assert energies(meter, 3) == [(0, False), (6, False), (8, False)]


def test_a_sum_waits_until_every_counter_has_moved_and_loses_nothing():
    meter = counted([5, 10, 20, 30, 40], [7, 17, 17, 17, 57], unit_j=1)
    assert energies(meter, 5) == [(0, False), (15, False), None, None, (85, False)]
    assert meter.dropped == 2


def two_cards(second_mj):
    """Two cards of 30 W in twenty looks a tenth of a second apart; what the second one counts."""
    nvml, clock = FakeNvml(), Ticks(S // 10)
    nvml.energy = [1_000, 1_000]
    meter = nvml_meter(nvml, [T4, T4_2])
    meter.clock = clock
    readings = []
    for look in range(200):
        nvml.energy = [1_000 + 3_000 * look, 1_000 + second_mj(look)]
        readings.append(meter.read())
    told = [reading for reading in readings if reading is not None]
    window = (0, round(19.9 * S))
    return energy_of([window], told, None, meter.facts, meter.max_gap_ns), meter.dropped


def test_a_card_that_freezes_beside_another_makes_the_time_uncovered_and_is_no_card_of_0_watts():
    whole, dropped = two_cards(lambda look: 3_000 * look)
    assert (whole.energy_j, whole.covered, dropped) == (pytest.approx(1194), pytest.approx(1), 0)
    frozen, dropped = two_cards(lambda look: 3_000 * min(look, 90))
    assert frozen.covered == pytest.approx(9 / 19.9)
    assert frozen.energy_j == pytest.approx(540)
    assert dropped == 109
    # the counter goes on after two seconds: only they are not covered
    back, _ = two_cards(lambda look: 3_000 * (look if not 90 < look < 110 else 90))
    assert back.covered == pytest.approx(17.9 / 19.9)
    assert back.energy_j == pytest.approx(60 * 17.9)


def test_a_card_that_was_frozen_before_the_first_look_gives_no_energy_at_all():
    nothing, dropped = two_cards(lambda _: 0)
    assert (nothing, dropped) == (None, 199)


def test_one_refused_counter_drops_the_whole_reading_until_it_is_back():
    meter = counted([0, 1_000_000, 2_000_000], [0, None, 8_000_000])
    assert energies(meter, 3) == [(0, False), None, (10, False)]


def test_counters_renewed_at_different_moments_are_reported_when_all_have_moved():
    # the second is renewed at every third look only: a sum of fresh and stale ones would jump
    fast = [10, 20, 30, 40, 50, 60, 70, 80]
    slow = [100, 100, 130, 130, 130, 160, 160, 160]
    meter = counted(fast, slow, unit_j=1, together=True)
    told = [None, None, (50, False), None, None, (110, False), None, None]
    assert energies(meter, 8) == told
    assert meter.dropped == 0


def test_a_counter_that_never_counts_is_not_waited_for():
    meter = counted([10, 20, 30], [0, 0, 0], unit_j=1, together=True)
    assert energies(meter, 3) == [None, (10, False), (20, False)]


def test_a_counter_that_may_rest_and_falls_silent_is_waited_for_three_seconds_only():
    slow = [0, 5, *[9] * 7]
    meter = counted(range(0, 90, 10), slow, unit_j=1, together=True, may_rest=True)
    told = [None, (15, False), (29, False), None, None, (59, False), (69, False), (79, False)]
    assert energies(meter, 8) == told


def test_a_restart_that_was_not_reported_yet_is_not_forgotten():
    fast, slow = [50, 1, 11, 21], [100, 100, 130, 160]
    meter = counted(fast, slow, unit_j=1, together=True)
    assert energies(meter, 4) == [None, None, (40, True), (80, False)]


def test_a_restart_in_a_look_that_another_counter_refused_is_not_forgotten():
    begun_anew, refused_once = [50, 60, 1, 11, 21], [100, 110, None, 130, 140]
    meter = counted(begun_anew, refused_once, unit_j=1)
    # 9 J of the first counter are not known: the step to the next sum says nothing
    assert energies(meter, 5) == [(0, False), (20, False), None, (50, True), (70, False)]


# --- momentary sensors


def test_watts_are_summed_and_one_refusal_drops_the_look():
    rows = {"a": [70.0, 70.0], "b": [30.0, None]}
    looks = [lambda: rows["a"].pop(0), lambda: rows["b"].pop(0)]
    meter = PowerMeter(FACTS, looks, clock=Ticks())
    assert meter.read() == Reading(0, watts_w=100.0)
    assert meter.read() is None
    assert meter.dropped == 1


def test_a_slow_source_is_asked_no_oftener_than_it_has_news_and_nothing_counts_as_dropped():
    asked = []
    meter = PowerMeter(FACTS, [lambda: asked.append(1) or 9.0], every_ns=S, clock=Ticks(S // 4))
    readings = [meter.read() for _ in range(9)]
    assert len(asked) == sum(r is not None for r in readings)
    assert 2 <= len(asked) <= 5
    assert meter.dropped == 0


# --- constant, step and burst, through meter and sampler


class Load:
    """A machine with a known load, and a clock that moves only when the sampler waits."""

    def __init__(self, watts):
        self.watts = watts
        self.now_ns = 0
        self.joules = 0.0
        self.waits = 0

    def clock(self):
        return self.now_ns

    def wait(self, timeout):
        self.waits += 1
        # real threads come late: by up to 2 ms, differently each time
        late_ns = (self.waits * 7919) % 2_000_000
        end_ns = self.now_ns + round(timeout * 1e9) + late_ns
        while self.now_ns < end_ns:
            step_ns = min(1_000_000, end_ns - self.now_ns)
            self.joules += self.watts(self.now_ns / 1e9) * step_ns / 1e9
            self.now_ns += step_ns
        return self.now_ns > 12 * S

    def set(self):
        pass


LOADS = {
    "constant": lambda _: 50.0,
    "step": lambda t: 20.0 if t < 5.02 else 120.0,
    "burst": lambda t: 110.0 if 3.03 <= t < 7.57 else 10.0,
    "many bursts": lambda t: 200.0 if t % 1.7 < 0.8 else 15.0,
}


@pytest.mark.parametrize("kind", ["counter", "momentary"])
@pytest.mark.parametrize("name", LOADS)
def test_known_loads_are_measured_within_one_percent(name, kind):
    load = Load(LOADS[name])
    start_uj = MAX_UJ - 77_000_000

    def count():
        return [(start_uj + round(load.joules * 1e6)) % MAX_UJ]

    meters = {
        "counter": CounterMeter(FACTS, [Counter(1e-6, MAX_UJ)], count, clock=load.clock),
        "momentary": PowerMeter(FACTS, [lambda: load.watts(load.now_ns / 1e9)], clock=load.clock),
    }
    sampler = Sampler(meters[kind], clock=load.clock, stopper=load)
    sampler._run()
    window = (round(1.234 * S), round(11.777 * S))
    steps = [LOADS[name](ms / 1000) for ms in range(1234, 11777)]
    energy = energy_of([window], sampler.readings(), None, FACTS)
    assert energy.energy_j == pytest.approx(sum(steps) / 1000, rel=0.01)
    assert energy.covered == pytest.approx(1.0)


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
    meter = rapl_meter.rapl_meter(plant_rapl(tmp_path))
    assert meter.read().energy_j == 0
    plant_rapl(tmp_path, package_0="3000000", dram="1500000", core="9999999")
    assert meter.read().energy_j == pytest.approx(2.5)
    assert (meter.facts.source, meter.facts.scope) == (Source.SENSOR, Scope.PACKAGE)
    meter.close()


def test_rapl_that_may_not_be_read_says_how_to_allow_it(tmp_path):
    why = rapl_meter.rapl_meter(plant_rapl(tmp_path, package_0=""))
    assert why == rapl_meter.REFUSED
    assert "chmod a+r" in why
    assert rapl_meter.rapl_meter(()) == rapl_meter.MISSING


# --- cards: NVML

T4 = NvmlCard(0, "Tesla T4", None, None, None)
T4_2 = NvmlCard(1, "Tesla T4", None, None, None)
RTX = NvmlCard(2, "NVIDIA GeForce RTX 3080 Ti", None, "00000000:0A:00.0", None)


class FakeNvml:
    def __init__(self, energy=None, power=None, busy=None, cards=(T4, T4_2, RTX)):
        self.energy, self.power, self.busy, self._cards = energy, power, busy, cards
        self.closed = False

    def cards(self):
        return self._cards

    def energy_mj(self, index):
        return None if self.energy is None else self.energy[index]

    def power_mw(self, index):
        return None if self.power is None else self.power[index]

    def busy_percent(self, index):
        return None if self.busy is None else self.busy[index]

    def close(self):
        self.closed = True


def nvml_meter(nvml, cards):
    return card_meter([nvml_sensor(nvml, card) for card in cards], nvml.close)


def test_nvml_counter_of_two_cards():
    nvml = FakeNvml(energy=[1000, 5000])
    meter = nvml_meter(nvml, [T4, T4_2])
    assert meter.read().energy_j == 0
    nvml.energy = [1003, 5004]
    assert meter.read().energy_j == pytest.approx(0.007)
    assert meter.facts.name == "NVML"
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


def test_cards_that_tell_nothing_are_no_meter():
    assert nvml_meter(FakeNvml(), [T4]) is None
    assert nvml_meter(FakeNvml(power=[0]), [T4]) is None
    assert card_meter([]) is None


def test_a_card_with_a_counter_beside_one_with_power_only_are_read_by_power():
    counts = CardSensor("A", "xe", count=lambda: 5, watts=lambda: 40.0, kind=MeterKind.AVERAGE)
    meter = card_meter([counts, CardSensor("B", "NVML", watts=lambda: 60.0)])
    assert meter.read().watts_w == 100.0
    assert (meter.facts.name, meter.facts.kind) == ("xe and NVML", MeterKind.AVERAGE)
    assert card_meter([CardSensor("A", "xe", count=lambda: 5), CardSensor("B", "NVML")]) is None


def test_nvml_tells_how_busy_a_card_is_and_refuses_quietly():
    class RefusedError(Exception):
        pass

    def refuse(_):
        raise RefusedError

    library = SimpleNamespace(
        NVMLError=RefusedError,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUtilizationRates=lambda _: SimpleNamespace(gpu=37, memory=5),
    )
    opened = nvml.open_nvml(library)
    assert opened.busy_percent(0) == 37
    assert nvml_sensor(opened, T4).busy() == pytest.approx(0.37)
    library.nvmlDeviceGetUtilizationRates = refuse
    assert opened.busy_percent(0) is None
    assert nvml_sensor(opened, T4).busy() is None
    library.nvmlDeviceGetHandleByIndex = refuse
    assert nvml.open_nvml(library).busy_percent(0) is None


# --- cards: hwmon


def plant_card(root, address="0000:03:00.0", pci_class="0x030000", busy=None, **chip):
    folder = root / "sys/bus/pci/devices" / address
    monitor = folder / "hwmon/hwmon3"
    monitor.mkdir(parents=True)
    (folder / "class").write_text(pci_class + "\n")
    if busy is not None:
        (folder / "gpu_busy_percent").write_text(f"{busy}\n")
    for name, text in chip.items():
        (monitor / name).write_text(f"{text}\n")
    return monitor


def read_card(root, *, integrated=False):
    (card,) = hwmon.read_cards(root)
    return hwmon_sensor(card, "Radeon", integrated=integrated)


def test_amds_average_comes_before_its_momentary_power(tmp_path):
    plant_card(tmp_path, name="amdgpu", power1_average="187000000", power1_input="190000000")
    meter = card_meter([read_card(tmp_path)])
    assert meter.read().watts_w == pytest.approx(187.0)
    assert (meter.facts.name, meter.facts.kind) == ("amdgpu", MeterKind.AVERAGE)
    assert meter.facts.scope is Scope.BOARD


def test_a_counter_of_the_driver_comes_before_its_power(tmp_path):
    card = plant_card(tmp_path, name="amdgpu", power1_average="9", energy1_input="1000000")
    meter = card_meter([read_card(tmp_path)])
    assert meter.read().energy_j == 0
    (card / "energy1_input").write_text("3500000")
    assert meter.read().energy_j == pytest.approx(2.5)
    assert meter.facts.kind is MeterKind.COUNTER


@pytest.mark.parametrize(
    ("chip", "integrated"), [({"in1_label": "vddnb"}, False), ({"in1_label": "vddgfx"}, True)]
)
def test_an_apus_power_is_the_packages(tmp_path, chip, integrated):
    plant_card(tmp_path, name="amdgpu", power1_input="9000000", **chip)
    sensor = read_card(tmp_path, integrated=integrated)
    facts = card_meter([sensor]).facts
    assert (facts.scope, facts.kind) == (Scope.PACKAGE, MeterKind.INSTANTANEOUS)
    assert "processor included" in facts.detail


def test_a_sleeping_card_drops_its_looks_and_zero_is_no_reading(tmp_path):
    monitor = plant_card(tmp_path, name="amdgpu", power1_average="9000000")
    meter = card_meter([read_card(tmp_path)])
    for text in ("", "0"):
        (monitor / "power1_average").write_text(text)
        assert meter.read() is None
    assert meter.dropped == 2


def test_what_is_no_card_and_what_has_no_power_is_left_out(tmp_path):
    plant_card(tmp_path, "0000:01:00.0", "0x010802", name="nvme", power1_input="1")
    plant_card(tmp_path, "0000:02:00.0", name="amdgpu", temp1_input="40000")
    plant_card(tmp_path, "0000:04:00.0", name="i915_gt0", energy1_input="1")
    (cards,) = hwmon.read_cards(tmp_path)
    assert (cards.pci_address, cards.channels) == ("0000:02:00.0", ())
    assert hwmon.read_cards(tmp_path / "none") == ()


def test_a_card_that_only_tells_how_busy_it_is(tmp_path):
    monitor = plant_card(tmp_path, busy=150)
    monitor.rmdir()
    sensor = read_card(tmp_path)
    assert (sensor.count, sensor.watts, sensor.busy()) == (None, None, 1.0)


# --- the battery


def supply(**files):
    return {"type": "Battery", "status": "Discharging", "power_now": "10000000"} | files


@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ({}, Discharge(None, parse_battery.NO_BATTERY)),
        ({"BAT0": supply()}, Discharge(10.0)),
        ({"BAT0": supply(), "BAT1": supply(power_now="-2000000")}, Discharge(12.0)),
        ({"BAT0": supply(), "BAT1": supply(status="Unknown", power_now="0")}, Discharge(10.0)),
        ({"BAT0": supply(power_now="0")}, Discharge(None, parse_battery.NO_RATE)),
        ({"BAT0": supply(power_now="junk")}, Discharge(None, parse_battery.NO_RATE)),
        (
            {"BAT0": supply(), "BAT1": supply(power_now="0")},
            Discharge(None, parse_battery.NO_RATE),
        ),
        (
            {"BAT0": {**supply(current_now="-1500000", voltage_now="12000000"), "power_now": "0"}},
            Discharge(18.0),
        ),
        ({"BAT0": supply(status="Charging")}, Discharge(None, parse_battery.CHARGING)),
        (
            {"BAT0": supply(), "BAT1": supply(status="Charging")},
            Discharge(None, parse_battery.CHARGING),
        ),
        ({"BAT0": supply(status="Full")}, Discharge(None, parse_battery.ON_MAINS)),
        (
            {"AC": {"type": "Mains", "online": "1"}, "BAT0": supply()},
            Discharge(None, parse_battery.ON_MAINS),
        ),
        (
            {"usb": {"type": "USB", "online": "1"}, "BAT0": supply()},
            Discharge(None, parse_battery.ON_MAINS),
        ),
        (
            # USB PD's programmable supply: online is 2 (kernel ABI, sysfs-class-power)
            {"ucsi": {"type": "USB", "online": "2"}, "BAT0": supply()},
            Discharge(None, parse_battery.ON_MAINS),
        ),
        ({"usb": {"type": "USB", "online": "0"}, "BAT0": supply()}, Discharge(10.0)),
        ({"usb": {"type": "USB"}, "BAT0": supply()}, Discharge(10.0)),
        ({"mouse": supply(scope="Device")}, Discharge(None, parse_battery.NO_BATTERY)),
    ],
)
def test_a_linux_batterys_discharge(supplies, expected):
    assert linux_discharge(supplies) == expected


def test_the_supplies_files_are_read_without_serial_numbers(tmp_path):
    folder = tmp_path / "BAT0"
    folder.mkdir()
    for name, text in (supply() | {"serial_number": "SECRET"}).items():
        (folder / name).write_text(text + "\n")
    assert battery.read_supplies(tmp_path) == {"BAT0": supply()}


SMART = """+-o AppleSmartBattery  <class AppleSmartBattery, id 0x100000350>
    {
      "LegacyBatteryInfo" = {"Amperage"=7,"Voltage"=1}
      "ExternalConnected" = No
      "InstantAmperage" = 18446744073709550198
      "Amperage" = 18446744073709550236
      "IsCharging" = No
      "Voltage" = 11114
    }
"""


def test_a_macs_battery_wraps_negative_milliamperes():
    assert mac_discharge(SMART).watts_w == pytest.approx(1.418 * 11.114)
    without = SMART.replace('      "InstantAmperage" = 18446744073709550198\n', "")
    assert mac_discharge(without).watts_w == pytest.approx(1.380 * 11.114)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('IsCharging" = No', 'IsCharging" = Yes', parse_battery.CHARGING),
        ('ExternalConnected" = No', 'ExternalConnected" = Yes', parse_battery.ON_MAINS),
        ("18446744073709550198", "1834", parse_battery.NO_RATE),
        ('"Voltage" = 11114', '"Voltage" = 0', parse_battery.NO_RATE),
        ('"Voltage" = 11114', '"BatteryInstalled" = No', parse_battery.NO_BATTERY),
    ],
)
def test_a_macs_battery_that_does_not_feed_it_alone_is_refused(old, new, why):
    assert mac_discharge(SMART.replace(old, new)) == Discharge(None, why)


def test_a_mac_without_battery():
    assert mac_discharge(None) == mac_discharge("") == Discharge(None, parse_battery.NO_BATTERY)


def windows_state(mains=0, present=1, charging=0, discharging=1, rate=-14_250):
    flags = struct.pack("<4B3xB", mains, present, charging, discharging, 0)
    return flags + struct.pack("<IIiIII", 50_000, 20_000, rate, 5_000, 0, 0)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (windows_state(), Discharge(14.25)),
        (windows_state(present=0), Discharge(None, parse_battery.NO_BATTERY)),
        (windows_state(charging=1, rate=9_000), Discharge(None, parse_battery.CHARGING)),
        (windows_state(mains=1), Discharge(None, parse_battery.ON_MAINS)),
        (windows_state(discharging=0, rate=0), Discharge(None, parse_battery.ON_MAINS)),
        (windows_state(rate=0), Discharge(None, parse_battery.NO_RATE)),
        (windows_state(rate=-(2**31)), Discharge(None, parse_battery.NO_RATE)),
        (b"\0" * 8, Discharge(None, parse_battery.NO_BATTERY)),
        (None, Discharge(None, parse_battery.NO_BATTERY)),
    ],
)
def test_a_windows_batterys_discharge(state, expected):
    assert len(windows_state()) == 32
    assert windows_discharge(state) == expected


def test_a_battery_meter_stops_telling_when_the_charger_comes():
    told = [Discharge(11.0), Discharge(12.0), Discharge(None, parse_battery.CHARGING)]
    meter = battery_meter(lambda: told.pop(0), every_ns=0)
    assert meter.read().watts_w == 12.0
    assert meter.read() is None
    assert (meter.facts.scope, meter.facts.source) == (Scope.SYSTEM, Source.SENSOR)


def test_a_battery_that_is_charged_is_no_meter():
    refused = Discharge(None, parse_battery.CHARGING)
    assert battery_meter(lambda: refused) == parse_battery.CHARGING


@pytest.mark.skipif(sys.platform != "linux", reason="what other systems' readers do here")
def test_readers_of_other_systems_tell_nothing_here():
    assert battery.read_battery_state() is None
    assert battery.read_smart_battery() is None
    assert emi.open_devices() == ()
    assert apple_power.open_ioreport() is None
    assert apple_power.start_powermetrics() is None


# --- Apple


class FakeReader:
    def __init__(self, *counts):
        self._counts = list(counts)

    def counts(self):
        return self._counts.pop(0)


def test_apples_parts_are_named_and_those_without_a_counter_left_out():
    facts = ioreport_meter(FakeReader(AppleCounts(1000, 2000, None, 500, 0))).facts
    assert "processor, graphics, DRAM, neural engine." in facts.detail
    assert "estimates" in facts.detail
    assert (facts.scope, facts.kind) == (Scope.PACKAGE, MeterKind.COUNTER)


def test_apples_joules_are_summed_over_the_parts():
    counts = [AppleCounts(1000 + 900 * i, 2000 + 100 * i, None, None, 0) for i in range(4)]
    meter = ioreport_meter(FakeReader(*counts))
    meter.clock = Ticks()
    assert energies(meter, 3) == [None, (pytest.approx(1), False), (pytest.approx(2), False)]


def test_apples_graphics_may_rest_and_its_processor_may_not():
    def told(counts):
        meter = ioreport_meter(FakeReader(*counts, *counts[-1:]))
        meter.clock = Ticks()
        return [meter.read() for _ in counts[1:]]

    resting = [AppleCounts(10 + i, 20, None, None, 5) for i in range(9)]
    assert told(resting)[-1] is not None
    frozen = [AppleCounts(10, 20 + i, None, None, 5 + i) for i in range(9)]
    assert told(frozen) == [None] * 8


def test_apple_counters_that_are_refused_are_no_meter():
    assert ioreport_meter(FakeReader(None)) == apple_meter.NO_COUNTERS
    no_cpu = AppleCounts(None, 1, None, None, None)
    assert ioreport_meter(FakeReader(no_cpu)) == apple_meter.NO_COUNTERS


def test_apples_counters_that_fail_later_are_dropped():
    counts = AppleCounts(1, 1, None, None, None)
    meter = ioreport_meter(FakeReader(counts, None))
    assert meter.read() is None
    assert meter.dropped == 1


def test_the_library_is_read_and_its_faults_are_none():
    class Monitor:
        def get_cumulative_energy(self):
            raise RuntimeError

    class Library:
        AppleEnergyMonitor = Monitor

    assert apple_power.open_ioreport(Library).counts() is None
    assert apple_power.open_ioreport(object()) is None


def plist(seconds=1.0, **processor):
    told = {"elapsed_ns": round(seconds * 1e9), "processor": processor}
    return plistlib.dumps(told)


class FakeTool:
    def __init__(self, *blocks):
        self.blocks = list(blocks)
        self.closed = False

    def new_bytes(self):
        return self.blocks.pop(0) if self.blocks else b""

    def close(self):
        self.closed = True


def test_h02_every_powermetrics_sample_counts_and_not_the_last_one():
    # H02 of the public cases: codecarbon stored the last sample (6.5 W) instead of the mean
    watts = [30_000, 25_000, 20_000, 6_500]
    output = b"\0".join(plist(combined_power=w) for w in watts)
    samples = parse_powermetrics.read_samples(output)
    assert parse_powermetrics.mean_w(samples) == pytest.approx(20.375)
    # as they come from the running tool: the first opens the count, three seconds follow
    blocks = [plist(combined_power=w) + b"\0" for w in watts]
    meter = PowermetricsMeter(FakeTool(*blocks), clock=Ticks())
    readings = [meter.read() for _ in watts]
    assert [r.energy_j for r in readings] == pytest.approx([0, 25, 45, 51.5])
    assert meter.facts.source is Source.SENSOR


def test_powermetrics_samples_of_unequal_length_weigh_by_their_time():
    output = plist(1, cpu_power=2000, gpu_power=10_000) + b"\0" + plist(2, cpu_power=6000)
    assert parse_powermetrics.mean_w(parse_powermetrics.read_samples(output)) == pytest.approx(8)


@pytest.mark.parametrize(
    ("processor", "joules"),
    [
        ({"combined_power": 5000, "cpu_power": 1}, 10.0),
        ({"cpu_power": 1000, "gpu_power": 2000.0, "ane_power": 500}, 7.0),
        ({"cpu_energy": 3000, "gpu_energy": 1000}, 4.0),
        ({"package_joules": 12.5, "cpu_power": 1}, 12.5),
    ],
)
def test_powermetrics_keys_of_all_ages_and_intels(processor, joules):
    assert parse_powermetrics.read_sample(plist(2, **processor)).energy_j == pytest.approx(joules)


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"no plist",
        b"<?xml version='1.0'?><plist><dict><key>a</key>",
        plistlib.dumps([1]),
        plistlib.dumps({"elapsed_ns": 5}),
        plist(0, cpu_power=1),
        plist(1, cpu_power=-1),
        plist(1, cpu_power="5"),
        plist(1, freq_hz=3),
        plist()[:60],
    ],
)
def test_a_damaged_powermetrics_sample_is_none(damaged):
    assert parse_powermetrics.read_sample(damaged) is None


def test_powermetrics_that_comes_in_pieces_and_with_a_damaged_sample():
    good = plist(cpu_power=4000)
    pieces = [good[:100], good[100:] + b"\0" + good[:50], good[50:], b"\0junk\0" + good, b""]
    tool = FakeTool(*pieces)
    meter = PowermetricsMeter(tool, clock=Ticks())
    readings = [meter.read() for _ in pieces]
    assert [r and (r.energy_j, r.restart) for r in readings] == [
        None,
        (0.0, False),
        (4.0, False),
        (8.0, True),
        None,
    ]
    assert meter.dropped == 1
    meter.close()
    assert tool.closed


def test_time_of_damaged_powermetrics_samples_alone_in_their_look_is_not_covered():
    good, damaged = plist(cpu_power=4000) + b"\0", b"<plist>junk</plist>\0"
    came = iter([0, S, 3 * S, 4 * S])
    meter = PowermetricsMeter(FakeTool(good, good, damaged, good, good), clock=lambda: next(came))
    readings = [meter.read() for _ in range(5)]
    assert [r and (r.energy_j, r.restart) for r in readings] == [
        (0.0, False),
        (4.0, False),
        None,
        (8.0, True),
        (12.0, False),
    ]
    told = [r for r in readings if r is not None]
    span = (told[0].at_ns, told[-1].at_ns)
    energy = energy_of([span], told, None, meter.facts, meter.max_gap_ns)
    assert (energy.energy_j, energy.covered) == (8.0, 0.5)


def test_a_tool_is_read_without_waiting_and_ended():
    script = "import sys,time; sys.stdout.write('<plist/>'); sys.stdout.flush(); time.sleep(60)"
    tool = apple_power.start([sys.executable, "-c", script])
    told = b""
    while not told:
        told = tool.new_bytes()
    assert told == b"<plist/>"
    assert tool.new_bytes() == b""
    tool.close()
    assert tool._process.returncode is not None


class Unkillable:
    """A process of root's: signals are refused, and it ends when nobody reads what it prints."""

    def __init__(self, ends_after=1):
        self.stdout = open(os.devnull, "rb")  # noqa: SIM115, PTH123
        self.waits, self.ends_after = 0, ends_after

    def terminate(self):
        raise PermissionError

    kill = terminate

    def wait(self, timeout):
        self.waits += 1
        if self.waits < self.ends_after:
            raise subprocess.TimeoutExpired("tool", timeout)


@pytest.mark.parametrize("ends_after", [1, 2, 3])
def test_a_tool_that_takes_no_signals_is_left_to_end_without_a_reader(ends_after):
    process = Unkillable(ends_after)
    apple_power.Powermetrics(process).close()
    assert process.stdout.closed
    assert process.waits == min(ends_after, 2)
    assert apple_power.Powermetrics(process).new_bytes() == b""


def test_powermetrics_is_only_tried_by_root_and_administrators(monkeypatch):
    started = []
    monkeypatch.setattr(apple_power, "start", lambda command: started.append(command[0]))
    for user, groups in ((501, [20]), (501, [20, 80]), (0, [0])):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        monkeypatch.setattr(os, "getgroups", lambda groups=groups: groups)
        apple_power.start_powermetrics("darwin")
    assert started == ["/usr/bin/sudo", "/usr/bin/powermetrics"]


def test_without_the_library_there_are_no_apple_counters():
    assert apple_power.open_ioreport(platform="darwin") is None


def test_a_virtual_card_whose_counter_never_counts_is_read_by_its_power():
    meter = nvml_meter(FakeNvml(energy=[0], power=[30_000]), [T4])
    assert meter.read().watts_w == pytest.approx(30.0)


def test_a_tool_that_refuses_or_is_not_there_is_given_up_on():
    assert apple_power.start([sys.executable, "-c", "raise SystemExit(1)"], 30.0) is None
    assert apple_power.start(["/no/such/tool"]) is None


# --- Windows' EMI


def name_bytes(name):
    return (name + "\0").encode("utf-16-le")


def metadata_v2(*names, unit=0):
    head = struct.pack("<32s32sHH", "OEM".encode("utf-16-le"), b"", 1, len(names))
    channels = (struct.pack("<iH", unit, len(name_bytes(n))) + name_bytes(n) for n in names)
    return head + b"".join(channels)


def metadata_v1(name, unit=0):
    head = struct.pack("<i32s32sHH", unit, b"", b"", 1, len(name_bytes(name)))
    return head + name_bytes(name)


def measurement(*energies_pwh):
    return b"".join(struct.pack("<QQ", energy, 12345) for energy in energies_pwh)


class FakeEmi:
    def __init__(self, version, metadata, *measurements):
        self.version, self._metadata = version, metadata
        self.measurements = list(measurements)
        self.closed = False

    def metadata(self):
        return self._metadata

    def measurement(self):
        return self.measurements.pop(0) if self.measurements else None

    def close(self):
        self.closed = True


INTEL = ("RAPL_Package0_PKG", "RAPL_Package0_PP0", "RAPL_Package0_PP1", "RAPL_Package0_DRAM")


def test_emi_metadata_of_both_versions():
    assert read_channels(2, metadata_v2(*INTEL)) == tuple(map(EmiChannel, INTEL))
    assert read_channels(1, metadata_v1("CPU")) == (EmiChannel("CPU"),)
    assert read_energies(measurement(5, 7) + b"cut") == (5, 7)


@pytest.mark.parametrize(
    ("version", "metadata"),
    [
        (2, b""),
        (1, b"\0" * 20),
        (2, metadata_v2(*INTEL)[:-3]),
        (2, metadata_v2(*INTEL)[:100]),
        (2, metadata_v2("A", unit=7)),
        (1, metadata_v1("A", unit=7)),
        (1, metadata_v1("ABC")[:-1]),
    ],
)
def test_emi_metadata_that_is_cut_or_of_another_unit_tells_no_channels(version, metadata):
    assert read_channels(version, metadata) == ()


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (INTEL, (0, 3)),
        (("RAPL_Package0_PP0", "RAPL_Package0_DRAM"), ()),
        (("VDDCR_VDD Power", "Apu Power", "Current Socket Power"), (2,)),
        (("VDDCR_SOC Energy", "Apu Energy"), (1,)),
        (("Current Socket Energy", "Apu Energy", "Current Socket Energy"), (0, 2)),
        (("Battery", "WiFi"), ()),
    ],
)
def test_emi_takes_each_package_once(names, wanted):
    assert wanted_channels([EmiChannel(name) for name in names]) == wanted


def test_emi_counts_picowatt_hours():
    zero = 10**13
    rows = [measurement(zero + e, 0, 0, zero + e // 10) for e in (0, 0, 10**10, 2 * 10**10)]
    device = FakeEmi(2, metadata_v2(*INTEL), *rows)
    other = FakeEmi(1, metadata_v1("WiFi"), measurement(1))
    again = FakeEmi(1, metadata_v1("RAPL_Package0_PKG"), measurement(1))
    meter = emi_meter.emi_meter([other, device, again])
    meter.clock = Ticks()
    # 10^10 pWh are 36 J, and the memory has a tenth of it
    assert energies(meter, 3) == [
        (0, False),
        (pytest.approx(39.6), False),
        (pytest.approx(79.2), False),
    ]
    assert meter.read() is None
    assert (other.closed, device.closed, again.closed) == (True, False, True)
    meter.close()
    assert device.closed


def test_emi_of_two_sockets_on_two_devices_is_summed():
    names = [("RAPL_Package0_PKG",), ("RAPL_Package1_PKG",)]
    devices = [
        FakeEmi(2, metadata_v2(*n), *[measurement(i * 10**9) for i in (1, 1, 2)]) for n in names
    ]
    meter = emi_meter.emi_meter(devices)
    meter.clock = Ticks()
    assert energies(meter, 2)[1] == (pytest.approx(7.2), False)


def amd(*rows_pwh, names=("VDDCR_VDD Energy", "Current Socket Energy")):
    """A device as AMD's driver shows one processor: two of them have the same names."""
    rows = [measurement(*[pwh] * len(names)) for pwh in rows_pwh]
    return FakeEmi(2, metadata_v2(*names), *rows)


def test_two_sockets_with_counters_of_one_name_are_summed():
    devices = [amd(10**9, 10**9, 2 * 10**9), amd(10**9, 10**9, 3 * 10**9)]
    meter = emi_meter.emi_meter(devices, sockets=2)
    meter.clock = Ticks()
    # 10^9 pWh are 3.6 J
    assert energies(meter, 2) == [(0, False), (pytest.approx(10.8), False)]
    meter.close()
    assert all(device.closed for device in devices)


def test_one_processor_that_is_shown_twice_is_counted_once():
    devices = [amd(10**9, 10**9, 2 * 10**9), amd(10**9)]
    meter = emi_meter.emi_meter(devices, sockets=1)
    meter.clock = Ticks()
    assert energies(meter, 2)[1] == (pytest.approx(3.6), False)
    assert [device.closed for device in devices] == [False, True]


@pytest.mark.parametrize(("devices", "sockets"), [(2, None), (1, 2), (2, 4), (4, 2)])
def test_counters_that_do_not_cover_the_processors_once_each_are_refused(devices, sockets):
    shown = [amd(10**9) for _ in range(devices)]
    why = emi_meter.emi_meter(shown, sockets)
    assert why == emi_meter.NOT_ALL.format(shown=devices, sockets=sockets or "unknown")
    assert all(device.closed for device in shown)


def test_one_of_two_intel_packages_is_not_the_machines():
    one = FakeEmi(2, metadata_v2(*INTEL), measurement(1, 1, 1, 1))
    assert "processors 2" in emi_meter.emi_meter([one], sockets=2)
    # two numbers in one socket: a package of two chips
    names = ("RAPL_Package0_PKG", "RAPL_Package1_PKG")
    both = FakeEmi(2, metadata_v2(*names), *[measurement(1, 1)] * 2)
    assert not isinstance(emi_meter.emi_meter([both], sockets=1), str)


def test_a_narrower_counter_on_another_device_lies_inside_the_socket():
    socket, apu = amd(10**9), amd(10**9, names=("Apu Energy",))
    meter = emi_meter.emi_meter([apu, socket])
    assert meter.facts.detail == "Energy counters Current Socket Energy."
    assert (socket.closed, apu.closed) == (False, True)


def test_the_buffer_of_a_measurement_holds_every_channel_that_the_metadata_counts():
    # a driver refuses a buffer that is too small, and 64 channels are not the most there are
    names = [f"Rail {i}" for i in range(100)]
    assert emi.measurement_length(2, metadata_v2(*names)) == 1600
    assert emi.measurement_length(1, metadata_v1("CPU")) == 16
    for cut in (None, b"", metadata_v2(*names)[:60]):
        assert emi.measurement_length(2, cut) == 16


def test_emi_without_a_processors_counter_says_so():
    device = FakeEmi(2, None)
    assert emi_meter.emi_meter([device]) == emi_meter.MISSING
    assert device.closed
    assert emi_meter.emi_meter(()) == emi_meter.MISSING


# --- the models

MODEL = PowerModel("desktop", 10.0, 110.0, Scope.PACKAGE, "a page", cores=4)
CARD = CardModel("RTX", 20.0, 220.0, "a list")


def test_modelled_watts_follow_the_load():
    times = iter([CpuTimes(0, 0), CpuTimes(0, 4), CpuTimes(2, 8), CpuTimes(6, 12)])
    meter = ModelledMeter(MODEL, lambda: next(times), clock=iter([0, S, 2 * S, 3 * S]).__next__)
    assert [meter.read().energy_j for _ in range(4)] == pytest.approx([0, 10, 70, 180])


def test_a_modelled_cards_watts_are_added_by_its_mean_load():
    times = iter([CpuTimes(0, 0), CpuTimes(0, 4), CpuTimes(0, 8), CpuTimes(0, 12)])
    loads = iter([0.0, 1.0, None, 1.0])
    meter = ModelledMeter(
        MODEL,
        lambda: next(times),
        cards=[ModelledCard(CARD, lambda: next(loads))],
        clock=iter([0, S, 2 * S, 3 * S]).__next__,
    )
    readings = [meter.read() for _ in range(4)]
    # 10 W + half of the card's 200 W + its idle 20 W; then, after a missed look, two seconds full
    told = [None if r is None else r.energy_j for r in readings]
    assert told == [0, pytest.approx(130), None, pytest.approx(130 + 2 * 230)]
    assert meter.dropped == 1
    assert meter.facts.name == "CPU and card load"
    formula = meter.facts.formulas[-1].text()
    assert formula == (
        "RTX: 20.0 W + its load \N{MULTIPLICATION SIGN} (220.0 W - 20.0 W), the limit by the "
        "catalogue, idle 0.0909 of it. Row 'card': a list."
    )
    assert formula in meter.facts.detail


def test_modelled_is_labelled_and_says_how():
    facts = ModelledMeter(MODEL, lambda: None, "Because.").facts
    assert facts.source is Source.MODELLED
    assert facts.name == "CPU load"
    (formula,) = facts.formulas
    assert formula.text() == (
        "Modelled, not measured: 10.0 W + CPU load \N{MULTIPLICATION SIGN} (110.0 W - 10.0 W), which "
        "is 2.5 W idle and 27.5 W at full load for each of 4 physical cores. Row 'desktop': a page."
    )
    assert facts.detail == f"{formula.text()} Because."


GUEST = Machine("Linux", "1", "x86_64", Cpu("AMD EPYC", 2, 4), None)


@pytest.mark.parametrize(
    ("virtual", "is_guest"),
    [
        (None, False),
        # a container sees the cores and the load of the whole machine
        ("Docker container", False),
        ("container", False),
        ("KVM", True),
        ("WSL2", True),
        ("KVM, Docker container", True),
    ],
)
def test_a_guests_model_says_that_its_host_is_not_counted(virtual, is_guest):
    model = model_for(replace(GUEST, virtual=virtual), has_battery=False)
    made, *more = model.formulas()
    assert made.params["cores"] == 4
    assert "for each of 4 logical cores" in made.text()
    assert (made.params["idle_core_w"], made.params["full_core_w"]) == ("0.74", "3.5")
    said = (
        "This is a virtual machine, modelled from the 4 cores that it has: the host around it and "
        "its other guests are not counted."
    )
    assert [reason.text() for reason in more] == is_guest * [said]


def test_a_desktop_whose_physical_cores_are_not_told_is_modelled_by_its_logical_ones():
    machine = replace(GUEST, cpu=Cpu("AMD Ryzen 7 9700X", None, 16))
    (made,) = model_for(machine, has_battery=False).formulas()
    assert (made.code, made.params["cores"]) == ("modelled_logical", 16)


def test_modelled_without_news_is_dropped():
    times = iter([CpuTimes(1, 4), CpuTimes(1, 4), None])
    meter = ModelledMeter(MODEL, lambda: next(times))
    assert [meter.read() is None for _ in range(3)] == [False, True, True]
    assert meter.dropped == 2
    meter.close()


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
        (Cpu(None, 8, 16), False, "desktop"),
    ],
)
def test_every_row_is_in_the_table_and_makes_sense(cpu, battery, row):
    machine = Machine("Linux", "1", "x86_64", cpu, None)
    assert row_name(machine, has_battery=battery) == row
    model = model_for(machine, has_battery=battery)
    assert 0 < model.idle_w < model.full_w
    assert model.source


@pytest.mark.parametrize(
    ("cpu", "row"),
    [
        ("NVIDIA Jetson AGX Orin Developer Kit · Cortex-A78AE", None),
        ("NVIDIA Jetson AGX Thor Developer Kit · Neoverse-V3AE", None),
        ("Cortex-A78AE", None),
        ("Radxa ROCK 5B · Cortex-A55 + Cortex-A76", None),
        ("Raspberry Pi 5 Model B · Cortex-A76", None),
        ("Snapdragon(R) X Elite - X1E78100 - Qualcomm(R) Oryon(TM) CPU", None),
        (None, None),
        ("Raspberry Pi 4 Model B · Cortex-A72", "board"),
        ("Raspberry Pi 400 · Cortex-A72", "board"),
        ("Neoverse-N1", "server"),
        ("Apple M1", "apple"),
    ],
)
def test_an_arm_machine_without_a_row_of_its_own_is_not_modelled_as_a_desktop(cpu, row):
    machine = Machine("Linux", "1", "aarch64", Cpu(cpu, 12, 12), None)
    for has_battery in (False, True):
        assert row_name(machine, has_battery=has_battery) == row
        model = model_for(machine, has_battery=has_battery)
        assert (model == NO_ROW) is (row is None)


def test_a_jetson_is_known_by_its_card_where_its_processor_has_a_servers_name():
    card = Accelerator("NVIDIA", "Jetson AGX Thor", None, True)
    machine = Machine("Linux", "1", "aarch64", Cpu("Neoverse-V2", 14, 14), None, (card,))
    assert model_for(machine, has_battery=False) == NO_ROW


def test_without_a_number_of_cores_nothing_is_modelled():
    machine = Machine("Linux", "1", "x86_64", Cpu("AMD EPYC", None, None), None)
    assert model_for(machine, has_battery=False) == NO_CORES


def test_the_model_counts_the_cores_its_row_names():
    assert model_for(MACHINE, has_battery=False).full_w == pytest.approx(4 * 3.5)
    assert model_for(DESKTOP, has_battery=False).full_w == pytest.approx(8 * 8.1)


def in_catalogue(name, power_w):
    words = (words_of(name),)
    return CatalogueDevice(name, "NVIDIA", 16.0, None, None, power_w, None, None, "X", None, words)


def test_a_cards_limit_is_the_catalogues_and_never_a_default():
    catalogue = (in_catalogue("RTX 3080", 320.0), in_catalogue("Tesla T4", None))
    model = card_model(UsedCard("NVIDIA GeForce RTX 3080"), catalogue)
    assert (model.limit_w, model.idle_w) == (320.0, pytest.approx(36.16))
    assert model.watts_w(1.0) == 320.0
    for unknown in ("Tesla T4", "NVIDIA GeForce RTX 3080 Ti", "Radeon"):
        assert card_model(UsedCard(unknown), catalogue) is None


def test_a_note_is_added_to_a_meters_word_and_changes_nothing_else():
    meter = counted([1_000_000, None])
    noted = Noted(meter, "The card is not counted.")
    assert noted.facts == MeterFacts(
        "RAPL", Source.SENSOR, MeterKind.COUNTER, Scope.PACKAGE, "The card is not counted."
    )
    assert noted.read().energy_j == 0
    assert noted.read() is None
    assert (noted.dropped, noted.max_gap_ns) == (1, meter.max_gap_ns)
    noted.close()
