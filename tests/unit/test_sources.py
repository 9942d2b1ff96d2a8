import os
import sys
import threading
from types import SimpleNamespace

import pytest

from desktop.sources import (
    cards,
    cgroups,
    cpuinfo,
    dmi,
    files,
    mac,
    nvml,
    rapl,
    registry,
    supply,
    system,
    windows,
)
from desktop.sources.commands import Failure, ToolFailure, run_tool, text_or_none
from desktop.sources.limits import Deadline, Pending

SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]


# --- files


def test_read_text_and_line(tmp_path):
    (tmp_path / "a").write_bytes(b"one\xff\0 \n")
    assert files.read_line(tmp_path / "a") == "one�"
    assert files.read_text(tmp_path / "a", most_bytes=2) == "on"
    assert files.read_text(tmp_path) is None
    assert files.read_line(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("text", "value"), [("0x10de\n", 0x10DE), ("12", 12), ("", None), ("x", None)]
)
def test_read_integer(tmp_path, text, value):
    (tmp_path / "n").write_text(text)
    assert files.read_integer(tmp_path / "n") == value


def test_link_name(tmp_path):
    (tmp_path / "amdgpu").mkdir()
    (tmp_path / "driver").symlink_to("amdgpu")
    (tmp_path / "dead").symlink_to("nowhere")
    assert files.link_name(tmp_path / "driver") == "amdgpu"
    assert files.link_name(tmp_path / "dead") is None
    assert files.link_name(tmp_path / "amdgpu") is None


# --- commands and limits


def test_a_tools_text():
    assert run_tool([sys.executable, "-c", "print('hello')"], 30).strip() == "hello"


def test_a_missing_tool_is_named():
    failure = run_tool(["no-such-tool-of-gram"])
    assert failure == ToolFailure("no-such-tool-of-gram", Failure.MISSING)
    assert text_or_none(failure) is None


def test_a_failing_tool_gives_its_status():
    failure = run_tool([sys.executable, "-c", "raise SystemExit(3)"], 30)
    assert (failure.why, failure.status) == (Failure.FAILED, 3)


def test_a_stuck_tool_is_given_up_on():
    assert run_tool(SLEEPER, 0.1).why is Failure.STUCK


def test_arguments_never_meet_a_shell():
    told = run_tool([sys.executable, "-c", "import sys; print(sys.argv[1])", "$(id); *"], 30)
    assert told.strip() == "$(id); *"


def test_pending_gives_its_result():
    pending = Pending("x", lambda: 7)
    assert (pending.result(10), pending.failure) == (7, None)


def test_a_stuck_call_stops_nobody():
    release = threading.Event()
    try:
        pending = Pending("x", release.wait)
        assert pending.result(0.01) is None
        assert pending.failure == "stuck"
    finally:
        release.set()


def test_a_deadline_runs_out():
    assert Deadline(-1).left_s() == 0.0
    assert 0 < Deadline(60).left_s() <= 60


# --- psutil


def test_cpu_times_and_own_time_grow():
    before = system.tree_cpu_s([os.getpid()])
    sum(range(300_000))
    assert system.tree_cpu_s([os.getpid(), os.getpid()]) >= before > 0
    times = system.cpu_times()
    assert 0 < times.busy_s < times.total_s


def test_a_process_that_is_gone_counts_nothing():
    assert system.tree_cpu_s([2**22 + 1]) == 0


def test_counts_and_memory():
    physical, logical = system.cpu_counts()
    assert physical is None or physical <= logical
    total, available = system.memory_bytes()
    assert 0 < available <= total


# --- NVML


class NvmlError(Exception):
    pass


def library(**changes):
    def refuse(*_):
        raise NvmlError

    calls = {
        "NVMLError": NvmlError,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda _: b"Tesla T4",
        "nvmlDeviceGetMemoryInfo": lambda _: SimpleNamespace(total=16106127360),
        "nvmlDeviceGetPciInfo": lambda h: SimpleNamespace(busId=f"00000000:00:0{4 + h}.0"),
        "nvmlSystemGetDriverVersion": lambda: "550.90.07",
        "nvmlDeviceGetTotalEnergyConsumption": lambda h: 1000 * (h + 1),
        "nvmlDeviceGetPowerUsage": refuse,
    }
    return SimpleNamespace(**calls | changes), refuse


def test_nvml_cards():
    fake, _ = library()
    found = nvml.open_nvml(fake)
    assert [card.pci_bus_id for card in found.cards()] == ["00000000:00:04.0", "00000000:00:05.0"]
    assert found.cards()[0] == nvml.NvmlCard(
        0, "Tesla T4", 16106127360, "00000000:00:04.0", "550.90.07"
    )
    assert found.energy_mj(1) == 2000
    assert found.power_mw(0) is None
    found.close()


def test_nvml_cards_come_one_by_one_and_the_library_is_let_go():
    closed = []
    fake, _ = library(nvmlShutdown=lambda: closed.append(1))
    found = nvml.read_cards(fake)
    assert next(found).pci_bus_id == "00000000:00:04.0"
    assert closed == []
    assert [card.index for card in found] == [1]
    assert closed == [1]


def test_nvml_refusals_are_none():
    fake, refuse = library()
    fake.nvmlDeviceGetMemoryInfo = fake.nvmlDeviceGetPciInfo = refuse
    del fake.nvmlDeviceGetTotalEnergyConsumption
    found = nvml.open_nvml(fake)
    assert found.cards()[0].memory_bytes is None
    assert found.cards()[0].pci_bus_id is None
    assert found.energy_mj(0) is None


def test_a_lost_card_is_left_out():
    fake, refuse = library()
    fake.nvmlDeviceGetHandleByIndex = refuse
    found = nvml.open_nvml(fake)
    assert found.cards() == ()
    assert found.energy_mj(0) is None


def test_no_driver_no_nvml():
    fake, refuse = library()
    fake.nvmlInit = refuse
    assert nvml.open_nvml(fake) is None


# --- trees of /sys and /proc


def test_rapl_domains(tmp_path):
    for name, told in {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core"}.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "name").write_text(told + "\n")
        (folder / "energy_uj").write_text("123456\n")
        (folder / "max_energy_range_uj").write_text("262143328850\n")
    (tmp_path / "intel-rapl").mkdir()
    package, core = rapl.read_domains(tmp_path)
    assert (package.id, package.name, package.readable) == ("intel-rapl:0", "package-0", True)
    assert package.max_range_uj == 262143328850
    assert core.energy_uj() == 123456
    # the counter's file is there and cannot be read as a number: as when permission is denied
    (tmp_path / "intel-rapl:0/energy_uj").write_text("")
    assert rapl.read_domains(tmp_path)[0].readable is False
    assert rapl.read_domains(tmp_path / "none") == ()


def test_cgroup_quotas_of_both_versions(tmp_path):
    def put(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    put("proc/self/cgroup", "4:cpu,cpuacct:/job\nnonsense\n0::/a/b\n")
    put("sys/fs/cgroup/a/b/cpu.max", "200000 100000\n")
    put("sys/fs/cgroup/a/cpu.max", "max 100000\n")
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n")
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    assert cgroups.read_quotas(tmp_path) == ("50000 100000", "200000 100000", "max 100000")
    assert cgroups.read_quotas(tmp_path / "none") == ()


def test_supplies_hold_no_serial_number(tmp_path):
    folder = tmp_path / "BAT0"
    folder.mkdir()
    for name, text in {"type": "Battery", "capacity": "80", "serial_number": "12345"}.items():
        (folder / name).write_text(text)
    assert supply.read_supplies(tmp_path) == {"BAT0": {"type": "Battery", "capacity": "80"}}


def test_marks_and_governors(tmp_path):
    (tmp_path / "sys/class/dmi/id").mkdir(parents=True)
    (tmp_path / "sys/class/dmi/id/sys_vendor").write_text("QEMU\n")
    (tmp_path / "sys/class/dmi/id/product_serial").write_text("12345\n")
    (tmp_path / ".dockerenv").touch()
    policy = tmp_path / "sys/devices/system/cpu/cpu0/cpufreq"
    policy.mkdir(parents=True)
    (policy / "scaling_governor").write_text("powersave\n")
    marks = dmi.read_marks(tmp_path)
    assert (marks.vendor, marks.container_files) == ("QEMU", (".dockerenv",))
    assert "12345" not in repr(marks)
    assert cpuinfo.read_governors(tmp_path) == ("powersave",)


MOUNTS = """22 27 0:21 / /proc rw,relatime shared:14 - proc proc rw
741 603 0:58 / / rw,relatime master:2 - overlay overlay rw,upperdir=/PATH-MUST-NOT-LEAK/diff
nonsense
"""


def test_marks_of_containers_without_their_addresses_and_paths(tmp_path):
    folder = tmp_path / "proc/self"
    folder.mkdir(parents=True)
    (folder / "mountinfo").write_text(MOUNTS)
    (folder / "environ").write_text("A=1\0KUBERNETES_SERVICE_HOST=10.96.0.1\0")
    marks = dmi.read_marks(tmp_path)
    assert (marks.root_filesystem, marks.in_pod) == ("overlay", True)
    assert "10.96" not in repr(marks)
    assert "LEAK" not in repr(marks)
    (folder / "environ").write_text("MY_KUBERNETES_SERVICE_HOST=1\0")
    assert not dmi.read_marks(tmp_path).in_pod


def test_an_empty_system_gives_nothing(tmp_path):
    assert cards.read_cards(tmp_path) == ()
    assert cards.read_pci_ids(tmp_path) is None
    assert cpuinfo.read_cpuinfo(tmp_path) is None
    assert dmi.read_marks(tmp_path) == dmi.VirtualMarks()


def test_the_firmwares_memory_table_without_serial_numbers(tmp_path):
    folder = tmp_path / "run/udev/data"
    folder.mkdir(parents=True)
    (folder / "+dmi:id").write_text(
        "I:1\nE:ID_VENDOR=QEMU\nE:MEMORY_DEVICE_0_TYPE=DDR5\n"
        "E:MEMORY_DEVICE_0_SERIAL_NUMBER=12345\nE:MEMORY_DEVICE_0_ASSET_TAG=12345\n"
    )
    assert dmi.read_memory_devices(tmp_path) == "E:MEMORY_DEVICE_0_TYPE=DDR5"
    assert dmi.read_memory_devices(tmp_path / "none") is None


def test_a_boards_description_without_its_serial_number(tmp_path):
    folder = tmp_path / "proc/device-tree"
    folder.mkdir(parents=True)
    (folder / "model").write_text("Board 1\0")
    (folder / "compatible").write_text("maker,board\0maker,chip\0")
    (folder / "serial-number").write_text("12345\0")
    tree = cards.read_device_tree(tmp_path)
    assert tree == cards.DeviceTree("Board 1", ("maker,board", "maker,chip"))
    assert cards.read_device_tree(tmp_path / "none") == cards.DeviceTree()


def test_graphics_units_that_are_no_pci_cards(tmp_path):
    for card, text in {"card0": "PCI_ID=1002:744C\n", "card1": "DRIVER=panthor\n"}.items():
        folder = tmp_path / "sys/class/drm" / card / "device"
        folder.mkdir(parents=True)
        (folder / "uevent").write_text(text)
    screen = tmp_path / "sys/class/drm/card1-HDMI-A-1"
    screen.mkdir()
    (screen / "status").write_text("connected\n")
    assert cards.read_platform_cards(tmp_path) == ("DRIVER=panthor\n",)
    assert cards.read_connectors(tmp_path) == {"card1-HDMI-A-1": "connected"}


def test_what_tells_of_heat(tmp_path):
    counts = tmp_path / "sys/devices/system/cpu/cpu0/thermal_throttle"
    counts.mkdir(parents=True)
    (counts / "core_throttle_count").write_text("3\n")
    fan = tmp_path / "sys/class/thermal/cooling_device0"
    fan.mkdir(parents=True)
    (fan / "type").write_text("Fan\n")
    (fan / "cur_state").write_text("1\n")
    assert cpuinfo.read_throttle_counts(tmp_path) == (3,)
    assert cpuinfo.read_cooling(tmp_path) == (("Fan", 1),)


# --- Windows and macOS, elsewhere


@pytest.mark.skipif(sys.platform == "win32", reason="there the calls tell something")
def test_windows_own_calls_tell_nothing_elsewhere():
    keys = registry.MachineRegistry()
    assert keys.value("SOFTWARE", "x") is None
    assert keys.children("SOFTWARE") == ()
    assert registry.read_adapters(keys) == ()
    assert registry.read_maker(keys) == (None, None)
    assert windows.read_features() == ()
    assert windows.read_present() is None
    assert windows.read_monitors() is None


def test_nothing_that_names_a_person_is_asked_of_windows_and_macos():
    asked = {name for names in windows.CIM_PROPERTIES.values() for name in names}
    private = {"SerialNumber", "UserName", "PartNumber", "UUID", "AdapterRAM"}
    assert not asked & private
    assert "hw.model" in mac.SYSCTLS
    assert "ConfigManagerErrorCode" in windows.CIM_PROPERTIES["Win32_VideoController"]
    assert "Name" not in windows.CIM_PROPERTIES["Win32_ComputerSystem"]
    assert not [name for name in mac.SYSCTLS if "host" in name or "uuid" in name]
