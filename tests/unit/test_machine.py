import json
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from desktop.errors import Reason
from desktop.machine import (
    linux,
    parse_cpuinfo,
    parse_mac,
    parse_modules,
    parse_pmset,
    parse_profiler,
    parse_state,
    parse_windows,
    windows,
)
from desktop.machine.conditions import hottest, read_conditions
from desktop.machine.cores import usable_cores, usable_cpus
from desktop.machine.detect import Probes, detect, survey, system_probes, windows_probes
from desktop.machine.load import LoadReader, LoadWindow
from desktop.machine.memory_rule import settled
from desktop.machine.merge import with_engine
from desktop.machine.names import likeness, vendor_of
from desktop.machine.nvidia_list import NvidiaList
from desktop.machine.parse_cards import from_nvml
from desktop.machine.parse_cgroup import cpu_limit
from desktop.machine.parse_ids import amdgpu_name, pci_name
from desktop.machine.parse_instructions import of_cpuinfo, of_sysctl
from desktop.machine.parse_platform import from_platform
from desktop.machine.parse_power_plan import power_plan
from desktop.machine.parse_release import architecture, linux_version, windows_version
from desktop.machine.parse_supply import battery_percent, supply
from desktop.machine.parse_virtual import names_virtual, virtual_name
from desktop.machine.state import State, mac_state, state_source, windows_state
from desktop.machine.system_list import merge
from desktop.machine.tools import Tool
from desktop.machine.vendors import is_integrated
from desktop.records.machine import (
    Accelerator,
    Cpu,
    Device,
    DeviceKind,
    Machine,
    MemoryModules,
    PowerSupply,
    Thermal,
)
from desktop.rules.memory_answers import memory_answers
from desktop.sources import registry as registry_source
from desktop.sources import temperatures
from desktop.sources.cards import DeviceTree
from desktop.sources.commands import Failure, ToolFailure
from desktop.sources.dmi import VirtualMarks
from desktop.sources.nvml import NvmlCard
from desktop.sources.registry import RegistryAdapter
from desktop.sources.system import Battery, CpuTimes

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


def cards_here(root, ram_bytes=64 * GIB):
    return settle(linux.read_accelerators(root), ram_bytes)


def settle(cards, ram_bytes=64 * GIB, os="Linux"):
    machine = Machine(os, "1", "x86_64", Cpu(None, None, None), ram_bytes, tuple(cards))
    return settled(machine).accelerators


def cards_of(root, name):
    plant(root, json.loads(capture(name)))
    return cards_here(root)


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
    merged = settle(merge(cards))
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
    merged = settle(merge([from_nvml(nvml)], pci))
    assert [(c.vendor, c.name, c.integrated) for c in merged] == [
        ("NVIDIA", "NVIDIA GeForce RTX 3050 Laptop GPU", False),
        ("Intel", "Intel Iris Xe Graphics", True),
    ]
    assert merged[0].memory_bytes == 4 * GIB
    # Intel's share all of the system's memory
    assert merged[1].memory_bytes == 64 * GIB


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
    assert [card.vendor for card in cards_here(root)] == ["Intel"]


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
    (found,) = cards_here(root)
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


VEGA_IDS = """1002  Advanced Micro Devices, Inc. [AMD/ATI]
\t15d8  Picasso/Raven 2 [Radeon Vega Series / Radeon Vega Mobile Series]
\t6860  Vega 10 [Instinct MI25]
\t6861  Vega 10 XT [Radeon PRO WX 9100]
\t6863  Vega 10 XTX [Radeon Vega Frontier Edition]
\t686a  Vega 10 LEA
\t687f  Vega 10 XL/XT [Radeon RX Vega 56/64]
"""


@pytest.mark.parametrize(
    ("device", "integrated"),
    [
        ("0x15d8", True),
        ("0x6860", False),
        ("0x6861", False),
        ("0x6863", False),
        ("0x686a", False),
        ("0x687f", False),
    ],
)
def test_vega_10_is_a_large_chip_and_a_small_part(tmp_path, device, integrated):
    card = {"class": "0x030000", "vendor": "0x1002", "device": device}
    plant(tmp_path / "usr/share/hwdata", {"pci.ids": VEGA_IDS})
    plant(tmp_path, {"sys": {"bus": {"pci": {"devices": {"0000:03:00.0": card}}}}})
    assert [card.integrated for card in cards_here(tmp_path)] == [integrated]
    assert is_integrated("AMD", "AMD Radeon(TM) Vega 10 Graphics")


INTEL_IDS = """8086  Intel Corporation
\t4905  DG1 [Iris Xe MAX Graphics]
\t4908  DG1 [Iris Xe Graphics]
\t46a6  Alder Lake-P GT2 [Iris Xe Graphics]
\t56a0  DG2 [Arc A770]
\te202  Battlemage G21 [Intel Graphics]
"""


@pytest.mark.parametrize(
    ("device", "integrated"),
    [
        ("0x46a6", True),
        ("0x4905", False),
        ("0x4908", False),
        ("0x56a0", False),
        ("0xe202", False),
        ("0x1234", False),
    ],
)
def test_intels_graphics_is_told_by_its_name_in_a_guest(tmp_path, device, integrated):
    card = {"class": "0x030000", "vendor": "0x8086", "device": device}
    plant(tmp_path / "usr/share/hwdata", {"pci.ids": INTEL_IDS})
    plant(tmp_path, {"sys": {"bus": {"pci": {"devices": {"0000:00:10.0": card}}}}})
    assert [card.integrated for card in cards_here(tmp_path)] == [integrated]


@pytest.mark.parametrize(
    ("told", "external"), [("removable\n", True), ("fixed\n", False), ("unknown\n", None)]
)
def test_a_card_on_a_cable_is_one_where_the_firmware_says_so(root, told, external):
    card = {"class": "0x030000", "vendor": "0x10de", "device": "0x2206", "removable": told}
    plant(root, {"sys": {"bus": {"pci": {"devices": {"0000:03:00.0": card}}}}})
    assert [card.external for card in cards_here(root)] == [external]


def test_what_nobody_tells_of_a_cable_is_none(root):
    assert {card.external for card in cards_of(root, "sysfs_hybrid_laptop.json")} == {None}
    assert {c.external for c in parse_windows.accelerators(cim(FIRST), [FIRST])} == {None}


def test_merging_fills_what_the_first_source_left_open():
    known = Accelerator("NVIDIA", "NVIDIA L4", None, False, "0000:01:00.0", "550.1")
    other = replace(
        known, name="AD104GL", integrated=True, driver="nvidia", dedicated_bytes=24 * GIB
    )
    (card,) = merge([known], [replace(other, external=True)])
    assert card == replace(known, driver="nvidia 550.1", dedicated_bytes=24 * GIB, external=True)


def test_nvml_addresses_are_the_kernels():
    for told, address in (
        ("00000000:0A:00.0", "0000:0a:00.0"),
        ("0001:01:00.0", "0001:01:00.0"),
        # Intel's volume management device opens a domain of its own
        ("00010000:E1:00.0", "10000:e1:00.0"),
    ):
        assert from_nvml(NvmlCard(0, "T4", GIB, told, None)).pci_address == address


# --- Windows and macOS


def adapter(number, name, memory_bytes, location=None, device="DEV_2684"):
    return RegistryAdapter(
        rf"PCI\VEN_10DE&{device}&SUBSYS_0&REV_A1\4&{number}", location, name, memory_bytes
    )


def cim(*adapters):
    listed = [{"Name": a.name, "PNPDeviceID": a.device_id.lower()} for a in adapters]
    return json.dumps({"Win32_VideoController": listed})


LOCATION = r"@System32\drivers\pci.sys,#65536;PCI bus %1, device %2, function %3;({},0,0)"
FIRST = adapter(1, "NVIDIA GeForce RTX 3090", 24 * GIB, LOCATION.format(10))
SECOND = adapter(2, "NVIDIA GeForce RTX 3090", 24 * GIB, LOCATION.format(1))
STALE = adapter(3, "NVIDIA GeForce GTX 1080", 8 * GIB, LOCATION.format(1), "DEV_1B80")


def test_windows_two_equal_cards_are_two_and_a_removed_one_is_gone():
    found = parse_windows.accelerators(cim(FIRST, SECOND), [STALE, FIRST, SECOND])
    assert [(c.name, c.pci_address, c.dedicated_bytes) for c in found] == [
        ("NVIDIA GeForce RTX 3090", "0000:0a:00.0", 24 * GIB),
        ("NVIDIA GeForce RTX 3090", "0000:01:00.0", 24 * GIB),
    ]


def test_windows_single_adapter_is_no_list():
    one = json.dumps({"Win32_VideoController": {"Name": "X", "PNPDeviceID": FIRST.device_id}})
    assert [c.name for c in parse_windows.accelerators(one, [FIRST])] == ["X"]


def test_windows_without_powershell_takes_what_the_device_manager_says_is_present():
    present = [FIRST.device_id.lower(), r"ROOT\DISPLAY\0000"]
    found = parse_windows.accelerators(None, [STALE, FIRST, SECOND], present)
    assert [c.pci_address for c in found] == ["0000:0a:00.0"]
    assert len(parse_windows.accelerators("not json", [STALE, FIRST])) == 2


@pytest.mark.parametrize(
    ("code", "kept"), [(0, True), (None, True), (22, False), (43, False), (28, False)]
)
def test_windows_adapters_that_do_not_work_are_no_cards(code, kept):
    told = {"Name": FIRST.name, "PNPDeviceID": FIRST.device_id, "ConfigManagerErrorCode": code}
    text = json.dumps({"Win32_VideoController": [told]})
    assert bool(parse_windows.accelerators(text, [FIRST, STALE])) is kept


@pytest.mark.parametrize("text", ["", "not json", "{}", '{"Win32_VideoController": []}'])
def test_windows_words_without_adapters_are_no_answer(text):
    keys = Keys(qwMemorySize=8 * GIB, DriverDesc="NVIDIA GeForce RTX 4060")
    tool = Tool("PowerShell", lambda: text, 30)
    here = r"PCI\VEN_10DE&DEV_0001\4&1"
    told = windows.WindowsSources(keys, tool, present=lambda: (here,))
    assert [c.name for c in windows.read_accelerators(told)] == ["NVIDIA GeForce RTX 4060"]
    assert windows.read_accelerators(replace(told, present=lambda: ())) == ()


@pytest.mark.parametrize(
    ("location", "address"),
    [
        (LOCATION.format(101), "0000:65:00.0"),
        ("PCI bus 3, device 2, function 1", "0000:03:02.1"),
        (LOCATION.format(300), None),
        ("@System32\\x.sys", None),
        (None, None),
    ],
)
def test_windows_locations_are_decimal(location, address):
    assert parse_windows.pci_address(location) == address


@pytest.mark.parametrize(
    ("name", "device_id"),
    [
        ("Microsoft Basic Display Adapter", FIRST.device_id),
        ("Microsoft Remote Display Adapter", r"SWD\REMOTEDISPLAYENUM\RDPIDD_INDIRECTDISPLAY"),
        ("Parsec Virtual Display Adapter", r"ROOT\DISPLAY\0001"),
        ("Citrix Indirect Display Adapter", r"ROOT\IDDCX\0000"),
        ("IddSampleDriver Device", r"ROOT\DISPLAY\0002"),
        ("DisplayLink USB Device", r"USB\VID_17E9&PID_6006\1"),
        ("VMware SVGA 3D", r"PCI\VEN_15AD&DEV_0405&SUBSYS_0&REV_0\3&1"),
        ("Microsoft Hyper-V Video", r"VMBUS\{da0a7802}\5&1"),
    ],
)
def test_windows_adapters_that_compute_nothing_are_no_cards(name, device_id):
    told = json.dumps({"Win32_VideoController": [{"Name": name, "PNPDeviceID": device_id}]})
    assert parse_windows.accelerators(told, [FIRST]) == ()


def test_windows_names_qualcomms_graphics_unit():
    device = r"ACPI\VEN_QCOM&DEV_0C36&SUBSYS_CRD08380&REV_0\2&1"
    told = {"Name": "Qualcomm(R) Adreno(TM) X1-85 GPU", "PNPDeviceID": device}
    (found,) = parse_windows.accelerators(json.dumps({"Win32_VideoController": told}), [])
    assert (found.vendor, found.name) == ("Qualcomm", "Qualcomm Adreno X1-85 GPU")
    assert found.integrated


class Keys:
    """A registry of one display adapter; its class key's number is 0002."""

    TREE: ClassVar = {
        r"SYSTEM\CurrentControlSet\Enum\PCI": ("VEN_10DE&DEV_0001", "VEN_8086&DEV_0002"),
        r"SYSTEM\CurrentControlSet\Enum\PCI\VEN_10DE&DEV_0001": ("4&1",),
        r"SYSTEM\CurrentControlSet\Enum\PCI\VEN_8086&DEV_0002": ("3&1",),
    }

    def __init__(self, **memory):
        self.memory = memory

    def children(self, key):
        return self.TREE.get(key, ())

    def value(self, key, name):
        if name == "Driver":
            other = "{4d36e97d-e325-11ce-bfc1-08002be10318}"
            return f"{registry_source.DISPLAY_CLASS if '10DE' in key else other}\\0002"
        if key.endswith("0002"):
            return self.memory.get(name.removeprefix("HardwareInformation."))
        return None


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ({"qwMemorySize": 24 * GIB}, 24 * GIB),
        ({"qwMemorySize": (24 * GIB).to_bytes(8, "little")}, 24 * GIB),
        ({"qwMemorySize": 0, "MemorySize": 2 * GIB}, 2 * GIB),
        # the end of 32 bits says nothing
        ({"MemorySize": 0xFFF00000}, None),
        ({"MemorySize": bytes.fromhex("0000f0ff")}, None),
        ({"qwMemorySize": "24 GB"}, None),
        ({}, None),
    ],
)
def test_windows_memory_is_the_devices_own_keys(memory, expected):
    (found,) = registry_source.read_adapters(Keys(**memory))
    assert found.device_id == r"PCI\VEN_10DE&DEV_0001\4&1"
    assert found.memory_bytes == expected


SYSCTL = """machdep.cpu.brand_string: Apple M4
hw.physicalcpu: 10
hw.logicalcpu: 10
hw.packages: 1
hw.memsize: 17179869184
iogpu.wired_limit_mb: 0
"""


def test_apple_chip():
    values = parse_mac.sysctl_values(SYSCTL)
    assert parse_mac.cpu(values) == Cpu("Apple M4", 10, 10, 1, None, ("neon",))
    assert parse_mac.apple_chip(values) == Accelerator("Apple", "Apple M4", None, True)


def test_apple_wired_limit_is_the_gpus_memory():
    # A24: 26000 MiB, not all of the memory
    values = parse_mac.sysctl_values(SYSCTL.replace("limit_mb: 0", "limit_mb: 26000"))
    assert parse_mac.apple_chip(values).memory_bytes == 26000 * 1024**2


def test_an_intel_mac_has_no_apple_chip():
    # H04
    text = "machdep.cpu.brand_string: Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz\n"
    assert parse_mac.apple_chip(parse_mac.sysctl_values(text)) is None
    cards = parse_profiler.displays(capture("system_profiler_intel.json"))
    settled_cards = settle(cards, 16 * GIB, "macOS")
    assert [(c.vendor, c.name, c.memory_bytes, c.integrated) for c in settled_cards] == [
        ("Intel", "Intel UHD Graphics 630", 3 * GIB // 2, True),
        ("AMD", "AMD Radeon Pro 5300M", 4 * GIB, False),
    ]
    assert parse_profiler.displays("{}") == parse_profiler.displays("no json") == ()


def test_an_external_card_of_a_mac_is_said_to_be_one():
    told = {
        "sppci_model": "Radeon RX 580",
        "spdisplays_vendor": "sppci_vendor_amd",
        "spdisplays_vram": "8 GB",
        "sppci_device_type": "spdisplays_egpu",
    }
    (card,) = parse_profiler.displays(json.dumps({"SPDisplaysDataType": [told]}))
    assert (card.external, card.integrated, card.dedicated_bytes) == (True, False, 8 * GIB)


# --- the engine's list


def device(name, backend="Vulkan", kind=DeviceKind.GPU, memory_bytes=None, address=None):
    return Device(f"{backend}0", name, kind, backend, memory_bytes, None, pci_address=address)


def joined(cards, *devices, ram_bytes=64 * GIB):
    machine = Machine("Linux", "1", "x86_64", Cpu(None, None, None), ram_bytes, tuple(cards))
    return with_engine(settled(machine), devices).accelerators


RTX = Accelerator("NVIDIA", "NVIDIA GeForce RTX 3090", None, False, dedicated_bytes=24 * GIB)
APU = Accelerator(
    "AMD", "AMD Radeon 780M", None, True, dedicated_bytes=GIB // 2, shared_bytes=30 * GIB
)


def test_equal_names_are_joined_one_by_one():
    cards = joined([RTX, RTX], device(RTX.name, "CUDA"), device(RTX.name, "CUDA"))
    assert [card.backends for card in cards] == [("CUDA",), ("CUDA",)]
    cards = joined([RTX, RTX], device(RTX.name, "CUDA"))
    assert [card.backends for card in cards] == [("CUDA",), ()]


def test_an_engine_that_was_not_asked_is_no_engine_that_lists_nothing():
    assert settle([RTX])[0].backends is None
    assert joined([RTX])[0].backends == ()


def test_an_address_stands_above_the_order():
    first, second = (replace(RTX, pci_address=f"0000:0{bus}:00.0") for bus in (1, 2))
    small = device(RTX.name, "CUDA", address="0000:02:00.0", memory_bytes=10 * GIB)
    cards = joined([first, second], small)
    assert [card.backends for card in cards] == [(), ("CUDA",)]
    no_address = device(RTX.name, "CUDA", address="GPU-4b1c")
    assert [card.backends for card in joined([first], no_address)] == [("CUDA",)]
    other = device(RTX.name, "CUDA", address="0000:09:00.0")
    assert [card.backends for card in joined([first, second], other)] == [(), ()]


def test_a_name_is_compared_by_whole_words_and_its_maker():
    ti = replace(RTX, name="NVIDIA GeForce RTX 3060 Ti")
    plain = replace(RTX, name="NVIDIA GeForce RTX 3060")
    cards = joined([ti, plain], device("NVIDIA GeForce RTX 3060", "CUDA"))
    assert [card.backends for card in cards] == [(), ("CUDA",)]
    assert joined([plain], device("NVIDIA GeForce RTX 306", "CUDA"))[0].backends == ()
    assert joined([plain], device("AMD Radeon RX 3060"))[0].backends == ()
    assert joined([plain], device("3060"))[0].backends == ()


@pytest.mark.parametrize(
    ("told", "listed"),
    [
        ("Intel graphics 46a6", "Intel(R) Iris(R) Xe Graphics (ADL GT2)"),
        ("AMD Radeon RX 7900 XT/7900 XTX/7900 GRE", "AMD Radeon RX 7900 XTX (RADV NAVI31)"),
        ("AMD Radeon 780M", "AMD Radeon Graphics (RADV PHOENIX)"),
        ("Jetson Orin Nano", "Orin"),
        ("Intel Arc Graphics 130V / 140V", "Intel(R) Arc(TM) 140V GPU (16GB)"),
    ],
)
def test_two_ways_to_name_one_card(told, listed):
    assert likeness(told, listed) > 0
    assert vendor_of(told) == vendor_of(listed)


def test_a_processors_one_unit_is_it_whatever_it_is_called():
    unit = replace(APU, name="AMD Lucienne")
    cards = joined([unit], device("AMD Radeon Vega 8 (RADV RENOIR)", kind=DeviceKind.IGPU))
    assert cards[0].backends == ("Vulkan",)


def test_software_and_processors_and_other_machines_are_no_cards():
    cards = joined(
        [RTX],
        device(RTX.name, "CPU", DeviceKind.CPU),
        device(RTX.name, "Vulkan", DeviceKind.SOFTWARE),
        device(RTX.name, "BLAS", DeviceKind.ACCELERATOR),
        device(RTX.name, "RPC[10.0.0.1:50052]"),
    )
    assert cards[0].backends == ()
    nothing = (
        device(RTX.name, "CPU", DeviceKind.CPU),
        device(RTX.name, "Vulkan", DeviceKind.SOFTWARE),
        device(RTX.name, "BLAS", DeviceKind.ACCELERATOR),
        device(RTX.name, "RPC[10.0.0.1:50052]"),
        device("Virtio-GPU Venus (llvmpipe)"),
        device("Paravirtual device"),
        device("V3D 7.1.10.2", kind=DeviceKind.IGPU),
        device(""),
    )
    assert joined([], *nothing) == ()


def test_a_card_that_only_the_engine_sees_is_one_card():
    name = "AMD Radeon RX 7900 XTX"
    rocm = device(name, "ROCm", memory_bytes=24 * GIB)
    vulkan = device(f"{name} (RADV NAVI31)", "Vulkan", memory_bytes=23 * GIB)
    (card,) = joined([], rocm, vulkan)
    assert (card.vendor, card.name, card.integrated) == ("AMD", name, False)
    assert (card.memory_bytes, card.backends) == (24 * GIB, ("ROCm", "Vulkan"))
    (other,) = joined([], vulkan)
    assert other.name == name
    # two of them are two
    assert len(joined([], rocm, rocm)) == 2


def test_a_card_that_only_the_engine_sees_may_be_integrated_or_of_nobody():
    (unit,) = joined([], device("AMD Radeon(TM) 8060S Graphics", "ROCm", DeviceKind.IGPU, 40 * GIB))
    assert (unit.integrated, unit.memory_bytes) == (True, 40 * GIB)
    (unknown,) = joined([], device("Zhaoxin C-960", address="0000:01:00.0"))
    assert (unknown.vendor, unknown.name) == ("unknown", "Zhaoxin C-960")
    assert unknown.pci_address == "0000:01:00.0"
    assert joined([RTX], device("Zhaoxin C-960"))[0].backends == ()
    assert len(joined([RTX], device("Zhaoxin C-960"))) == 1


def test_a_second_name_of_a_maker_that_the_system_lists_is_no_second_card():
    assert len(joined([RTX], device("NVIDIA GeForce RTX 306", "CUDA"))) == 1
    found = joined([APU], device(RTX.name, "CUDA", memory_bytes=24 * GIB))
    # the discrete one first, although it was found last
    assert [card.name for card in found] == [RTX.name, APU.name]


def test_asking_the_engine_again_does_not_add_its_card_again():
    machine = Machine("Linux", "1", "x86_64", Cpu(None, None, None), 64 * GIB)
    for name in ("AMD Radeon RX 7900 XTX", "Zhaoxin C-960"):
        devices = (device(name, memory_bytes=8 * GIB),)
        once = with_engine(machine, devices)
        assert len(once.accelerators) == 1
        assert with_engine(once, devices) == once


def test_a_card_without_a_name_is_integrated_where_a_backend_says_so():
    guest = Accelerator("Intel", "Intel graphics 46a6", None, False, "0000:00:10.0", "i915")
    told = device("Intel(R) Iris(R) Xe Graphics (ADL GT2)", kind=DeviceKind.IGPU)
    (card,) = joined([guest], told)
    assert (card.integrated, card.shared_bytes) == (True, 64 * GIB)
    named = replace(guest, name="Intel Arc A770")
    (card,) = joined([named], device("Intel(R) Graphics (MTL)", kind=DeviceKind.IGPU))
    assert not card.integrated
    (card,) = joined([replace(guest, dedicated_bytes=16 * GIB)], told)
    assert not card.integrated


@pytest.mark.parametrize(
    ("card", "figures", "usable"),
    [
        (RTX, [23 * GIB], 24 * GIB),  # the driver keeps a little for itself
        (RTX, [40 * GIB], 24 * GIB),  # A17
        (RTX, [10 * GIB], 10 * GIB),  # a slice of the card
        (replace(RTX, dedicated_bytes=None), [23 * GIB], 23 * GIB),
        (replace(RTX, dedicated_bytes=None), [None], None),
        (APU, [20 * GIB], 20 * GIB),
        (APU, [80 * GIB, 50 * GIB], 50 * GIB),  # one figure cannot be true
        (APU, [80 * GIB], 64 * GIB + GIB // 2),  # none can be: the bound
        (APU, [GIB // 4], GIB // 2),  # A15: its own memory at the least
        (APU, [None], 30 * GIB + GIB // 2),
        (replace(APU, dedicated_bytes=48 * GIB), [None], 48 * GIB),  # A10
        (replace(APU, dedicated_bytes=None), [None], 30 * GIB),
        (replace(APU, vendor="Apple", name="AMD", shared_bytes=None), [None], None),
    ],
)
def test_what_a_card_can_use(card, figures, usable):
    devices = [
        device(card.name, f"B{i}", DeviceKind.IGPU if card.integrated else DeviceKind.GPU, size)
        for i, size in enumerate(figures)
    ]
    assert joined([card], *devices)[0].memory_bytes == usable


def test_asking_the_engine_again_changes_nothing():
    machine = Machine("Linux", "1", "x86_64", Cpu(None, None, None), 64 * GIB, (APU, RTX))
    devices = (device(APU.name, kind=DeviceKind.IGPU, memory_bytes=20 * GIB),)
    once = with_engine(settled(machine), devices)
    assert with_engine(once, devices) == once


@pytest.mark.parametrize(
    ("cards", "on_card", "with_offload"),
    [
        ((), None, 64),
        ((RTX,), 24, 88),
        ((RTX, RTX, APU), 48, 112),
        ((APU,), 30.5, 64.5),
        # CUDA lists one card, nothing lists the other
        ((replace(RTX, backends=("CUDA",)), replace(RTX, backends=())), 24, 88),
        ((replace(APU, backends=("Vulkan",)), replace(RTX, backends=())), 30.5, 64.5),
        # the engine was asked and lists the processor alone
        ((replace(RTX, backends=()),), None, 64),
        ((replace(APU, backends=()),), None, 64),
        # the sum of those that are known is not the whole
        ((replace(RTX, dedicated_bytes=None),), None, None),
        ((RTX, replace(RTX, dedicated_bytes=None)), None, None),
    ],
)
def test_there_are_two_answers(cards, on_card, with_offload):
    told = memory_answers(
        settled(Machine("Linux", "1", "x86_64", Cpu(*[None] * 3), 64 * GIB, cards))
    )
    assert told.on_card_bytes == (None if on_card is None else on_card * GIB)
    assert told.with_offload_bytes == (None if with_offload is None else with_offload * GIB)


def test_without_the_systems_memory_there_is_no_second_answer():
    machine = Machine("Linux", "1", "x86_64", Cpu(*[None] * 3), None, (APU,))
    assert memory_answers(settled(machine)).with_offload_bytes is None


# --- small boards


@pytest.mark.parametrize(
    ("uevent", "compatible", "expected"),
    [
        ("DRIVER=v3d\nOF_COMPATIBLE_0=brcm,2712-v3d\n", "brcm,bcm2712", []),
        ("DRIVER=panthor\nOF_COMPATIBLE_0=rockchip,rk3588-mali\n", "x", ["Arm Mali-G610"]),
        ("DRIVER=panfrost\nOF_COMPATIBLE_0=arm,mali-t860\n", "x", []),
        ("DRIVER=adreno\nOF_COMPATIBLE_0=qcom,adreno-635.0\n", "x", ["Qualcomm Adreno 635"]),
        ("DRIVER=asahi\nOF_COMPATIBLE_0=apple,agx-g13s\n", "apple,t6001", ["Apple M1 Max"]),
        ("DRIVER=simple\n", "nvidia,tegra234", ["Orin"]),
        ("", "", []),
    ],
)
def test_units_of_small_boards_are_those_that_can_compute(uevent, compatible, expected):
    found = from_platform([uevent], DeviceTree(None, ("board", compatible)))
    assert [card.name for card in found] == expected
    assert all(card.integrated for card in found)


def test_intels_npu_and_virtual_functions_are_no_cards(root):
    def function(device, pci_class="0x030000"):
        return {"class": pci_class, "vendor": "0x8086", "device": device}

    devices = {
        "0000:00:02.0": function("0x7d55"),
        "0000:00:02.1": function("0x7d55"),
        "0000:00:0b.0": function("0x7d1d", "0x120000"),
    }
    plant(root, {"sys": {"bus": {"pci": {"devices": devices}}}})
    assert [card.pci_address for card in cards_here(root)] == ["0000:00:02.0"]


def test_a_board_decides_between_the_names_of_one_chip():
    table = capture("pci_ids.txt")
    assert pci_name(table, 0x1002, 0x744C, (0x1002, 0x0E3B)) == "Radeon RX 7900 XTX"
    assert pci_name(table, 0x1002, 0x744C, (0x1002, 0x0001)).count("/") == 3


# --- memory modules, instruction sets


def test_modules_run_at_the_slowest_and_channels_are_those_named():
    slots = [("Controller0-ChannelA-DIMM0", 5600), ("Controller1-ChannelA-DIMM0", 4800)]
    text = "".join(
        f"E:MEMORY_DEVICE_{i}_SIZE=17179869184\nE:MEMORY_DEVICE_{i}_TYPE=DDR5\n"
        f"E:MEMORY_DEVICE_{i}_CONFIGURED_SPEED_MTS={speed}\nE:MEMORY_DEVICE_{i}_LOCATOR={place}\n"
        for i, (place, speed) in enumerate(slots)
    )
    empty = "E:MEMORY_DEVICE_2_PRESENT=0\nE:MEMORY_DEVICE_2_TYPE=Unknown\n"
    assert parse_modules.of_udev(text + empty) == MemoryModules("DDR5", 4800, 2, 2)
    assert parse_modules.of_udev(text.replace("ChannelA", "DIMM")).channels is None


def test_a_virtual_machines_memory_has_no_modules():
    assert parse_modules.of_udev("E:MEMORY_DEVICE_0_SIZE=1\nE:MEMORY_DEVICE_0_TYPE=RAM\n") is None
    assert parse_modules.of_udev("") is None
    assert parse_modules.of_cim([]) is None


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            {"SMBIOSMemoryType": 34, "ConfiguredClockSpeed": 6000},
            MemoryModules("DDR5", 6000, None, 1),
        ),
        (
            {"SMBIOSMemoryType": 35, "ConfiguredClockSpeed": 0},
            MemoryModules("LPDDR5", None, None, 1),
        ),
        ({"SMBIOSMemoryType": 2, "ConfiguredClockSpeed": None}, None),
    ],
)
def test_windows_modules(told, expected):
    assert parse_modules.of_cim([{"Capacity": 1} | told]) == expected


def test_one_slot_that_is_named_is_one_channel():
    told = {"Capacity": 1, "SMBIOSMemoryType": 26, "BankLabel": "P0 CHANNEL A"}
    other = told | {"DeviceLocator": "DIMM 1"}
    assert parse_modules.of_cim([told, other]).channels == 1


def test_instruction_sets_are_what_all_cores_have():
    text = "flags\t: fpu avx2 avx512f hypervisor\n\nflags\t: fpu avx2\n"
    assert of_cpuinfo(text) == ("avx2",)
    assert of_cpuinfo("Features\t: fp asimd asimddp i8mm\n") == ("asimddp", "i8mm", "neon")
    assert of_cpuinfo("") == ()


def test_instruction_sets_of_both_kinds_of_mac():
    intel = {"machdep.cpu.features": "SSE4.2 AVX1.0 F16C", "machdep.cpu.leaf7_features": "AVX2"}
    assert of_sysctl(intel) == ("avx", "avx2", "f16c", "sse4_2")
    apple = {"machdep.cpu.brand_string": "Apple M4", "hw.optional.arm.FEAT_SME": "1"}
    assert of_sysctl(apple | {"hw.optional.arm.FEAT_BF16": "0"}) == ("neon", "sme")


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


KUBERNETES = "Kubernetes container"


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
        (VirtualMarks(container_files=("run/.containerenv",)), None, False, "Podman container"),
        (VirtualMarks(first_process_cgroup="0::/", in_pod=True), None, False, KUBERNETES),
        (
            VirtualMarks(first_process_cgroup="0::/\n", root_filesystem="overlay"),
            None,
            False,
            "container",
        ),
        # a live system's root is an overlay too, and a container's namespace is no container
        (
            VirtualMarks(first_process_cgroup="0::/init.scope\n", root_filesystem="overlay"),
            None,
            False,
            None,
        ),
        (
            VirtualMarks(first_process_cgroup="0::/\n", root_filesystem="ext4"),
            None,
            False,
            None,
        ),
        # whole words
        (VirtualMarks("Medion", "XENIA 15"), None, False, None),
        (VirtualMarks("Xen", "HVM domU"), None, True, "Xen"),
        (VirtualMarks("VMware, Inc.", "VMware7,1"), None, True, "VMware"),
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
        "modules": lambda: MemoryModules("DDR4", 2933),
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
    assert found.machine.modules == MemoryModules("DDR4", 2933)
    t4 = Accelerator("NVIDIA", "Tesla T4", 15 * GIB, False, "0000:00:04.0", "nvidia 550")
    assert found.machine.accelerators == (replace(t4, dedicated_bytes=15 * GIB),)


def test_windows_does_not_list_an_nvidia_card_twice():
    cards = (Accelerator("NVIDIA", "Tesla T4", None, False),)
    assert len(survey(probes=probes(cards=lambda: cards)).machine.accelerators) == 1


def test_windows_lists_no_nvidia_card_that_its_driver_does_not():
    stale = Accelerator("NVIDIA", "NVIDIA GeForce GTX 1080", None, False, "0000:09:00.0", "560")
    radeon = Accelerator("AMD", "AMD Radeon RX 6900 XT", None, False, "0000:0b:00.0")
    found = survey(probes=probes(os="Windows", cards=lambda: (stale, radeon))).machine
    assert [c.name for c in found.accelerators] == ["Tesla T4", "AMD Radeon RX 6900 XT"]


H100S = tuple(
    Accelerator("NVIDIA", "NVIDIA graphics 2330", None, False, f"0000:{bus}:00.0", "nvidia")
    for bus in ("1b", "43", "52")
)


def h100(address):
    return NvmlCard(0, "NVIDIA H100 80GB HBM3", 80 * GIB, f"0000{address}", "550")


def test_a_container_has_the_cards_that_it_was_given():
    others = (*H100S[:2], replace(H100S[2], driver=None))
    nouveau = Accelerator("NVIDIA", "NVIDIA GT218", None, False, "0000:09:00.0", "nouveau")
    given = h100(H100S[0].pci_address)
    found = survey(probes=probes(cards=lambda: (*others, nouveau), nvml_cards=lambda: (given,)))
    assert [c.name for c in found.machine.accelerators] == [given.name, "NVIDIA GT218"]
    assert found.failures == ()


def test_the_cards_that_a_slow_driver_has_told_in_time_count():
    release, told = threading.Event(), threading.Event()

    def slow():
        yield h100(H100S[0].pci_address)
        told.set()
        release.wait()
        yield h100(H100S[1].pci_address)

    try:
        listed = NvidiaList(slow)
        told.wait()
        cards, failures = listed.joined(H100S)
    finally:
        release.set()
    names = [card.name for card in cards]
    assert names == ["NVIDIA H100 80GB HBM3", "NVIDIA graphics 2330", "NVIDIA graphics 2330"]
    assert [failure.code for failure in failures] == ["source_stuck", "source_in_part"]
    assert failures[1].text().startswith("NVML (NVIDIA's driver) had told 1 of 3 cards;")


def test_nvidias_cards_of_which_nvml_tells_nothing_are_said_to_be_so():
    found = survey(probes=probes(cards=lambda: H100S, nvml_cards=tuple))
    assert len(found.machine.accelerators) == 3
    (failure,) = found.failures
    assert failure == Reason("source_silent", {"name": "NVML (NVIDIA's driver)", "count": 3})
    radeon = Accelerator("AMD", "AMD Radeon RX 6900 XT", None, False, "0000:0b:00.0", "amdgpu")
    assert survey(probes=probes(cards=lambda: (radeon,), nvml_cards=tuple)).failures == ()


def test_a_broken_nvml_is_named_and_what_it_told_is_kept():
    def broken():
        yield h100(H100S[0].pci_address)
        raise OSError

    found = survey(probes=probes(cards=lambda: H100S[:1], nvml_cards=broken))
    told = "NVML (NVIDIA's driver) could not be read (OSError)."
    assert [failure.text() for failure in found.failures] == [told]
    assert [c.name for c in found.machine.accelerators] == ["NVIDIA H100 80GB HBM3"]


def test_a_stuck_source_is_given_up_on_and_named():
    release = threading.Event()
    try:
        found = survey(0.05, probes(nvml_cards=release.wait))
    finally:
        release.set()
    assert found.failures == (Reason("source_stuck", {"name": "NVML (NVIDIA's driver)"}),)
    assert found.machine.cpu.name == "AMD EPYC"


def test_a_stuck_powershell_is_named_once_and_the_registry_still_names_the_cards():
    release = threading.Event()
    stuck = Tool("PowerShell", release.wait, 0.05)
    keys = Keys(qwMemorySize=8 * GIB, DriverDesc="NVIDIA GeForce RTX 4060")
    told = windows.WindowsSources(keys, stuck, present=lambda: None)
    try:
        found = survey(30, replace(windows_probes(told), nvml_cards=tuple))
    finally:
        release.set()
    assert found.failures == (Reason("source_stuck", {"name": "PowerShell"}),)
    assert [(c.name, c.memory_bytes) for c in found.machine.accelerators] == [
        ("NVIDIA GeForce RTX 4060", 8 * GIB)
    ]


def test_a_tool_is_started_once_and_says_why_it_gave_nothing():
    calls = []

    def missing():
        calls.append(1)
        return ToolFailure("sysctl", Failure.MISSING)

    def broken():
        raise ValueError

    tool = Tool("sysctl", missing, 30)
    assert tool.failure is None
    assert (tool.text(), tool.text(), len(calls)) == (None, None, 1)
    assert tool.failure == Reason("source_missing", {"name": "sysctl"})
    tool = Tool("x", broken, 30)
    unreadable = Reason("source_unreadable", {"name": "x", "detail": "ValueError"})
    assert (tool.text(), tool.failure) == (None, unreadable)


def test_a_broken_source_is_named_and_nothing_else_is_lost():
    def broken():
        raise PermissionError

    found = survey(probes=probes(cpu=broken, memory=broken, version=broken))
    assert [failure.text() for failure in found.failures] == [
        "The system's version could not be read (PermissionError).",
        "The processor could not be read (PermissionError).",
        "The memory could not be read (PermissionError).",
    ]
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
    chips = {"coretemp": (41_000, 55_000, 0), "nvme": (80_000,), "k10temp": (1_000_000,)}
    assert hottest(chips) == 55.0
    assert hottest({"acpitz": (30_000,)}) is None


def test_only_the_processors_chips_are_asked_for_their_temperature(tmp_path):
    plant(
        tmp_path / "sys/class/hwmon",
        {
            "hwmon0": {"name": "nvme", "temp1_input": "80000"},
            "hwmon1": {"name": "k10temp", "temp1_input": "54125", "temp3_input": "50000"},
            "hwmon2": {"name": "k10temp", "temp1_input": "nonsense"},
            "hwmon3": {"temp1_input": "99000"},
        },
    )
    found = temperatures.read_chips(("k10temp", "coretemp"), tmp_path)
    assert found == {"k10temp": (54125, 50000)}
    assert hottest(found) == 54.125


def test_a_power_plan_of_the_owners_own_words_is_custom():
    line = "Power Scheme GUID: {} (Balanced)"
    assert power_plan(line.format("381b4222-f694-41f0-9685-ff5bb260df2e")) == "balanced"
    assert power_plan(line.format("00000000-1111-2222-3333-444444444444")) == "custom"
    assert power_plan("") is None


@pytest.mark.parametrize(
    ("connectors", "expected"),
    [
        ({}, None),
        ({"card0-HDMI-A-1": "disconnected", "card0-eDP-1": "connected"}, True),
        ({"card0-HDMI-A-1": "disconnected"}, False),
        ({"card0-Virtual-1": "connected"}, None),
        ({"card1-Writeback-1": "unknown"}, None),
    ],
)
def test_a_screen_is_one_that_is_plugged_in(connectors, expected):
    assert parse_state.display_attached(connectors) is expected


@pytest.mark.parametrize(
    ("counts", "cooling", "expected"),
    [
        ((), (), None),
        ((0, 0), (("Processor", 0), ("Fan", 3)), Thermal.NOMINAL),
        # slowed once since boot: nothing is known of now
        ((0, 7), (("Processor", 0),), None),
        ((0,), (("thermal-cpufreq-0", 2),), Thermal.THROTTLED),
        ((), (("cpufreq-cpu0", 0),), None),
        ((), (("TCC Offset", 5), ("Fan", 1)), None),
    ],
)
def test_heat_is_told_only_where_it_can_be(counts, cooling, expected):
    assert parse_state.thermal(counts, cooling) is expected


def test_pmset():
    battery = "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t72%; discharging\n"
    assert parse_pmset.supply(battery) is PowerSupply.BATTERY
    assert parse_pmset.battery_percent(battery) == 72.0
    assert parse_pmset.supply("Now drawing from 'AC Power'\n") is PowerSupply.MAINS
    assert parse_pmset.battery_percent("Now drawing from 'AC Power'\n") is None
    assert parse_pmset.supply("") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Currently in use:\n standby 1\n powermode            2\n", "high power"),
        (" powermode            0\n", "automatic"),
        (" lowpowermode         1\n", "low power"),
        (" lowpowermode         0\n", "automatic"),
        (" powermode            9\n", None),
        ("Currently in use:\n standby 1\n", None),
        ("", None),
    ],
)
def test_a_macs_power_mode(text, expected):
    assert parse_pmset.power_mode(text) == expected
    assert mac_state(None, None, None, text).governor == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Note: No thermal warning level has been recorded\n", None),
        ("\tCPU_Speed_Limit \t= 100\n", Thermal.NOMINAL),
        ("\tCPU_Speed_Limit \t= 100\n\tCPU_Speed_Limit \t= 62\n", Thermal.THROTTLED),
    ],
)
def test_a_macs_heat(text, expected):
    assert parse_pmset.thermal(text) is expected


def test_a_windows_without_battery_is_on_mains_but_for_a_guest():
    plan = "381b4222-f694-41f0-9685-ff5bb260df2e"
    desktop = windows_state(None, plan, 2, virtual=False)
    assert desktop == State(PowerSupply.MAINS, None, "balanced", None, True)
    guest = windows_state(None, None, None, virtual=True)
    assert guest == State(None, None, None, None, None)
    laptop = windows_state(Battery(40.0, on_mains=False), None, 0, virtual=False)
    assert laptop == State(PowerSupply.BATTERY, 40.0, None, None, False)
    unknown = windows_state(Battery(None, None), None, 1, virtual=False)
    assert unknown.power_supply is None


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
    ("platform", "os", "tools", "state_tools"),
    [
        ("linux", "Linux", set(), []),
        ("win32", "Windows", {"PowerShell"}, ["powercfg"]),
        (
            "darwin",
            "macOS",
            {"sysctl", "system_profiler", "ioreg"},
            ["pmset -g batt", "pmset -g therm", "system_profiler", "pmset -g"],
        ),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have these tools")
def test_each_systems_readers_survive_on_another_system(platform, os, tools, state_tools):
    found = survey(30, system_probes(platform))
    assert found.machine.os == os
    assert {failure.params["name"] for failure in found.failures} <= tools
    source = state_source(platform)
    assert source.read(False).display_attached in {True, False, None}
    # another system has none of them
    missing = [tool.failure for tool in source.tools]
    assert [reason.code for reason in missing] == ["source_missing"] * len(state_tools)
    assert [tool.name for tool in source.tools] == state_tools
