"""Which card an engine's device is, and how fast the system's memory is, for the estimates."""

import json
from dataclasses import replace

import pytest

from desktop.estimate.token_work import HOST
from desktop.machine.merge import with_engine
from desktop.machine.parse_modules import of_cim, of_udev
from desktop.records.events import Devices
from desktop.records.machine import (
    Accelerator,
    Cpu,
    Device,
    DeviceKind,
    Machine,
    MemoryModules,
)
from desktop.rules.fields import Fields
from desktop.rules.machine_reading import machine_from
from desktop.rules.machine_writing import machine_fields
from desktop.services.this_host import host_of
from desktop.services.this_machine import devices_of
from desktop.services.unused_cards import unused_cards
from tests.captures import whole

GIB = 1 << 30
GB_S = 1e9
CPU = Device(HOST, "AMD Ryzen 7 5700X", DeviceKind.CPU, "CPU")
PLAIN = Machine("Linux", "6", "x86_64", Cpu(CPU.description, 8, 16), 64 * GIB)
SMBIOS = {"DDR4": 26, "DDR5": 34, "LPDDR5": 35}


def cim(places, kind, speed, width=None):
    return of_cim(
        {
            "Capacity": GIB,
            "SMBIOSMemoryType": SMBIOS[kind],
            "ConfiguredClockSpeed": speed,
            "DeviceLocator": place,
            "DataWidth": width,
        }
        for place in places
    )


def host(modules, name=CPU.description, **of):
    return host_of(replace(PLAIN, modules=modules, cpu=Cpu(name, 8, 16), **of))


def gb_s(modules, **of):
    found = host(modules, **of).bandwidth_bytes_s
    return None if found is None else found / GB_S


def dimms(channels, kind="DDR5", speed=5600):
    return MemoryModules(kind, speed, channels, channels)


INTELS = [f"Controller{c}-Channel{x}" for c in "01" for x in "ABCD"]
AMDS = [f"P0 CHANNEL {x}" for x in "ABCD"]


class TestBusWidth:
    @pytest.mark.parametrize(
        ("places", "kind", "width", "bits"),
        [
            (INTELS, "LPDDR5", 16, 128),
            (AMDS, "LPDDR5", 32, 128),
            ([f"P0 CHANNEL {x}" for x in "ABCDEFGH"], "LPDDR5", 32, 256),
            (AMDS[:2], "DDR5", 64, 128),
            # two modules of one channel share its lines
            ([f"P0 CHANNEL {x} DIMM {d}" for x in "AB" for d in "01"], "DDR5", 64, 128),
            (["DIMM_A1"], "DDR4", 64, 64),
            # nobody tells whether they are one channel or two
            (["DIMM_A1", "DIMM_B1"], "DDR4", 64, None),
            (AMDS, "LPDDR5", None, None),
            (AMDS, "LPDDR5", 0, None),
            (AMDS, "LPDDR5", 65535, None),
            (AMDS, "LPDDR5", -32, None),
        ],
    )
    def test_it_is_the_sum_of_the_channels(self, places, kind, width, bits):
        assert cim(places, kind, 6400, width).bus_bits == bits

    def test_udev_tells_it_without_the_lines_of_error_correction(self):
        slot = (
            "E:MEMORY_DEVICE_{0}_SIZE=17179869184\nE:MEMORY_DEVICE_{0}_TYPE=DDR5\n"
            "E:MEMORY_DEVICE_{0}_TOTAL_WIDTH=80\nE:MEMORY_DEVICE_{0}_DATA_WIDTH=64\n"
            "E:MEMORY_DEVICE_{0}_LOCATOR=ChannelA-DIMM0\n"
        )
        assert of_udev(slot.format(0)).bus_bits == 64
        both = slot.format(0) + slot.format(1).replace("ChannelA", "ChannelB")
        assert of_udev(both).bus_bits == 128
        untold = both.replace("E:MEMORY_DEVICE_1_DATA_WIDTH=64\n", "")
        assert of_udev(untold).bus_bits is None

    def test_a_speed_that_no_memory_has_is_not_known(self):
        assert cim(AMDS[:2], "DDR5", 10**9, 64).speed_mt_s is None
        assert gb_s(cim(AMDS[:2], "DDR5", 10**9, 64)) is None

    def test_it_is_never_signed(self):
        machine = replace(PLAIN, modules=MemoryModules("LPDDR5", 6400, 4, 4, 128))
        fields = machine_fields(machine)
        assert fields["modules"] == {
            "kind": "LPDDR5", "speed_mt_s": 6400, "channels": 4, "modules": 4
        }  # fmt: skip
        assert machine_from(Fields(fields)).modules == replace(machine.modules, bus_bits=None)


class TestHostBandwidth:
    def test_lpddr_by_its_told_width(self):
        assert gb_s(cim(INTELS, "LPDDR5", 7467, 16)) == pytest.approx(119.472)
        assert gb_s(cim(AMDS, "LPDDR5", 7500, 32)) == pytest.approx(120)

    def test_lpddr_without_a_width_is_not_known(self):
        assert gb_s(cim(INTELS, "LPDDR5", 7467)) is None
        assert gb_s(cim(AMDS, "LPDDR5", 7500)) is None

    def test_dimms_have_64_bits_a_channel(self):
        assert gb_s(dimms(2)) == pytest.approx(89.6)
        assert gb_s(cim(AMDS[:2], "DDR5", 5600, 64)) == pytest.approx(89.6)
        assert gb_s(dimms(8, "DDR4", 3200)) == pytest.approx(204.8)

    @pytest.mark.parametrize(
        "modules",
        [
            None,
            MemoryModules(None, 4800, None, 1, 64),
            MemoryModules("DDR5", 5600, None, 2),
            MemoryModules("DDR5", None, 2, 2, 128),
            MemoryModules("HBM3", 5600, 8, 8),
        ],
    )
    def test_nothing_is_guessed(self, modules):
        assert gb_s(modules) is None

    @pytest.mark.parametrize(
        ("name", "figure"),
        [
            ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 256),
            ("AMD Ryzen 7 7840HS w/ Radeon 780M Graphics", None),
            ("AMD Ryzen Threadripper PRO 7995WX", None),
        ],
    )
    def test_the_catalogues_of_a_chip_with_soldered_memory(self, name, figure):
        modules = MemoryModules("LPDDR5", 8000, 8, 8)
        assert gb_s(modules, name=name) == figure
        assert gb_s(None, name=name) == figure

    def test_the_catalogues_by_the_graphics_unit(self):
        unit = Accelerator("Intel", "Arc 140V Graphics", None, integrated=True)
        card = Accelerator("NVIDIA", "GeForce RTX 3060", 12 * GIB, integrated=False)
        assert gb_s(None, accelerators=(card, unit)) == pytest.approx(136.5)
        assert gb_s(None, accelerators=(card,)) is None

    def test_what_the_modules_tell_comes_first(self):
        modules = MemoryModules("LPDDR5", 6400, 8, 8, 256)
        found = gb_s(modules, name="AMD RYZEN AI MAX+ 395 w/ Radeon 8060S")
        assert found == pytest.approx(204.8)


def with_width(raw, bits):
    """A Windows capture with the data width of each module."""
    told = json.loads(raw["cim"])
    for item in told["Win32_PhysicalMemory"]:
        item["DataWidth"] = bits
    return raw | {"cim": json.dumps(told)}


class TestCaptures:
    """The figures that makers tell of these machines, from what their firmware tells."""

    @pytest.mark.parametrize(
        ("name", "figure", "kind"),
        [
            ("windows-strixhalo-64-64", 256, "cpu-desktop"),
            ("linux-strix-halo-carveout96", 256, "cpu-desktop"),
            ("linux-strix-halo-gtt108", 256, "cpu-desktop"),
            # LPDDR5 without a width, and no row of the chip
            ("windows-rtx5060l-880m", None, "cpu-desktop"),
            ("windows-hx370-890m-rtx4070l", None, "cpu-desktop"),
            ("linux-6800h-680m-laptop", 102.4, "cpu-desktop"),
            ("linux-680m-gtt96", 76.8, "cpu-desktop"),
            # the width of one module of eight
            ("linux-lunarlake-arc140v", None, "cpu-desktop"),
            ("linux-arc-a770", 51.2, "cpu-desktop"),
            ("linux-egpu-rtx3080", 25.6, "cpu-desktop"),
            ("windows-2x3090-stale1080", 57.6, "cpu-desktop"),
            ("windows-vmware-vdi", None, "cpu-server"),
            ("linux-8x-h100", None, "cpu-server"),
            ("linux-5x-rtx-a4000", None, "cpu-server"),
        ],
    )
    def test_bandwidth_and_class(self, name, figure, kind, tmp_path):
        found = host_of(whole.find(whole.load(name), tmp_path).machine)
        bandwidth = found.bandwidth_bytes_s
        assert (bandwidth and round(bandwidth / GB_S, 1)) == figure
        assert found.device_class == kind

    @pytest.mark.parametrize(
        ("name", "figure"), [("windows-strixhalo-64-64", 256), ("windows-rtx5060l-880m", 120)]
    )
    def test_windows_tells_the_width(self, name, figure, tmp_path):
        capture = whole.load(name)
        told = replace(capture, raw=with_width(capture.raw, 32))
        found = host_of(whole.find(told, tmp_path).machine)
        assert found.bandwidth_bytes_s == figure * GB_S
        assert found.device_class == "cpu-desktop"

    def test_udev_tells_the_width(self, tmp_path):
        capture = whole.load("linux-lunarlake-arc140v")
        name, files = "run/udev/data/+dmi:id", capture.raw["files"]
        slots = (f"E:MEMORY_DEVICE_{i}_DATA_WIDTH=16\n" for i in range(1, 8))
        text = files[name] + "".join(slots)
        told = replace(capture, raw=capture.raw | {"files": files | {name: text}})
        found = host_of(whole.find(told, tmp_path).machine)
        assert found.bandwidth_bytes_s == pytest.approx(136.5 * GB_S, rel=1e-3)


class TestClass:
    @pytest.mark.parametrize(
        ("name", "server"),
        [
            ("AMD EPYC 7763 64-Core Processor", True),
            ("AMD EPYC 4564P 16-Core Processor", False),
            ("Intel(R) Xeon(R) Platinum 8480+", True),
            ("Intel Xeon w5-2455X", True),
            ("Intel(R) Xeon(R) CPU E3-1230 v6 @ 3.50GHz", False),
            ("Intel(R) Xeon(R) E-2288G CPU @ 3.70GHz", False),
            ("AMD Ryzen Threadripper PRO 5995WX 64-Cores", True),
            ("Neoverse-N1", True),
            ("AMD Ryzen 9 7950X 16-Core Processor", False),
            (None, False),
        ],
    )
    def test_by_name_where_no_modules_are_told(self, name, server):
        assert (host(None, name=name).device_class == "cpu-server") is server

    @pytest.mark.parametrize(("channels", "kind"), [(2, "cpu-desktop"), (4, "cpu-server")])
    def test_by_the_width_of_dimms(self, channels, kind):
        assert host(dimms(channels)).device_class == kind
        assert host(dimms(channels), name="AMD EPYC").device_class == kind

    def test_never_by_lpddrs_channels(self):
        assert host(cim(INTELS, "LPDDR5", 7467, 16)).device_class == "cpu-desktop"
        assert host(MemoryModules("LPDDR5", 8000, 8, 8, 256)).device_class == "cpu-desktop"
        small = host(MemoryModules("LPDDR5", 8448, 8, 8), architecture="aarch64")
        assert small.device_class == "cpu-arm"


def card(name, gib, address=None, vendor="NVIDIA", **of):
    return Accelerator(vendor, name, gib and gib * GIB, False, address, **of)


def device(name, description, gib=None, address=None):
    size = gib and gib * GIB
    backend = name.rstrip("0123456789")
    return Device(name, description, DeviceKind.GPU, backend, size, pci_address=address)


def paired(cards, *listed):
    """As the program does it: the machine joined with the list, then the estimates' devices."""
    machine = with_engine(replace(PLAIN, accelerators=tuple(cards)), (CPU, *listed))
    return machine, devices_of(machine, (CPU, *listed))


def rates(found):
    return {c.name: round(found.bandwidths[c.name] / GB_S) for c in found.cards}


SMALL, LARGE = card("GeForce RTX 3060", 12), card("GeForce RTX 4090", 24)
AT_1, AT_3, AT_4 = "0000:01:00.0", "0000:03:00.0", "0000:04:00.0"
BOTH = (
    device("CUDA0", "NVIDIA GeForce RTX 4090", 24),
    device("CUDA1", "NVIDIA GeForce RTX 3060", 12),
)
RADEON = card("Radeon RX 7900 XTX", 24, AT_3, "AMD")


class TestPairing:
    @pytest.mark.parametrize("cards", [(SMALL, LARGE), (LARGE, SMALL)])
    @pytest.mark.parametrize("addresses", [(None, None), (AT_1, AT_4)])
    @pytest.mark.parametrize("join", [True, False])
    def test_the_systems_order_does_not_matter(self, cards, addresses, join):
        cards = tuple(replace(c, pci_address=a) for c, a in zip(cards, addresses, strict=True))
        machine = replace(PLAIN, accelerators=cards)
        machine = with_engine(machine, BOTH) if join else machine
        found = devices_of(machine, (CPU, *BOTH))
        assert rates(found) == {"CUDA0": 1008, "CUDA1": 360}
        assert [round(size / GIB) for size in found.room.cards] == [23, 12]
        assert found.room.names == tuple(d.description for d in BOTH)

    def test_the_cards_are_in_the_engines_order(self):
        _, found = paired((LARGE, SMALL), *BOTH[::-1])
        assert [c.name for c in found.cards] == ["CUDA1", "CUDA0"]
        assert rates(found) == {"CUDA0": 1008, "CUDA1": 360}

    def test_a_device_with_an_address_is_no_other_cards(self):
        cards = (replace(LARGE, pci_address=AT_1), replace(SMALL, pci_address=AT_4))
        listed = (device("CUDA0", "NVIDIA GeForce RTX 3060", 12, AT_4), BOTH[0])
        _, found = paired(cards, listed[0], replace(listed[1], name="CUDA1"))
        assert rates(found) == {"CUDA0": 360, "CUDA1": 1008}
        machine, found = paired(cards, listed[0])
        assert rates(found) == {"CUDA0": 360}
        assert [c.name for c in machine.accelerators if c.backends == ()] == ["GeForce RTX 4090"]

    def test_equal_cards_are_two(self):
        cards = (replace(SMALL, pci_address=AT_1), replace(SMALL, pci_address=AT_4))
        for own in (cards, (SMALL, SMALL)):
            _, found = paired(own, replace(BOTH[1], name="CUDA0"), BOTH[1])
            assert rates(found) == {"CUDA0": 360, "CUDA1": 360}

    def test_equal_names_are_told_apart_by_memory(self):
        eight = card("GeForce RTX 3060", 8)
        listed = (
            device("CUDA0", "NVIDIA GeForce RTX 3060", 12),
            device("CUDA1", "NVIDIA GeForce RTX 3060", 8),
        )
        for cards in ((eight, SMALL), (SMALL, eight)):
            _, found = paired(cards, *listed)
            assert rates(found) == {"CUDA0": 360, "CUDA1": 240}

    def test_one_that_fits_none_is_left_out_and_named(self):
        listed = (device("CUDA0", "NVIDIA GeForce GTX 1080", 8), BOTH[1])
        machine, found = paired((LARGE, SMALL), *listed)
        assert rates(found) == {"CUDA1": 360}
        engine = Devices("llama.cpp", "b1", (CPU, *listed), ("CUDA", "CPU"))
        (reason,) = unused_cards(machine, engine)
        assert reason.params["cards"] == "GeForce RTX 4090"

    def test_another_makers_device_is_never_taken(self):
        machine = replace(PLAIN, accelerators=(RADEON,))
        assert devices_of(machine, (CPU, BOTH[1])).cards == ()

    def test_vulkan_without_addresses_beside_cuda_with(self):
        cards = (RADEON, replace(SMALL, pci_address=AT_4))
        cuda = device("CUDA0", "NVIDIA GeForce RTX 3060", 12, AT_4)
        vulkan = (
            device("Vulkan0", "AMD Radeon RX 7900 XTX (RADV NAVI31)", 24),
            device("Vulkan1", "NVIDIA GeForce RTX 3060", 12),
        )
        for cards_in_order in (cards, cards[::-1]):
            _, found = paired(cards_in_order, cuda, *vulkan)
            # one card that two back ends list is one
            assert rates(found) == {"CUDA0": 360, "Vulkan0": 960}
            _, found = paired(cards_in_order, cuda, *vulkan[::-1])
            assert rates(found) == {"CUDA0": 360, "Vulkan0": 960}

    def test_an_integrated_unit_takes_no_cards_device(self):
        unit = Accelerator("AMD", "Radeon Graphics", None, True, dedicated_bytes=GIB // 2)
        listed = (
            replace(device("Vulkan0", "AMD Radeon Graphics", 16), kind=DeviceKind.IGPU),
            device("Vulkan1", "AMD Radeon RX 7900 XTX", 24),
        )
        for order in ((unit, RADEON), (RADEON, unit)):
            _, found = paired(order, *listed)
            assert rates(found) == {"Vulkan1": 960}

    def test_a_card_of_another_machine_is_not_this_ones(self):
        far = replace(BOTH[0], name="RPC0", backend="RPC")
        machine = replace(PLAIN, accelerators=(LARGE,))
        assert devices_of(machine, (CPU, far)).cards == ()
