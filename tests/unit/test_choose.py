"""Which meter a run gets, on three systems, and what is said of it."""

import threading
import time

import pytest

from desktop.power import apple_meter, emi_meter, parse_battery, rapl_meter
from desktop.power.choose import choose_meter, look_around
from desktop.power.parse_battery import Discharge
from desktop.power.places import NO_CARD_LIMIT, NO_CARD_LOAD, NO_CARD_SENSOR
from desktop.power.power_model import NO_CORES, NO_ROW
from desktop.power.sources import PowerSources, read_discharge, shipped_catalogue
from desktop.power.used import UsedCard, cards_of_run, pairs_for, same_name
from desktop.records.energy import Scope, Source
from desktop.records.machine import Accelerator, Cpu, Device, DeviceKind, Machine
from desktop.rules.catalogue import CatalogueDevice, words_of
from desktop.sources import hwmon
from desktop.sources.apple_power import AppleCounts
from desktop.sources.nvml import NvmlCard
from desktop.sources.rapl import RaplDomain
from desktop.sources.system import CpuTimes

LINUX = Machine("Linux", "12", "x86_64", Cpu("AMD Ryzen 7 3700X", 8, 16), None)
WINDOWS = Machine("Windows", "11", "x86_64", Cpu("Intel(R) Core(TM) i7-1260P", 12, 16), None)
MAC = Machine("macOS", "15", "arm64", Cpu("Apple M4", 10, 10), None)
INTEL_MAC = Machine("macOS", "13", "x86_64", Cpu("Intel(R) Core(TM) i9-9880H", 8, 16), None)
T4 = NvmlCard(0, "Tesla T4", None, "00000000:00:04.0", None)
T4_2 = NvmlCard(1, "Tesla T4", None, "00000000:00:05.0", None)
NO_BATTERY = Discharge(None, parse_battery.NO_BATTERY)
ON_BATTERY = Discharge(14.0)


class FakeNvml:
    def __init__(self, cards=(T4, T4_2), energy=None, power=None, busy=None):
        self._cards, self.energy, self.power, self.busy = cards, energy, power, busy
        self.closed = 0

    def cards(self):
        return self._cards

    def energy_mj(self, index):
        return self.energy and self.energy[index]

    def power_mw(self, index):
        return self.power and self.power[index]

    def busy_percent(self, index):
        return self.busy and self.busy[index]

    def close(self):
        self.closed += 1


class FakeReader:
    def counts(self):
        return AppleCounts(1, 2, None, 3, None)


class FakeTool:
    def new_bytes(self):
        return b""

    def close(self):
        pass


def rapl(tmp_path, *, readable=True):
    folder = tmp_path / "intel-rapl:0"
    folder.mkdir()
    (folder / "energy_uj").write_text("1000" if readable else "")
    return (RaplDomain(folder, "intel-rapl:0", "package-0", readable, 10**9),)


def in_catalogue(name, power_w, vendor="NVIDIA"):
    words = (words_of(name),)
    return CatalogueDevice(name, vendor, None, None, None, power_w, None, None, "X", None, words)


def sources(**given):
    """A system without any sensor, but for what is given."""
    nothing = {
        "open_nvml": lambda: None,
        "hwmon_cards": lambda: (),
        "rapl_domains": lambda: (),
        "discharge": lambda: NO_BATTERY,
        "open_ioreport": lambda: None,
        "start_powermetrics": lambda: None,
        "open_emi": lambda: (),
        "cpu_times": lambda: CpuTimes(1, 2),
        "has_battery": lambda: False,
        "catalogue": lambda: (in_catalogue("Tesla T4", 70.0),),
    }
    return PowerSources(**nothing | given)


def gpu(name, pci=None, kind=DeviceKind.GPU):
    return Device(f"X {name}", name, kind, "CUDA", None, None, pci)


def plant_apu(root, address="0000:04:00.0", label="vddnb", busy=None):
    folder = root / "sys/bus/pci/devices" / address
    monitor = folder / "hwmon/hwmon0"
    monitor.mkdir(parents=True)
    (folder / "class").write_text("0x030000")
    (monitor / "name").write_text("amdgpu")
    (monitor / "in1_label").write_text(label)
    (monitor / "power1_average").write_text("11000000")
    return hwmon.read_cards(root)


# --- a run on cards


def test_the_cards_counter_comes_first(tmp_path):
    given = sources(
        open_nvml=lambda: FakeNvml(energy=[1, 2], power=[9, 9]),
        rapl_domains=lambda: rapl(tmp_path),
        discharge=lambda: ON_BATTERY,
    )
    facts = choose_meter(LINUX, ["Tesla T4"], given).facts
    assert (facts.name, facts.scope) == ("NVML", Scope.BOARD)
    assert "Energy counter of Tesla T4, Tesla T4" in facts.detail


def test_by_address_only_the_card_that_is_used_is_metered():
    nvml = FakeNvml(energy=[1, 2])
    meter = choose_meter(LINUX, [gpu("Tesla T4", "0000:00:05.0")], sources(open_nvml=lambda: nvml))
    assert "of Tesla T4;" in meter.facts.detail
    assert meter.read().energy_j == 0
    # the other card's joules are not counted
    nvml.energy = [10**6, 2]
    assert meter.read() is None
    meter.close()
    assert nvml.closed == 1


def test_cards_of_two_makers_are_read_together(tmp_path):
    plant_apu(tmp_path, "0000:03:00.0", label="vddgfx")
    amd = Accelerator("AMD", "Radeon RX 7900 XTX", None, False, "0000:03:00.0")
    machine = Machine("Linux", "1", "x86_64", Cpu("x", 8, 16), None, (amd,))
    given = sources(
        open_nvml=lambda: FakeNvml(cards=(T4,), energy=[5], power=[40_000]),
        hwmon_cards=lambda: hwmon.read_cards(tmp_path),
    )
    used = [gpu("Tesla T4"), gpu("AMD Radeon RX 7900 XTX (RADV NAVI31)")]
    meter = choose_meter(machine, used, given)
    assert meter.facts.name == "NVML and amdgpu"
    assert meter.read().watts_w == pytest.approx(51.0)


def test_a_card_without_sensor_is_said_and_the_processors_counter_taken(tmp_path):
    nvml = FakeNvml()
    given = sources(open_nvml=lambda: nvml, rapl_domains=lambda: rapl(tmp_path))
    facts = choose_meter(LINUX, ["Tesla T4"], given).facts
    assert facts.name == "RAPL"
    assert facts.detail.endswith(NO_CARD_SENSOR)
    assert nvml.closed == 1


def test_a_card_that_only_tells_its_load_is_modelled_with_the_processor_and_called_so(tmp_path):
    nvml = FakeNvml(busy=[50, 50])
    given = sources(open_nvml=lambda: nvml, rapl_domains=lambda: rapl(tmp_path))
    meter = choose_meter(LINUX, ["Tesla T4"], given)
    assert meter.facts.source is Source.MODELLED
    assert meter.facts.name == "CPU and card load"
    assert "Tesla T4: 7.9 W + its load" in meter.facts.detail
    assert nvml.closed == 0
    meter.close()
    assert nvml.closed == 1


def test_nvml_is_opened_once_for_all_that_is_looked_at_and_closed_with_the_last_that_uses_it():
    nvml, opened = FakeNvml(energy=[1, 2], busy=[50, 50]), []
    given = sources(open_nvml=lambda: opened.append(nvml) or nvml)
    looked = look_around(LINUX, ["Tesla T4"], given)
    meters = [place.found for place in looked if place.name in {"cards", "model with cards"}]
    assert len(opened) == 1
    meters[1].close()
    assert nvml.closed == 0
    meters[0].close()
    assert nvml.closed == 1


def test_nvml_is_not_opened_for_a_run_on_another_makers_card(tmp_path):
    plant_apu(tmp_path, "0000:03:00.0", label="vddgfx")
    amd = Accelerator("AMD", "Radeon RX 7900 XTX", None, False, "0000:03:00.0")
    machine = Machine("Linux", "1", "x86_64", Cpu("x", 8, 16), None, (amd,))
    opened = []
    given = sources(
        open_nvml=lambda: opened.append(1), hwmon_cards=lambda: hwmon.read_cards(tmp_path)
    )
    facts = choose_meter(machine, [gpu("Radeon RX 7900 XTX", "0000:03:00.0")], given).facts
    assert (facts.name, opened) == ("amdgpu", [])


def test_on_battery_the_whole_machine_is_measured_when_the_card_cannot_be():
    nvml = FakeNvml(busy=[50, 50])
    given = sources(open_nvml=lambda: nvml, discharge=lambda: ON_BATTERY)
    facts = choose_meter(LINUX, ["Tesla T4"], given).facts
    assert (facts.name, facts.scope, facts.source) == ("battery", Scope.SYSTEM, Source.SENSOR)
    assert NO_CARD_SENSOR not in facts.detail


@pytest.mark.parametrize(
    ("busy", "catalogue", "why"),
    [(None, ("Tesla T4",), NO_CARD_LOAD), ([5, 5], (), NO_CARD_LIMIT)],
)
def test_a_card_that_cannot_be_modelled_is_said(busy, catalogue, why):
    given = sources(
        open_nvml=lambda: FakeNvml(busy=busy),
        catalogue=lambda: tuple(in_catalogue(name, 70.0) for name in catalogue),
    )
    facts = choose_meter(LINUX, ["Tesla T4"], given).facts
    assert facts.name == "CPU load"
    assert facts.detail.endswith(f"{NO_CARD_SENSOR} {why} {rapl_meter.MISSING}")


def test_an_integrated_cards_share_lies_in_the_package(tmp_path):
    inside = Accelerator("Intel", "Arc 140V", None, True, "0000:00:02.0")
    machine = Machine("Linux", "1", "x86_64", Cpu("x", 8, 8), None, (inside,))
    given = sources(rapl_domains=lambda: rapl(tmp_path))
    facts = choose_meter(machine, [gpu("Intel Arc 140V", kind=DeviceKind.IGPU)], given).facts
    assert (facts.name, facts.detail) == ("RAPL", "Energy counters package-0.")


# --- a run on the processor


def test_the_processor_is_not_given_the_cards_meter(tmp_path):
    given = sources(
        open_nvml=lambda: FakeNvml(energy=[1, 2]),
        rapl_domains=lambda: rapl(tmp_path),
        discharge=lambda: ON_BATTERY,
    )
    cpu = Device("CPU", "Some CPU", DeviceKind.CPU, "CPU")
    software = Device("Vulkan0", "llvmpipe", DeviceKind.SOFTWARE, "Vulkan")
    blas = Device("BLAS", "BLAS", DeviceKind.ACCELERATOR, "BLAS")
    elsewhere = Device("RPC0", "Tesla T4", DeviceKind.GPU, "RPC")
    assert choose_meter(LINUX, [cpu, software, blas, elsewhere], given).facts.name == "RAPL"


def test_h03_a_counter_that_may_not_be_read_is_modelled_said_so_and_how_to_allow_it(tmp_path):
    # H03 of the public cases: Ryzen 7 3700X, permission denied, silently a constant of its TDP
    given = sources(rapl_domains=lambda: rapl(tmp_path, readable=False))
    meter = choose_meter(LINUX, (), given)
    assert meter.facts.source is Source.MODELLED
    assert "Modelled, not measured" in meter.facts.detail
    assert "chmod a+r /sys/class/powercap" in meter.facts.detail
    assert meter.read().energy_j == 0


def test_an_apu_tells_its_package_to_every_user(tmp_path):
    (tmp_path / "sys").mkdir()
    given = sources(
        rapl_domains=lambda: rapl(tmp_path, readable=False),
        hwmon_cards=lambda: plant_apu(tmp_path),
        discharge=lambda: ON_BATTERY,
    )
    meter = choose_meter(LINUX, (), given)
    assert (meter.facts.name, meter.facts.scope) == ("amdgpu", Scope.PACKAGE)
    assert meter.read().watts_w == pytest.approx(11.0)


def test_a_discrete_card_is_no_processors_meter(tmp_path):
    given = sources(hwmon_cards=lambda: plant_apu(tmp_path, label="vddgfx"))
    assert choose_meter(LINUX, (), given).facts.source is Source.MODELLED


def test_the_battery_comes_before_the_model():
    given = sources(discharge=lambda: ON_BATTERY)
    assert choose_meter(LINUX, (), given).facts.name == "battery"


def test_apples_counters_come_before_its_tool_and_its_battery():
    given = sources(
        open_ioreport=FakeReader, start_powermetrics=FakeTool, discharge=lambda: ON_BATTERY
    )
    assert choose_meter(MAC, (), given).facts.name == "IOReport"
    without = sources(start_powermetrics=FakeTool, discharge=lambda: ON_BATTERY)
    assert choose_meter(MAC, (), without).facts.name == "powermetrics"


def test_a_run_on_apples_graphics_is_covered_by_its_package():
    given = sources(open_ioreport=FakeReader)
    facts = choose_meter(MAC, [gpu("Apple M4")], given).facts
    assert facts.name == "IOReport"
    assert NO_CARD_SENSOR not in facts.detail


def test_h04_an_intel_mac_is_never_given_apples_counters():
    # H04 of the public cases: an Intel Mac was registered as an Apple silicon chip
    asked = []
    given = sources(open_ioreport=lambda: asked.append(1) or FakeReader())
    meter = choose_meter(INTEL_MAC, (), given)
    assert asked == []
    assert meter.facts.source is Source.MODELLED
    assert apple_meter.NOT_APPLE in meter.facts.detail
    assert "Row 'desktop'" in meter.facts.detail
    radeon = choose_meter(INTEL_MAC, [gpu("AMD Radeon Pro 5300M")], given)
    assert NO_CARD_SENSOR in radeon.facts.detail


def test_windows_without_a_counter_says_so_and_names_no_other_systems_place():
    detail = choose_meter(WINDOWS, (), sources()).facts.detail
    assert detail.endswith(emi_meter.MISSING)
    assert "RAPL" not in detail


def test_unknown_cores_read_nothing_rather_than_a_guess():
    machine = Machine("Linux", "1", "x86_64", Cpu(None, None, None), None)
    for used in ((), ["Tesla T4"]):
        meter = choose_meter(machine, used, sources(open_nvml=lambda: FakeNvml(busy=[1, 1])))
        assert meter.read() is None
        assert meter.dropped == 1
        assert NO_CORES in meter.facts.detail
        meter.close()


def test_a_board_without_published_watts_is_not_modelled_and_says_so_once():
    board = Cpu("Radxa ROCK 5B · Cortex-A55 + Cortex-A76", 8, 8)
    machine = Machine("Linux", "12", "aarch64", board, None)
    meter = choose_meter(machine, (), sources())
    assert meter.read() is None
    assert meter.facts.detail == f"{NO_ROW} {rapl_meter.MISSING}"


class Slow:
    """Sources that hang until `gate` is set, and how often each was asked."""

    def __init__(self):
        self.gate, self.asked = threading.Event(), []

    def hang(self, name, then=None):
        def ask():
            self.asked.append(name)
            self.gate.wait(60)
            return then

        return ask


@pytest.fixture
def slow():
    stuck = Slow()
    yield stuck
    stuck.gate.set()


def test_all_that_hangs_together_costs_one_limit(slow):
    hanging = {
        name: slow.hang(name)
        for name in ("open_nvml", "hwmon_cards", "rapl_domains", "discharge", "has_battery")
    }
    start_s = time.monotonic()
    facts = choose_meter(LINUX, ["Tesla T4"], sources(**hanging), limit_s=1.0).facts
    assert time.monotonic() - start_s < 3.0
    # one thread each, and none a second time
    assert sorted(slow.asked) == ["discharge", "hwmon_cards", "open_nvml", "rapl_domains"]
    for name in ("NVML", "cards", "battery", "RAPL"):
        assert f"{name} gave no answer (stuck)." in facts.detail


def test_a_meter_that_was_found_names_the_source_that_was_given_up_on(slow, tmp_path):
    given = sources(open_nvml=slow.hang("NVML"), rapl_domains=lambda: rapl(tmp_path))
    facts = choose_meter(LINUX, ["Tesla T4"], given, limit_s=2.0).facts
    assert facts.name == "RAPL"
    assert facts.detail.endswith(f"NVML gave no answer (stuck). {NO_CARD_SENSOR}")
    assert slow.asked == ["NVML"]
    looked = look_around(LINUX, ["Tesla T4"], sources(open_nvml=slow.hang("NVML")), limit_s=1.0)
    assert looked[0] == ("NVML", "NVML gave no answer (stuck).")


def test_another_makers_card_is_read_though_nvidias_library_hangs(slow, tmp_path):
    plant_apu(tmp_path, "0000:03:00.0", label="vddgfx")
    given = sources(open_nvml=slow.hang("NVML"), hwmon_cards=lambda: hwmon.read_cards(tmp_path))
    facts = choose_meter(LINUX, [gpu("a card", "0000:03:00.0")], given, limit_s=2.0).facts
    assert facts.name == "amdgpu"
    assert facts.detail.endswith("NVML gave no answer (stuck).")


def test_what_opens_after_it_was_given_up_on_is_closed_again(slow):
    class Late(FakeTool):
        closed = threading.Event()

        def close(self):
            self.closed.set()

    given = sources(start_powermetrics=slow.hang("powermetrics", Late()))
    detail = choose_meter(MAC, (), given, limit_s=0.4).facts.detail
    assert "powermetrics gave no answer (stuck)." in detail
    slow.gate.set()
    assert Late.closed.wait(60)


def test_a_late_nvml_is_closed_again(slow):
    nvml, closed = FakeNvml(energy=[1, 2]), threading.Event()
    nvml.close = closed.set
    choose_meter(LINUX, ["Tesla T4"], sources(open_nvml=slow.hang("NVML", nvml)), limit_s=0.4)
    slow.gate.set()
    assert closed.wait(60)


def test_what_cannot_be_told_of_a_battery_is_taken_for_one(slow):
    given = sources(has_battery=slow.hang("has_battery"))
    detail = choose_meter(LINUX, (), given, limit_s=0.4).facts.detail
    assert "Row 'laptop'" in detail


def test_a_source_that_is_stuck_or_raises_is_given_up_on_by_name():
    gate = threading.Event()

    def broken():
        raise OSError

    given = sources(rapl_domains=gate.wait, hwmon_cards=broken)
    detail = choose_meter(LINUX, (), given, limit_s=2.0).facts.detail
    gate.set()
    assert "RAPL gave no answer (stuck)." in detail
    assert "APU gave no answer (OSError)." in detail


def test_everything_that_was_looked_at_is_told_in_order(tmp_path):
    given = sources(rapl_domains=lambda: rapl(tmp_path), discharge=lambda: ON_BATTERY)
    looked = look_around(LINUX, ["Tesla T4"], given)
    told = [(place.name, isinstance(place.found, str)) for place in looked]
    assert told == [
        ("cards", True),
        ("battery", False),
        ("model with cards", True),
        ("RAPL", False),
        ("APU", True),
        ("model", False),
    ]
    names = [place.name for place in look_around(MAC, (), sources())]
    assert names == ["IOReport", "powermetrics", "battery", "model"]


def test_choice_here():
    meter = choose_meter(LINUX)
    assert meter.facts.detail
    meter.close()
    assert read_discharge("linux").why or read_discharge("linux").watts_w
    assert isinstance(shipped_catalogue(), tuple)


# --- which cards a run uses


def test_cards_are_found_by_whole_names():
    assert same_name("NVIDIA GeForce RTX 3080 Ti", "GeForce RTX 3080 Ti")
    assert not same_name("NVIDIA GeForce RTX 3080", "NVIDIA GeForce RTX 3080 Ti")
    assert same_name("AMD Radeon Graphics", "amd radeon  graphics")
    assert not same_name("AMD Radeon Graphics", "Intel Graphics")


def test_integrated_cards_are_left_out_beside_a_discrete_one():
    own = Accelerator("NVIDIA", "GeForce RTX 4070 Laptop GPU", 8, False, "0000:01:00.0")
    inside = Accelerator("AMD", "Radeon 890M", 1, True, "0000:65:00.0")
    machine = Machine("Linux", "1", "x86_64", Cpu("x", 8, 16), None, (own, inside))
    devices = [
        gpu("NVIDIA GeForce RTX 4070 Laptop GPU", "0000:01:00.0"),
        gpu("AMD Radeon 890M (RADV GFX1150)", kind=DeviceKind.IGPU),
    ]
    (card,) = cards_of_run(machine, devices)
    assert (card.pci_address, card.integrated, card.vendor) == ("0000:01:00.0", False, "NVIDIA")
    (alone,) = cards_of_run(machine, devices[1:])
    assert (alone.pci_address, alone.integrated) == ("0000:65:00.0", True)


def test_a_card_that_two_backends_list_is_one_card():
    own = Accelerator("NVIDIA", "RTX A2000 12GB", 12, False, "0000:01:00.0")
    machine = Machine("Linux", "1", "x86_64", Cpu("x", 8, 16), None, (own,))
    devices = [gpu("NVIDIA RTX A2000 12GB", "0000:01:00.0"), gpu("NVIDIA RTX A2000 12GB")]
    assert len(cards_of_run(machine, devices)) == 1


def test_a_card_without_any_sensor_leaves_the_others_unmetered():
    assert pairs_for([UsedCard("A 1"), UsedCard("B 2")], []) is None
