"""What is told is fit to be shown, and sizes that cannot be are not believed: sources' doors."""

import struct
import sys
from types import SimpleNamespace

import pytest

from desktop.machine import parse_mac, parse_profiler, parse_windows
from desktop.machine.conditions import Readers, survey_conditions
from desktop.machine.memory_rule import usable_bytes
from desktop.machine.parse_cards import NameTables, from_nvml, from_pci
from desktop.machine.state import NOTHING, StateSource
from desktop.power.parse_emi import read_channels
from desktop.records.machine import Accelerator, Cpu, Machine
from desktop.sources import dmi, files, registry
from desktop.sources.cards import PciCard
from desktop.sources.commands import run_tool
from desktop.sources.numbers import MOST_CARD_BYTES, MOST_RAM_BYTES, card_bytes, ram_bytes
from desktop.sources.nvml import NvmlCard, open_nvml
from desktop.sources.registry import RegistryAdapter
from desktop.sources.texts import BETWEEN_LINES, line, printable

# red, the cursor up, a bell, text turned around, a no-break space, a deleted character
HOSTILE = "\x1b[31m\x1b[2AQ\x07\u202eEMU\xa0\x7f2"
SHOWN = "[31m [2AQ  EMU  2"
SIZES = (10**18 - 1, 2**44 + 1, 2**63)


@pytest.mark.parametrize(
    ("told", "known"),
    [
        (HOSTILE, SHOWN),
        ("  AMD Radeon\n", "AMD Radeon"),
        ("größe 模型 ®", "größe 模型 ®"),
        ("x" * 300, "x" * 256),
        ("\x1b\x00\u200b", None),
        ("", None),
    ],
)
def test_a_line_is_short_and_shows_nothing_that_moves(told, known):
    assert line(told) == known


def test_longer_texts_keep_what_parts_their_lines():
    assert printable("a\tb\r\nc\0d\x1be\u202ef", BETWEEN_LINES) == "a\tb\r\nc\0d e f"
    assert printable("a\tb") == "a b"


def test_firmware_tables_and_files_pass_through_that_door(tmp_path):
    table = tmp_path / "sys/class/dmi/id"
    table.mkdir(parents=True)
    (table / "product_name").write_text(f"{HOSTILE}\n", encoding="utf-8")
    (table / "sys_vendor").write_bytes(b"QEMU\x9b31m\n")
    assert dmi.read_marks(tmp_path).product == SHOWN
    assert dmi.read_marks(tmp_path).vendor == "QEMU\N{REPLACEMENT CHARACTER}31m"
    assert files.read_text(table / "product_name") == f" {SHOWN}\n"
    (tmp_path / "amd\x1bgpu").mkdir()
    (tmp_path / "driver").symlink_to("amd\x1bgpu")
    assert files.link_name(tmp_path / "driver") == "amd gpu"


def test_tools_registry_driver_and_emi_pass_through_it_too():
    said = run_tool([sys.executable, "-c", "print('a\\x1b[2Jb\\tc')"], 30)
    assert said.split("\n")[0].rstrip("\r") == "a [2Jb\tc"
    keys = SimpleNamespace(value=lambda *_: HOSTILE, children=lambda _: ())
    assert registry.read_maker(keys) == (SHOWN, SHOWN)
    assert registry.read_cpu_name(keys) == SHOWN
    name = "RAPL\x1b[2J".encode("utf-16-le")
    metadata = struct.pack("<i32s32sHH", 0, b"", b"", 0, len(name)) + name
    assert [channel.name for channel in read_channels(1, metadata)] == ["RAPL [2J"]


def test_nvmls_names_pass_through_it(fake_nvml):
    (card,) = open_nvml(fake_nvml(HOSTILE.encode(), 16 * 2**30)).cards()
    assert (card.name, card.driver, card.memory_bytes) == (SHOWN, SHOWN, 16 * 2**30)


@pytest.fixture
def fake_nvml():
    def made(name, total):
        return SimpleNamespace(
            NVMLError=OSError,
            nvmlInit=lambda: None,
            nvmlDeviceGetCount=lambda: 1,
            nvmlDeviceGetHandleByIndex=lambda index: index,
            nvmlDeviceGetName=lambda _: name,
            nvmlDeviceGetMemoryInfo=lambda _: SimpleNamespace(total=total),
            nvmlDeviceGetPciInfo=lambda _: SimpleNamespace(busId=b"00000000:01:00.0"),
            nvmlSystemGetDriverVersion=lambda: name,
        )

    return made


# --- sizes


@pytest.mark.parametrize(
    ("told", "card", "ram"),
    [
        (MOST_CARD_BYTES, 2**44, 2**44),
        (MOST_CARD_BYTES + 1, None, 2**44 + 1),
        (MOST_RAM_BYTES, None, 2**46),
        (MOST_RAM_BYTES + 1, None, None),
        (10**18 - 1, None, None),
        (0, None, None),
        (-1, None, None),
        ("17179869184", 2**34, 2**34),
        (True, None, None),
    ],
)
def test_a_size_that_no_hardware_has_is_not_known(told, card, ram):
    assert (card_bytes(told), ram_bytes(told)) == (card, ram)


@pytest.mark.parametrize("size", SIZES)
def test_no_source_of_a_cards_memory_is_believed_beyond_it(size, fake_nvml):
    card = PciCard("0000:03:00.0", 0x1002, 0x744C, vram_bytes=size, gtt_bytes=2**46 + 1)
    found = from_pci(card, NameTables())
    assert (found.dedicated_bytes, found.shared_bytes) == (None, None)
    assert from_nvml(NvmlCard(0, "T4", size, None, None)).dedicated_bytes is None
    (told,) = open_nvml(fake_nvml("T4", size)).cards()
    assert told.memory_bytes is None
    adapter = RegistryAdapter(r"PCI\VEN_10DE&DEV_2684\4&1", None, "RTX", size)
    (windows,) = parse_windows.accelerators(None, [adapter])
    assert windows.dedicated_bytes is None
    limit = {"machdep.cpu.brand_string": "Apple M4", "iogpu.wired_limit_mb": str(size)}
    assert parse_mac.apple_chip(limit).memory_bytes is None
    intel = (
        '{"SPDisplaysDataType":[{"sppci_model":"AMD Radeon Pro","spdisplays_vram":"999999999 GB"}]}'
    )
    (mac,) = parse_profiler.displays(intel)
    assert mac.dedicated_bytes is None


def test_an_engines_figure_beyond_it_is_not_taken():
    machine = Machine("Linux", "1", "x86_64", Cpu(None, None, None), 32 * 2**30)
    card = Accelerator("NVIDIA", "T4", None, integrated=False)
    assert usable_bytes(card, machine, [10**18 - 1]) is None
    assert usable_bytes(card, machine, [10**18 - 1, 15 * 2**30]) == 15 * 2**30


def test_memory_that_is_free_is_bounded_and_0_is_0():
    def free(told):
        readers = Readers(StateSource(lambda _: NOTHING), lambda: None, lambda: (None, told))
        return survey_conditions(readers=readers).conditions.memory_available_bytes

    assert [free(told) for told in (0, 2**40, 2**46 + 1, None)] == [0, 2**40, None, None]
