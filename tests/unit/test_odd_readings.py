"""What broken drivers, hostile files and stuck mounts tell: refused, quickly, and never raised."""

import json
import os
import plistlib
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.bench.engine_log import EngineLog
from desktop.errors import Reason
from desktop.machine import (
    conditions,
    engine_only,
    linux,
    names,
    parse_cards,
    parse_cgroup,
    parse_cpuinfo,
    parse_ids,
    parse_mac,
    parse_modules,
    parse_pmset,
    parse_profiler,
    parse_supply,
    parse_virtual,
    parse_windows,
    screen,
)
from desktop.machine.conditions import Readers, survey_conditions
from desktop.machine.detect import Probes, survey
from desktop.machine.memory import memory_bytes
from desktop.machine.state import State, StateSource
from desktop.power import parse_battery, parse_powermetrics
from desktop.power.counter import Change, Counter, CounterMeter
from desktop.power.hwmon_meter import hwmon_sensor
from desktop.power.momentary import PowerMeter
from desktop.power.nvml_meter import nvml_sensor
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import Accelerator, Cpu, PowerSupply
from desktop.rules import device_names
from desktop.sources import cards, cgroups, files, numbers
from desktop.sources.commands import MOST_BYTES, run_tool
from desktop.sources.dmi import VirtualMarks
from desktop.sources.hwmon import HwmonCard, HwmonChannel
from desktop.sources.nvml import NvmlCard

S = 1_000_000_000
DIGITS = "9" * 4000
DEEP = "[" * 200_000 + "]" * 200_000
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="files of /proc and /sys")
PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def quick(call):
    """Its result; fails where it took long: every one of these once took seconds or minutes."""
    begun = time.process_time()
    told = call()
    assert time.process_time() - begun < 1
    return told


def within(call, limit_s=5.0):
    """Whether the call ends; in a thread, as it may not."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(limit_s)
    return not thread.is_alive()


# --- files that block


@PIPES
def test_a_pipe_that_nobody_writes_to_holds_nobody_up(tmp_path):
    os.mkfifo(tmp_path / "capacity")
    told = []
    assert within(lambda: told.append(files.read_text(tmp_path / "capacity")))
    assert told == [None]


@ON_LINUX
def test_a_device_is_not_read():
    assert files.read_text(Path("/dev/zero"), 16) is None
    assert files.read_text(Path("/proc/self/status")) is not None


def test_a_path_with_a_nul_is_not_there(tmp_path):
    assert files.read_text(tmp_path / "a\0b") is None


@ON_LINUX
def test_a_control_group_with_a_nul_in_its_path_has_no_limit(tmp_path):
    write(tmp_path / "proc/self/cgroup", "0::/a\0b\n")
    assert cgroups.read_quotas(tmp_path) == ()
    assert cgroups.read_memory(tmp_path) == ()


def test_a_state_that_never_answers_leaves_the_rest():
    never = threading.Event()
    readers = Readers(StateSource(lambda _: never.wait()), lambda: 40.0, lambda: (8, 4))
    now, failures = survey_conditions(3.0, limit_s=0.2, readers=readers)
    never.set()
    assert failures == (Reason("source_stuck", {"name": "The power state"}),)
    assert now.power_supply is None
    assert now.display_attached is None
    assert now.other_load_percent == 3.0
    assert (now.temperature_c, now.memory_available_bytes) == (40.0, 4)


def test_a_state_that_answers_is_told_and_one_that_raises_is_not():
    state = State(PowerSupply.MAINS, 50.0, "performance", None, True)
    readers = Readers(StateSource(lambda _: state), lambda: 1 / 0, lambda: (8, 4))
    now, failures = survey_conditions(readers=readers)
    broken = {"name": "The temperature", "detail": "ZeroDivisionError"}
    assert failures == (Reason("source_unreadable", broken),)
    assert (now.power_supply, now.battery_percent) == (PowerSupply.MAINS, 50.0)
    assert (now.temperature_c, now.memory_available_bytes) == (None, 4)


@pytest.mark.parametrize(("told", "known"), [(103.0, 100.0), (-1.0, None), (1e17, None)])
def test_a_charge_is_believed_a_little_above_full(told, known):
    state = State(None, told, None, None, None)
    readers = Readers(StateSource(lambda _: state), lambda: None, lambda: (8, 4))
    assert survey_conditions(readers=readers).conditions.battery_percent == known


# --- detection


CARD = Accelerator("NVIDIA", "RTX", None, False, "0000:01:00.0", "nvidia")
NVML = NvmlCard(0, "NVIDIA RTX 3090", 24 << 30, "00000000:01:00.0", "550")
PROBES = Probes(
    "Linux",
    lambda: "x",
    lambda: Cpu(None, None, None),
    lambda: (CARD,),
    lambda: None,
    lambda: None,
    nvml_cards=lambda: (NVML,),
    memory=lambda: (32 << 30, 1),
    architecture=lambda: "x86_64",
)


def surveyed(**probes):
    return survey(5.0, replace(PROBES, **probes))


@pytest.mark.parametrize("address", ["0000:01:00.0", "0000:02:00.0"])
def test_a_driver_without_a_name_ends_no_detection(address):
    listed = lambda: (replace(CARD, pci_address=address, driver=""),)  # noqa: E731
    assert surveyed(cards=listed).machine.accelerators[0].driver == "550"
    unnamed = lambda: (replace(NVML, driver=""),)  # noqa: E731
    found = surveyed(nvml_cards=unnamed).machine.accelerators
    assert [card.driver for card in found] == ["nvidia"]


@pytest.mark.parametrize("told", [-5, 0, 10**400])
def test_a_size_that_cannot_be_is_not_known(told):
    (card,) = surveyed(nvml_cards=lambda: (replace(NVML, memory_bytes=told),)).machine.accelerators
    assert card.dedicated_bytes is None
    assert surveyed(memory=lambda: (told, 1)).machine.ram_bytes is None


# --- watts


FACTS = MeterFacts("x", Source.SENSOR, MeterKind.INSTANTANEOUS, Scope.SYSTEM, "")


@pytest.mark.parametrize("told", [-12.0, 0.0, 2e5, float("inf"), float("nan")])
def test_watts_that_cannot_be_are_dropped(told):
    meter = PowerMeter(FACTS, [lambda: told])
    assert meter.read() is None
    assert meter.dropped == 1


class OddNvml:
    def __init__(self, power_mw):
        self.power = power_mw

    def power_mw(self, _):
        return self.power


@pytest.mark.parametrize("told", [-5, 0, 200_000 * 10**6])
def test_a_card_of_odd_watts_has_no_sensor(told, tmp_path):
    path = tmp_path / "power1_input"
    path.write_text(str(told))
    channel = HwmonChannel(1, None, None, None, path)
    card = HwmonCard("0000:03:00.0", "amdgpu", (channel,), False, None)
    assert hwmon_sensor(card, "a", integrated=False).watts() is None
    assert nvml_sensor(OddNvml(told), NVML).watts() is None


@pytest.mark.parametrize("power", ["3000000000", "0", DIGITS, "-" + DIGITS, "nan"])
def test_a_battery_that_gives_odd_watts_tells_no_rate(power):
    supply = {"type": "Battery", "status": "Discharging", "power_now": power}
    assert parse_battery.linux_discharge({"B": supply}).why == parse_battery.NO_RATE


def test_a_battery_of_negative_volts_tells_no_rate():
    supply = {"type": "Battery", "status": "Discharging"}
    linux_told = {**supply, "current_now": "2000000", "voltage_now": "-12000000"}
    assert parse_battery.linux_discharge({"B": linux_told}).watts_w is None
    mac_told = '"InstantAmperage" = -2000\n"Voltage" = -12000\n"IsCharging" = No\n'
    assert parse_battery.mac_discharge(mac_told).watts_w is None


def sample(elapsed_ns=S, **processor):
    return plistlib.dumps({"elapsed_ns": elapsed_ns, "processor": processor})


@pytest.mark.parametrize(
    "plist",
    [
        sample(cpu_power=float("inf")),
        sample(package_joules=float("nan")),
        sample(combined_power=True),
        sample(True, cpu_power=1),
        sample(package_joules=4_000),
        sample().replace(b"1000000000", b"9" * 400),
        sample(package_joules=7).replace(b">7<", b">" + b"9" * 400 + b"<"),
        sample().replace(b"<integer>1000000000</integer>", b"<date>0</date>"),
        sample().replace(b"<integer>1000000000</integer>", b"<date>9999-99-99T99:99:99Z</date>"),
        sample().replace(b"<integer>1000000000</integer>", b"<integer>0x</integer>"),
        sample().replace(b"UTF-8", b"no-such"),
        b"<plist>" + b"<array>" * 100_000,
        b"bplist00" + b"\xff" * 40,
        sample().ljust(2 << 20),
    ],
)
def test_an_odd_powermetrics_sample_is_none(plist):
    assert parse_powermetrics.read_sample(plist) is None


def test_a_sample_that_never_ends_is_let_go():
    assert parse_powermetrics.split(b"a\0" + b"x" * (2 << 20)) == ([b"a"], b"")


# --- counters

RANGE_UJ = 262_143_328_850


def counting(scope, *raws, step_ns=S // 10):
    counts = iter(raws)
    at = [0]

    def look():
        at[0] += step_ns
        return [next(counts)]

    facts = MeterFacts("x", Source.SENSOR, MeterKind.COUNTER, scope, "")
    meter = CounterMeter(facts, [Counter(1e-6, RANGE_UJ)], look, clock=lambda: at[0])
    told = [meter.read() for _ in raws]
    return [(r.energy_j, r.restart) for r in told]


@pytest.mark.parametrize("scope", [Scope.PACKAGE, Scope.BOARD])
def test_a_jump_that_no_chip_can_draw_is_a_restart(scope):
    # 1,498 J in a tenth of a second
    told = counting(scope, 1_000_000, 2_000_000, 1_500_000_000, 1_501_000_000)
    assert told == [(0, False), (1, False), (1, True), (pytest.approx(2), False)]


def test_a_whole_machine_may_draw_what_one_chip_may_not():
    told = counting(Scope.SYSTEM, 0, 1_500_000_000, step_ns=S)
    assert told == [(0, False), (1_500, False)]
    assert counting(Scope.SYSTEM, 0, 25_000_000_000, step_ns=S)[1] == (0, True)


def test_two_looks_close_together_may_see_two_renewals():
    # a card of 1 kW, renewed ten times a second, looked at late and then on time
    told = counting(Scope.BOARD, 0, 100_000_000, 200_000_000, step_ns=S // 100)
    assert told == [(0, False), (100, False), (200, False)]


def test_a_counter_that_falls_from_the_middle_of_its_range_has_not_wrapped():
    counter = Counter(1.0, 1000)
    counter.advance(800, 0)
    assert counter.advance(10, S, 3_000.0) is Change.RESTARTED
    counter.advance(950, 2 * S)
    near_its_end = Counter(1e-6, 65_532_610_987)
    near_its_end.advance(65_000_000_000, 0)
    # a wrap would be 533 J in a tenth of a second
    assert near_its_end.advance(0, S // 10, 3_000.0) is Change.RESTARTED
    assert counter.advance(10, 3 * S, 3_000.0) is Change.MOVED
    assert counter.total_j == 940 + 60


# --- odd types and numbers


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ("12", 12),
        ("-12 ", -12),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        (DIGITS, None),
        ("\u0665\u0660", None),
        ("1_0", None),
        ("", None),
        (None, None),
        (True, None),
        ([1], None),
        (1.0, None),
        (10**18, None),
        (7, 7),
    ],
)
def test_a_whole_number_has_at_most_eighteen_digits(told, known):
    assert numbers.whole(told) == known
    assert numbers.above_zero(told) == (known if known and known > 0 else None)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("0x1002", 0x1002),
        ("0X1F", 31),
        ("-3", -3),
        (DIGITS, None),
        ("0x" + "f" * 4000, None),
        ("0x" + "f" * 18, None),
        ("0x", None),
    ],
)
def test_a_file_holds_a_believable_number_or_none(tmp_path, text, known):
    (tmp_path / "n").write_text(text)
    assert files.read_integer(tmp_path / "n") == known


def cim(**classes):
    return json.dumps(classes)


def test_windows_json_of_odd_types_ends_nothing():
    assert parse_windows.instances(DEEP, "a") == ()
    assert parse_windows.instances('{"a":' * 100_000, "a") == ()
    for code in ([1], {}, "0", True):
        card = {"Name": "AMD X", "PNPDeviceID": "PCI\\VEN_1002&DEV_744C"}
        listed = cim(Win32_VideoController=[{**card, "ConfigManagerErrorCode": code}])
        assert parse_windows.accelerators(listed, ()) == ()
    for count in (True, 10**20, -1, [2]):
        text = cim(Win32_ComputerSystem=[{"NumberOfProcessors": count}])
        assert parse_windows.sockets(text) is None


@pytest.mark.parametrize(
    ("location", "address"),
    [
        ("PCI bus 1, device 0, function 0", "0000:01:00.0"),
        ("x;(12,3,1)", "0000:0c:03.1"),
        (f"({DIGITS},0,0)", None),
        ("(1,99,0)", None),
        ("(1,0,8)", None),
        ("(100001,0,0)", None),
        ("1" * 40_000, None),
    ],
)
def test_a_location_gives_a_pci_address_or_none(location, address):
    assert quick(lambda: parse_windows.pci_address(location)) == address


def test_windows_memory_of_odd_types_is_not_known():
    odd = [{"Capacity": 1, "SMBIOSMemoryType": True, "ConfiguredClockSpeed": True}]
    assert parse_modules.of_cim(odd) is None


def test_macos_json_of_odd_types_ends_nothing():
    assert parse_profiler.display_attached('{"SPDisplaysDataType":' + DEEP + "}") is None
    slots = [{"_items": [{"dimm_size": ["8 GB"], "dimm_speed": DIGITS + " MHz"}]}]
    assert parse_profiler.modules(json.dumps({"SPMemoryDataType": slots})) is None
    unit = {"spdisplays_vendor": "sppci_vendor_Apple", "sppci_cores": DIGITS}
    assert parse_profiler.apple_unit(json.dumps({"SPDisplaysDataType": [unit]})) == (None, None)
    card = {"spdisplays_vendor": "AMD", "sppci_model": "AMD X", "spdisplays_vram": DIGITS + " MB"}
    (shown,) = parse_profiler.displays(json.dumps({"SPDisplaysDataType": [card]}))
    assert shown.dedicated_bytes is None


def test_thousands_of_digits_are_no_number_anywhere():
    assert parse_pmset.thermal("CPU_Speed_Limit = " + "9" * 5000) is None
    assert parse_mac.agx_cores('"gpu-core-count" = ' + "9" * 5000) is None
    cpu = parse_mac.cpu(dict.fromkeys(("hw.physicalcpu", "hw.logicalcpu"), "9" * 5000))
    assert (cpu.physical_cores, cpu.logical_cores) == (None, None)
    udev = "E:MEMORY_DEVICE_0_SIZE=1\nE:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=" + "9" * 5000
    assert parse_modules.of_udev(udev) is None
    assert parse_cgroup.cpu_limit([DIGITS + " 1", "1 " + DIGITS, "1", ""]) is None
    assert parse_cgroup.memory_limit([DIGITS + " 1 1", "1 1", "1 -"]) == (None, None)
    assert parse_supply.battery_percent({"B": {"type": "Battery", "capacity": DIGITS}}) is None


def test_no_processor_packages_are_no_count():
    assert parse_mac.cpu({"hw.packages": "0", "hw.physicalcpu": "0"}).sockets is None


@pytest.mark.parametrize("limit", ["-5", "0"])
def test_a_memory_limit_of_nothing_is_no_limit(limit, tmp_path):
    write(tmp_path / "proc/self/cgroup", "0::/x\n")
    write(tmp_path / "sys/fs/cgroup/x/memory.max", limit)
    write(tmp_path / "sys/fs/cgroup/x/memory.current", "0")
    total, available = memory_bytes(tmp_path)
    assert total > 0
    assert available > 0


def test_many_governors_are_several(tmp_path):
    for core in range(6):
        path = tmp_path / f"sys/devices/system/cpu/cpu{core}/cpufreq/scaling_governor"
        write(path, f"governor{core % 4}")
    assert linux.read_governor(tmp_path) == "governor0, governor1, governor2, governor3"
    write(path, "x" * 3000)
    assert linux.read_governor(tmp_path) == "several"


@pytest.mark.parametrize("told", ["-1", DIGITS, "9" * 400])
def test_a_card_of_an_odd_amount_of_memory_is_listed_without(told, tmp_path):
    folder = tmp_path / "sys/bus/pci/devices/0000:03:00.0"
    facts = {"class": "0x030000", "vendor": "0x1002", "device": "0x744c"}
    odd = dict.fromkeys(("mem_info_vram_total", "mem_info_gtt_total"), told)
    for name, text in {**facts, **odd, "product_name": "[" * 4000}.items():
        write(folder / name, text)
    (card,) = cards.read_cards(tmp_path)
    found = quick(lambda: parse_cards.from_pci(card, parse_cards.NameTables()))
    assert (found.dedicated_bytes, found.shared_bytes) == (None, None)
    assert len(found.name) == 256


# --- texts that make patterns slow


def guest(lscpu):
    return parse_virtual.virtual_name(VirtualMarks(), lscpu, hypervisor_flag=True)


def logged(line, *, failed=False):
    """What the engine's log makes of a line in which it repeats a file's words."""
    log = EngineLog()
    log.take(3 if failed else 2, line.encode())
    return log.failure("load_failed", "x.gguf") if failed else log.weights_bytes


@pytest.mark.parametrize(
    "call",
    [
        lambda: device_names.words_of("[" * 20_000),
        lambda: device_names.words_of("(radv" * 20_000),
        lambda: device_names.memory_gib_in("9" * 5000 + "GB"),
        lambda: device_names.makers("(radv" * 20_000),
        lambda: parse_ids._marketing("[" * 40_000),
        lambda: names.clean("(R" * 500_000),
        lambda: names.words("(" * 40_000),
        lambda: engine_only._name("(" * 20_000, "x"),
        lambda: engine_only._name(" " * 20_000 + "x", "x"),
        lambda: parse_pmset.battery_percent("-InternalBattery-1" * 16_000),
        lambda: parse_pmset.supply("Now drawing from '" * 16_000),
        lambda: parse_pmset.power_mode("\n" * 20_000),
        lambda: parse_battery.mac_discharge("\n" * 20_000),
        lambda: parse_cpuinfo.cpu_name("model name : a" + " " * 30_000 + "b"),
        lambda: parse_cpuinfo.cpu_name("model name" + " " * 200_000),
        lambda: guest("Hypervisor vendor: a" + " " * 200_000 + "b"),
        lambda: guest("Hypervisor vendor:" + " \n" * 100_000),
        lambda: parse_ids.amdgpu_name("744C,\n" * 100_000, 0x744C, 0xC8),
        lambda: logged("a" * 200_000),
        lambda: logged("Flash Attention " + "a" * 200_000),
        lambda: logged("Flash Attention " * 16_000),
        lambda: logged("error " + "'" * 200_000, failed=True),
        lambda: screen.x_server(":" + "9" * 200_000),
    ],
)
def test_a_hostile_text_is_read_quickly(call):
    quick(call)


def test_a_hypervisors_name_is_the_rest_of_its_own_line():
    assert guest("Hypervisor vendor:     KVM  \nVirtualization type: full") == "KVM"
    assert guest("Hypervisor vendor:\nVirtualization type: full") == parse_virtual.UNKNOWN


def test_what_a_long_name_says_first_still_counts():
    assert device_names.words_of("GA102 [GeForce RTX 3090] (rev a1)") == {"rtx", "3090"}
    assert device_names.words_of("NVIDIA RTX 3080" + " " * 300 + "ti") == {"rtx", "3080"}
    assert parse_pmset.battery_percent(" -InternalBattery-0 (id=1)\t82%; charging") == 82.0
    assert conditions.hottest({}) is None


def test_the_output_of_a_tool_is_cut():
    told = run_tool([sys.executable, "-c", "print('x' * 3_000_000)"], 30.0)
    assert isinstance(told, str)
    assert len(told) == MOST_BYTES


# --- a worker whose app was killed

APP = """
import fcntl, subprocess, sys, termios, time
code = "from desktop.bench import worker; worker.main([])"
with subprocess.Popen([sys.executable, "-c", code], stdin=-1) as child:
    child.stdin.write(b"{")
    child.stdin.flush()
    # once the worker has begun to read its job it is past its start
    while fcntl.ioctl(child.stdin, termios.FIONREAD, bytes(4)) != bytes(4):
        time.sleep(0.01)
    print(child.pid, flush=True)
    sys.stdin.read()
"""


@ON_LINUX
def test_a_stopped_worker_does_not_outlive_a_killed_app():
    import select

    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", APP], stdin=pipe, stdout=pipe) as app:
        pid = int(app.stdout.readline())
        worker = os.pidfd_open(pid)
        try:
            os.kill(pid, signal.SIGSTOP)
            app.kill()
            ended, _, _ = select.select([worker], [], [], 20.0)
            assert ended
        finally:
            # harmless where it has ended
            if not select.select([worker], [], [], 0)[0]:
                signal.pidfd_send_signal(worker, signal.SIGKILL)
            os.close(worker)
