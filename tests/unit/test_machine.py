import json
import threading
from pathlib import Path

import pytest

from desktop.machine import linux, parse_cpuinfo, parse_mac, parse_windows
from desktop.machine.conditions import hottest, power_plan, read_conditions
from desktop.machine.cores import usable_cores, usable_cpus
from desktop.machine.detect import Probes, detect, survey, system_probes
from desktop.machine.load import LoadReader, LoadWindow
from desktop.machine.merge import merge
from desktop.machine.parse_cards import from_nvml, normal_address
from desktop.machine.parse_cgroup import cpu_limit
from desktop.machine.parse_ids import amdgpu_name, pci_name
from desktop.machine.parse_release import architecture, linux_version, windows_version
from desktop.machine.parse_supply import battery_percent, supply
from desktop.machine.parse_virtual import names_virtual, virtual_name
from desktop.machine.vendors import is_integrated
from desktop.records.machine import Accelerator, Cpu, PowerSupply
from desktop.sources.dmi import VirtualMarks
from desktop.sources.nvml import NvmlCard
from desktop.sources.system import CpuTimes
from desktop.sources.windows import RegistryAdapter

CAPTURES = Path(__file__).parent.parent / "captures"
GIB = 1024**3


def capture(name):
    return (CAPTURES / name).read_text(encoding="utf-8")


def plant(folder, tree):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in tree.items():
        if isinstance(content, dict):
            plant(folder / name, content)
        elif content.startswith("-> "):
            (folder / content[3:]).mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(content[3:])
        else:
            (folder / name).write_text(content)


@pytest.fixture
def root(tmp_path):
    tables = tmp_path / "usr/share"
    plant(tables / "hwdata", {"pci.ids": capture("pci_ids.txt")})
    plant(tables / "libdrm", {"amdgpu.ids": capture("amdgpu_ids.txt")})
    return tmp_path


def cards_of(root, name):
    plant(root, json.loads(capture(name)))
    return linux.read_pci_accelerators(root)


# --- the processor


@pytest.mark.parametrize(
    ("name", "expected", "sockets", "virtual"),
    [
        ("cpuinfo_intel.txt", "12th Gen Intel(R) Core(TM) i7-12700", 1, False),
        ("cpuinfo_epyc_vm.txt", "AMD EPYC", 1, True),
        (
            "cpuinfo_xeon_two_sockets.txt",
            "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz",
            2,
            False,
        ),
        ("cpuinfo_raspberry_pi_4.txt", "Raspberry Pi 4 Model B · Cortex-A72", None, False),
        (None, None, None, False),
    ],
)
def test_cpuinfo(name, expected, sockets, virtual):
    text = capture(name) if name else ""
    assert parse_cpuinfo.cpu_name(text) == expected
    assert parse_cpuinfo.sockets(text) == sockets
    assert parse_cpuinfo.has_hypervisor_flag(text) is virtual


def test_a_raspberry_pis_serial_number_goes_nowhere(tmp_path):
    plant(tmp_path, {"proc": {"cpuinfo": capture("cpuinfo_raspberry_pi_4.txt")}})
    assert "12345678" not in repr(linux.read_cpu(tmp_path))


def test_arm_with_two_core_designs_names_both_once():
    text = "".join(
        f"processor\t: {i}\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\n"
        for i, part in enumerate(["0xd05", "0xd05", "0xd41", "0xd41"])
    )
    assert parse_cpuinfo.cpu_name(text) == "Cortex-A55 + Cortex-A78"


def test_an_unknown_arm_core_is_not_guessed():
    assert parse_cpuinfo.cpu_name("CPU implementer\t: 0x41\nCPU part\t: 0xfff\n") is None
    assert parse_cpuinfo.cpu_name("CPU implementer\t: zz\nCPU part\t: 0xd08\n") is None


@pytest.mark.parametrize(
    ("quotas", "limit"),
    [
        ([], None),
        (["max 100000"], None),
        (["-1 100000"], None),
        (["150000 100000"], 1.5),
        (["max 100000", "400000 100000", "200000 100000"], 2.0),
        (["nonsense", "1", "", "0 0"], None),
    ],
)
def test_cpu_limit(quotas, limit):
    assert cpu_limit(quotas) == limit


def test_usable_cores_never_exceed_what_this_process_may_use():
    assert 1 <= usable_cores() <= usable_cpus()


# --- cards


def test_two_equal_cards_stay_two():
    cards = [from_nvml(NvmlCard(**c)) for c in json.loads(capture("nvml_two_t4.json"))]
    merged = merge(cards)
    assert [card.name for card in merged] == ["Tesla T4", "Tesla T4"]
    assert merged[0].memory_bytes == 15 * GIB
    assert [card.pci_address for card in merged] == ["0000:00:04.0", "0000:00:05.0"]


def test_an_igpu_is_no_second_big_card(root):
    # A01 of the public cases: one card of 24 GB, not two of 48
    cards = cards_of(root, "sysfs_amd_desktop.json")
    assert [(c.name, c.integrated) for c in merge(cards)] == [
        ("AMD Radeon RX 7900 XTX", False),
        ("AMD Radeon Graphics", True),
    ]
    assert cards[0].memory_bytes == 25753026560
    assert cards[0].driver == "amdgpu"


def test_a_hybrid_laptop_puts_the_discrete_card_first_and_once(root):
    pci = cards_of(root, "sysfs_hybrid_laptop.json")
    nvml = NvmlCard(0, "NVIDIA GeForce RTX 3050 Laptop GPU", 4 * GIB, "00000000:01:00.0", "550.1")
    merged = merge([from_nvml(nvml)], pci)
    assert [(c.vendor, c.name, c.integrated) for c in merged] == [
        ("NVIDIA", "NVIDIA GeForce RTX 3050 Laptop GPU", False),
        ("Intel", "Intel Iris Xe Graphics", True),
    ]
    assert merged[0].memory_bytes == 4 * GIB
    assert merged[1].memory_bytes is None


def test_an_apu_counts_carve_out_and_shared_memory_once(root):
    # A11: 512 MiB carve-out, 108 GB shared
    (card,) = cards_of(root, "sysfs_strix_halo.json")
    assert card.integrated
    assert card.name == "AMD Radeon 8060S Graphics"
    assert card.memory_bytes == 536870912 + 115964116992


def test_virtual_and_management_adapters_are_no_cards(root):
    assert cards_of(root, "sysfs_virtual_adapters.json") == ()


def test_a_card_given_to_a_virtual_machine_is_not_ours(root):
    tree = json.loads(capture("sysfs_hybrid_laptop.json"))
    tree["sys"]["bus"]["pci"]["devices"]["0000:01:00.0"]["driver"] = "-> ../drivers/vfio-pci"
    plant(root, tree)
    assert [card.vendor for card in linux.read_pci_accelerators(root)] == ["Intel"]


def test_a_card_without_tables_is_named_by_its_number(tmp_path):
    cards = cards_of(tmp_path, "sysfs_hybrid_laptop.json")
    assert [card.name for card in cards] == ["Intel graphics 46a6", "NVIDIA graphics 25a2"]


def test_discrete_intel_memory_comes_from_its_tiles(root):
    card = {
        "class": "0x030000",
        "vendor": "0x8086",
        "device": "0xe20b",
        "tile0": {"physical_vram_size_bytes": str(12 * GIB)},
    }
    plant(root, {"sys": {"bus": {"pci": {"devices": {"0000:03:00.0": card}}}}})
    (found,) = linux.read_pci_accelerators(root)
    assert (found.memory_bytes, found.integrated) == (12 * GIB, False)


def test_name_tables():
    table = capture("pci_ids.txt")
    assert pci_name(table, 0x10DE, 0x1EB8) == "Tesla T4"
    # another vendor's device of that number must not be taken
    assert pci_name(table, 0x10DE, 0x1111) is None
    assert pci_name(table, 0xFFFF, 0x1EB8) is None
    assert amdgpu_name(capture("amdgpu_ids.txt"), 0x744C, 0xCC) == "AMD Radeon RX 7900 XT"
    assert amdgpu_name(capture("amdgpu_ids.txt"), 0x744C, 0x01) is None


@pytest.mark.parametrize(
    ("vendor", "name", "integrated"),
    [
        ("AMD", "AMD Radeon RX 7900 XTX", False),
        ("AMD", "AMD Radeon(TM) Vega 8 Mobile Graphics", True),
        ("AMD", "AMD Radeon 680M", True),
        ("AMD", "AMD Radeon(TM) Graphics", True),
        ("AMD", "AMD Radeon PRO W7900", False),
        ("Intel", "Intel(R) UHD Graphics 730", True),
        ("Intel", "Intel(R) Iris(R) Xe Graphics", True),
        ("Intel", "Intel(R) Arc(TM) A770 Graphics", False),
        ("Intel", "Intel(R) Arc(TM) B580 Graphics", False),
        ("Intel", "Intel(R) Arc(TM) 140V GPU (16GB)", True),
        ("NVIDIA", "NVIDIA GeForce GTX 1650", False),
        ("NVIDIA", "NVIDIA GB10", True),
        ("Apple", "Apple M4", True),
    ],
)
def test_integrated_by_name(vendor, name, integrated):
    assert is_integrated(vendor, name) is integrated


def test_merging_fills_what_the_first_source_left_open():
    known = Accelerator("NVIDIA", "NVIDIA L4", None, False, "0000:01:00.0")
    other = Accelerator("NVIDIA", "AD104GL", 24 * GIB, True, "0000:01:00.0", "nvidia")
    (card,) = merge([known], [other])
    assert card == Accelerator("NVIDIA", "NVIDIA L4", 24 * GIB, False, "0000:01:00.0", "nvidia")


def test_nvml_addresses_are_the_kernels():
    assert normal_address("00000000:0A:00.0") == "0000:0a:00.0"
    assert normal_address("0001:01:00.0") == "0001:01:00.0"


# --- Windows and macOS


def windows_capture():
    told = json.loads(capture("windows_4090_laptop.json"))
    return told["present"], [RegistryAdapter(**a) for a in told["registry"]]


def test_windows_memory_is_the_registrys_and_removed_cards_are_gone():
    # A04: AdapterRAM says 4095 MB
    present, registry = windows_capture()
    cards = parse_windows.accelerators(json.dumps(present), registry)
    assert [(c.name, c.memory_bytes, c.integrated) for c in cards] == [
        ("Intel(R) UHD Graphics", 134217728, True),
        ("NVIDIA GeForce RTX 4090", 25757220864, False),
    ]
    assert cards[1].driver == "32.0.15.6094"


def test_windows_single_adapter_is_no_list():
    present, registry = windows_capture()
    (card,) = parse_windows.accelerators(json.dumps(present[2]), registry)
    assert card.name == "NVIDIA GeForce RTX 4090"


def test_windows_without_powershell_takes_the_registry():
    _, registry = windows_capture()
    assert len(parse_windows.accelerators(None, registry)) == 3
    assert parse_windows.accelerators("not json", registry) == ()


SYSCTL = """machdep.cpu.brand_string: Apple M4
hw.physicalcpu: 10
hw.logicalcpu: 10
hw.packages: 1
hw.memsize: 17179869184
iogpu.wired_limit_mb: 0
"""


def test_apple_chip():
    values = parse_mac.sysctl_values(SYSCTL)
    assert parse_mac.cpu(values) == Cpu("Apple M4", 10, 10, 1)
    assert parse_mac.apple_chip(values) == Accelerator("Apple", "Apple M4", None, True)


def test_apple_wired_limit_is_the_gpus_memory():
    # A24: 26000 MiB, not all of the memory
    values = parse_mac.sysctl_values(SYSCTL.replace("limit_mb: 0", "limit_mb: 26000"))
    assert parse_mac.apple_chip(values).memory_bytes == 26000 * 1024**2


def test_an_intel_mac_has_no_apple_chip():
    # H04
    text = "machdep.cpu.brand_string: Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz\n"
    assert parse_mac.apple_chip(parse_mac.sysctl_values(text)) is None
    cards = parse_mac.displays(capture("system_profiler_intel.json"))
    assert [(c.vendor, c.name, c.memory_bytes, c.integrated) for c in cards] == [
        ("Intel", "Intel UHD Graphics 630", None, True),
        ("AMD", "AMD Radeon Pro 5300M", 4 * GIB, False),
    ]
    assert parse_mac.displays("{}") == parse_mac.displays("no json") == ()


# --- the system


def test_versions():
    release = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\n'
    told = linux_version(release, "6.1.0-18-somebodys-own")
    assert told == "Debian GNU/Linux 12 (bookworm), kernel 6.1.0"
    assert linux_version(None, "") == "unknown"
    assert windows_version((10, 0, 26100)) == "11 (build 26100)"
    assert windows_version((10, 0, 19045)) == "10 (build 19045)"
    assert windows_version(None) == "unknown"
    assert [architecture(a) for a in ("AMD64", "aarch64", "arm64", "")] == [
        "x86_64",
        "arm64",
        "arm64",
        "unknown",
    ]


@pytest.mark.parametrize(
    ("marks", "lscpu", "flag", "expected"),
    [
        (VirtualMarks(), None, False, None),
        (VirtualMarks("LENOVO", "20XW0055GE"), None, False, None),
        (VirtualMarks("QEMU", "Standard PC (Q35 + ICH9, 2009)"), None, True, "KVM"),
        (VirtualMarks("Microsoft Corporation", "Virtual Machine"), None, True, "Hyper-V"),
        (VirtualMarks("Microsoft Corporation", "Surface Pro"), None, False, None),
        (VirtualMarks("Amazon EC2", "g4dn.xlarge"), None, True, "Amazon EC2"),
        (VirtualMarks("Amazon EC2", "c5.metal"), None, False, None),
        (VirtualMarks(), "Hypervisor vendor:                       KVM\n", True, "KVM"),
        (VirtualMarks(), None, True, "virtual machine"),
        (
            VirtualMarks(kernel="Linux version 5.15.153.1-microsoft-standard-WSL2"),
            None,
            True,
            "WSL2",
        ),
        (
            VirtualMarks(container_files=(".dockerenv",)),
            "Hypervisor vendor: KVM",
            True,
            "KVM, Docker container",
        ),
        (
            VirtualMarks(first_process_cgroup="0::/kubepods/pod1"),
            None,
            False,
            "Kubernetes container",
        ),
        (VirtualMarks(container_files=("run/systemd/container",)), None, False, "container"),
    ],
)
def test_virtual(marks, lscpu, flag, expected):
    assert virtual_name(marks, lscpu, hypervisor_flag=flag) == expected


def test_windows_maker_names_the_virtual_machine():
    assert names_virtual("innotek GmbH", "VirtualBox") == "VirtualBox"
    assert names_virtual(None, None) is None


# --- detection


def probes(**changes):
    fakes = {
        "os": "Linux",
        "version": lambda: "Debian 12",
        "cpu": lambda: Cpu("AMD EPYC", 2, 4),
        "cards": lambda: (Accelerator("NVIDIA", "TU104GL", None, False, "0000:00:04.0", "nvidia"),),
        "virtual": lambda: None,
        "nvml_cards": lambda: (NvmlCard(0, "Tesla T4", 15 * GIB, "00000000:00:04.0", "550"),),
        "memory": lambda: (16 * GIB, 8 * GIB),
        "architecture": lambda: "AMD64",
    }
    return Probes(**fakes | changes)


def test_survey_merges_all_sources():
    found = survey(probes=probes())
    assert found.failures == ()
    assert found.machine.ram_bytes == 16 * GIB
    assert found.machine.architecture == "x86_64"
    assert found.machine.accelerators == (
        Accelerator("NVIDIA", "Tesla T4", 15 * GIB, False, "0000:00:04.0", "550"),
    )


def test_windows_does_not_list_an_nvidia_card_twice():
    cards = (Accelerator("NVIDIA", "Tesla T4", 15 * GIB, False),)
    assert len(survey(probes=probes(cards=lambda: cards)).machine.accelerators) == 1


def test_a_stuck_source_is_given_up_on_and_named():
    release = threading.Event()
    try:
        found = survey(0.05, probes(nvml_cards=release.wait))
    finally:
        release.set()
    assert found.failures == ("NVML: stuck",)
    assert found.machine.cpu.name == "AMD EPYC"


def test_a_broken_source_is_named_and_nothing_else_is_lost():
    def broken():
        raise PermissionError

    found = survey(probes=probes(cpu=broken, memory=broken, version=broken))
    assert found.failures == (
        "version: PermissionError",
        "processor: PermissionError",
        "memory: PermissionError",
    )
    assert found.machine.ram_bytes is None
    assert found.machine.cpu == Cpu(None, None, None)
    assert len(found.machine.accelerators) == 1


def test_detect_here():
    machine = detect()
    assert machine.os in {"Linux", "macOS", "Windows"}
    assert machine.ram_bytes > GIB / 4
    assert machine.cpu.logical_cores >= 1
    assert machine.os_version != "unknown"


# --- conditions


def load_reader(times, own):
    times, own = iter(times), iter(own)
    return LoadReader(lambda: next(times), lambda _pids: next(own))


@pytest.mark.parametrize(
    ("times", "own", "expected"),
    [
        ([CpuTimes(100, 1000), CpuTimes(104, 1010)], [0, 3], 10.0),
        ([CpuTimes(100, 1000), CpuTimes(104, 1010)], [0, 4.5], 0.0),
        ([CpuTimes(100, 1000), CpuTimes(110, 1010)], [2, 2], 100.0),
        ([CpuTimes(100, 1000), CpuTimes(100, 1000)], [0, 0], None),
        ([None, CpuTimes(100, 1000)], [0, 0], None),
        ([CpuTimes(100, 1000), None], [0, 0], None),
    ],
)
def test_other_load(times, own, expected):
    window = LoadWindow([1], load_reader(times, own))
    assert window.other_percent([1, 2]) == expected


def test_conditions_here():
    now = read_conditions(12.5, virtual=True)
    assert now.other_load_percent == 12.5
    assert now.memory_available_bytes > 0


def test_hottest_is_the_processors_and_believable():
    chips = {"coretemp": (41.0, 55.0, 0.0), "nvme": (80.0,), "k10temp": (1000.0,)}
    assert hottest(chips) == 55.0
    assert hottest({"acpitz": (30.0,)}) is None


def test_a_power_plan_of_the_owners_own_words_is_custom():
    line = "Power Scheme GUID: {} (Balanced)"
    assert power_plan(line.format("381b4222-f694-41f0-9685-ff5bb260df2e")) == "balanced"
    assert power_plan(line.format("00000000-1111-2222-3333-444444444444")) == "custom"
    assert power_plan("") is None


MOUSE = {"type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "50"}
CELLS = {"type": "Battery", "status": "Discharging", "capacity": "83"}


@pytest.mark.parametrize(
    ("supplies", "expected", "percent"),
    [
        ({}, None, None),
        ({"hidpp_battery_0": MOUSE}, None, None),
        ({"AC": {"type": "Mains", "online": "1"}, "BAT0": CELLS}, PowerSupply.MAINS, 83.0),
        ({"AC": {"type": "Mains", "online": "0"}, "BAT0": CELLS}, PowerSupply.BATTERY, 83.0),
        ({"BAT0": CELLS | {"status": "Full"}}, PowerSupply.MAINS, 83.0),
        ({"BAT0": {"type": "Battery", "status": "Unknown"}}, None, None),
    ],
)
def test_supply(supplies, expected, percent):
    assert supply(supplies) == expected
    assert battery_percent(supplies) == percent


@pytest.mark.parametrize(
    ("platform", "os"), [("linux", "Linux"), ("win32", "Windows"), ("darwin", "macOS")]
)
def test_each_systems_readers_survive_on_another_system(platform, os):
    found = survey(30, system_probes(platform))
    assert found.machine.os == os
    assert found.failures == ()
