"""What could not be looked for is unknown: never "none", neither in words nor in what is signed."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.errors import Reason
from desktop.machine import linux, mac, windows
from desktop.machine.detect import Probes, detect_to_measure, mac_probes, survey, windows_probes
from desktop.machine.state import linux_state
from desktop.machine.tools import Tool
from desktop.records.machine import Accelerator, Cpu, Machine, PowerSupply, Search
from desktop.rules.kind import kind_label
from desktop.rules.machine_line import machine_line
from desktop.rules.price import catalogue_draw, catalogue_price
from desktop.sources.commands import Failure, ToolFailure
from desktop.sources.nvml import NvmlCard

ROOT = Path(__file__).parents[2]
GIB = 2**30
TIMES = "\N{MULTIPLICATION SIGN}"
T4 = Accelerator("NVIDIA", "Tesla T4", 15 * GIB, integrated=False)
NVML_T4 = NvmlCard(0, "Tesla T4", 15 * GIB, None, "550")
UHD = Accelerator("Intel", "Intel UHD Graphics 730", None, integrated=True)
CARDS, VIRTUAL = (Search.CARDS,), (Search.VIRTUAL,)


def probes(**changes):
    fakes = {
        "os": "Linux",
        "version": lambda: "Debian 12",
        "cpu": lambda: Cpu("AMD EPYC", 2, 4),
        "cards": lambda: (),
        "virtual": lambda: None,
        "modules": lambda: None,
        "nvml_cards": tuple,
        "memory": lambda: (31 * GIB, 8 * GIB),
        "architecture": lambda: "x86_64",
    }
    return Probes(**fakes | changes)


def broken():
    raise PermissionError


@pytest.fixture
def stuck():
    """A call that does not end while the test runs."""
    release = threading.Event()
    yield release.wait
    release.set()


def told(**changes):
    """The line and the kind of what a survey finds."""
    here = survey(30, probes(**changes)).machine
    return machine_line(here), kind_label(here), here.unknown


class TestSurvey:
    def test_where_all_was_looked_for_nothing_is_unknown(self):
        assert told() == (
            "Linux · no GPU · 4 CPUs · 31 GB RAM",
            "Linux, CPU only · 4 CPUs",
            (),
        )

    def test_a_search_for_cards_that_failed_is_not_none(self):
        assert told(cards=broken) == (
            "Linux · cards unknown · 4 CPUs · 31 GB RAM",
            "Linux, cards unknown · 4 CPUs",
            CARDS,
        )

    def test_nor_is_one_that_does_not_end(self, stuck):
        found = survey(0.3, probes(cards=stuck))
        assert found.machine.unknown == CARDS
        assert found.failures == (Reason("source_stuck", {"name": "The list of cards"}),)

    def test_what_was_found_all_the_same_may_not_be_all(self):
        assert told(cards=broken, nvml_cards=lambda: (NVML_T4, NVML_T4)) == (
            f"Linux · 2{TIMES} Tesla T4 15 GB each + cards unknown · 4 CPUs · 31 GB RAM",
            f"2{TIMES} Tesla T4 + cards unknown",
            CARDS,
        )

    def test_a_driver_of_nvidias_that_tells_nothing_may_have_a_card_that_no_bus_shows(self, stuck):
        for nvml_cards in (broken, stuck):
            assert survey(0.3, probes(nvml_cards=nvml_cards)).machine.unknown == CARDS
            beside = probes(nvml_cards=nvml_cards, cards=lambda: (UHD,))
            assert survey(0.3, beside).machine.unknown == CARDS
            # named by the system, it is known
            listed = probes(nvml_cards=nvml_cards, cards=lambda: (T4,))
            assert survey(0.3, listed).machine.unknown == ()

    def test_a_virtual_machine_that_was_not_looked_for_may_be_there(self):
        here = survey(30, probes(virtual=broken)).machine
        assert (here.virtual, here.unknown, here.may_be_virtual) == (None, VIRTUAL, True)
        assert not survey(30, probes()).machine.may_be_virtual
        assert survey(30, probes(virtual=lambda: "KVM")).machine.may_be_virtual


class TestMeasuring:
    def test_what_did_not_answer_is_asked_once_more_and_longer(self, stuck):
        waits = []

        def sleeping(limit_s):
            waits.append(limit_s)
            return probes(cards=stuck if len(waits) == 1 else lambda: (T4,))

        found = detect_to_measure(0.05, 30, sleeping)
        assert waits == [0.05, 30]
        assert ([card.name for card in found.accelerators], found.unknown) == (["Tesla T4"], ())

    def test_what_gives_no_answer_twice_stays_unknown(self, stuck):
        assert detect_to_measure(0.05, 0.1, lambda _: probes(cards=stuck)).unknown == CARDS

    @pytest.mark.parametrize("why", [None, Failure.MISSING, Failure.REFUSED])
    def test_nothing_is_asked_twice_that_would_stay_as_it_is(self, why):
        waits = []

        def ask(limit_s):
            waits.append(limit_s)
            tool = Tool("lscpu", lambda: "x" if why is None else ToolFailure("lscpu", why), 30)
            tool.text()
            return probes(tools=(tool,))

        detect_to_measure(30, 60, ask)
        assert waits == [30]

    def test_a_systems_tools_may_take_longer_the_second_time(self):
        usual, longer = windows.sources(), windows.sources(10)
        assert longer.cim._limit_s == pytest.approx(10 * usual.cim._limit_s)
        usual, longer = mac.sources(), mac.sources(10)
        for name in ("sysctl", "profiler", "ioreg"):
            limits = [getattr(told, name)._limit_s for told in (usual, longer)]
            assert limits[1] == pytest.approx(10 * limits[0])


class TestLinux:
    def test_where_sys_is_hidden_no_card_is_no_fact(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            linux.read_accelerators(tmp_path)
        (tmp_path / "sys").mkdir()
        with pytest.raises(FileNotFoundError, match="/sys is empty"):
            linux.read_accelerators(tmp_path)
        (tmp_path / "sys/kernel").mkdir()
        assert linux.read_accelerators(tmp_path) == ()

    def test_a_list_that_may_not_be_read_is_no_empty_one(self, tmp_path):
        # for root too: what is there is no folder
        (tmp_path / "sys/bus/pci").mkdir(parents=True)
        (tmp_path / "sys/bus/pci/devices").touch()
        with pytest.raises(NotADirectoryError):
            linux.read_accelerators(tmp_path)

    def test_without_firmware_and_processor_nothing_tells_of_a_virtual_machine(self, tmp_path):
        here = survey(30, probes(virtual=lambda: linux.read_virtual(tmp_path)))
        assert here.machine.unknown == VIRTUAL
        assert [failure.text() for failure in here.failures] == [
            "The search for a virtual machine could not be read (nothing tells of it)."
        ]
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc/cpuinfo").write_text("processor : 0\n")
        assert linux.read_virtual(tmp_path) is None
        (tmp_path / "proc/cpuinfo").unlink()
        (tmp_path / ".dockerenv").touch()
        assert linux.read_virtual(tmp_path) == "Docker container"


class Keys:
    """A registry that holds only what is handed over."""

    def __init__(self, **values):
        self._values = values

    def value(self, _key, name):
        return self._values.get(name)

    def children(self, _key):
        return ()


def failing(name, why=Failure.STUCK):
    return Tool(name, lambda: ToolFailure(name, why), 30)


def saying(name, text):
    return Tool(name, lambda: text, 30)


MAKER = Keys(SystemManufacturer="LENOVO", SystemProductName="20XW")
PROCESSOR = json.dumps({"Win32_Processor": [{"Name": "x"}], "Win32_VideoController": []})
EMPTY = json.dumps({"Win32_Processor": [], "Win32_VideoController": []})


class TestWindows:
    @pytest.mark.parametrize(
        ("cim", "present", "unknown"),
        [
            (failing("PowerShell"), None, True),
            (saying("PowerShell", "no JSON"), None, True),
            # the service behind CIM is broken
            (saying("PowerShell", EMPTY), None, True),
            (saying("PowerShell", PROCESSOR), None, False),
            (failing("PowerShell"), (), False),
        ],
    )
    def test_without_an_answer_no_adapter_is_no_fact(self, cim, present, unknown):
        told = windows.WindowsSources(MAKER, cim, present=lambda: present)
        found = survey(30, replace(windows_probes(told), nvml_cards=tuple)).machine
        assert found.unknown == (CARDS if unknown else ())
        assert found.accelerators == ()

    def test_a_registry_that_names_no_maker_tells_of_no_virtual_machine(self):
        told = windows.WindowsSources(Keys(), saying("PowerShell", PROCESSOR), present=tuple)
        found = survey(30, replace(windows_probes(told), nvml_cards=tuple))
        assert found.machine.unknown == VIRTUAL
        assert [f.params["name"] for f in found.failures] == ["The search for a virtual machine"]


CHIP = "machdep.cpu.brand_string: Apple M4\n"
GUEST = f"{CHIP}kern.hv_vmm_present: 1\n"
INTEL = "machdep.cpu.brand_string: Intel(R) Core(TM) i7\n"
NO_CARD = json.dumps({"SPDisplaysDataType": [{"sppci_model": "Display", "_name": "x"}]})


class TestMac:
    @pytest.mark.parametrize(
        ("sysctl", "profile", "unknown", "cards"),
        [
            (CHIP, None, (), 1),
            (None, NO_CARD, (Search.CARDS, Search.VIRTUAL), 0),
            (INTEL, None, CARDS, 0),
            (INTEL, "no JSON", CARDS, 0),
            (INTEL, NO_CARD, (), 0),
            (GUEST, None, CARDS, 0),
            (GUEST, NO_CARD, (), 0),
        ],
    )
    def test_without_an_answer_no_card_is_no_fact(self, sysctl, profile, unknown, cards):
        def tool(name, text):
            return failing(name) if text is None else saying(name, text)

        told = mac.MacSources(
            tool("sysctl", sysctl), tool("system_profiler", profile), saying("ioreg", "")
        )
        found = survey(30, replace(mac_probes(told), nvml_cards=tuple))
        assert found.machine.unknown == unknown
        assert len(found.machine.accelerators) == cards
        # the tool is what was given up on, and it is named once
        names = [failure.params["name"] for failure in found.failures]
        assert len(names) == len(set(names))
        assert "The list of cards" not in names or profile == "no JSON"

    def test_apples_are_called_by_their_chip_whatever_is_unknown(self):
        here = Machine("macOS", "15", "arm64", Cpu("Apple M4", 10, 10), None, unknown=CARDS)
        assert kind_label(here) == "Apple M4"
        assert machine_line(here) == "macOS · cards unknown · 10 CPUs"


def test_where_a_virtual_machine_may_be_no_battery_is_no_sign_of_mains(tmp_path):
    here, unsure = (survey(30, probes(virtual=v)).machine for v in (lambda: None, broken))
    assert linux_state(tmp_path, virtual=here.may_be_virtual).power_supply is PowerSupply.MAINS
    assert linux_state(tmp_path, virtual=unsure.may_be_virtual).power_supply is None


def test_cards_that_are_unknown_have_no_price_and_no_draw():
    here = Machine("Linux", "12", "x86_64", Cpu("x", 2, 4), None, (T4,), unknown=CARDS)
    assert catalogue_price(here, ()) == Reason("price_cards_unknown")
    assert catalogue_draw(here, ()) is None


ASLEEP = """
import sys
from types import SimpleNamespace

def init():
    raise RuntimeError("asleep")

# a driver of NVIDIA's that is there and does not answer
sys.modules["pynvml"] = SimpleNamespace(NVMLError=type("NVMLError", (Exception,), {}), nvmlInit=init)
from desktop.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.engine
def test_a_run_and_parts_say_that_the_cards_are_unknown(reference_file, tmp_path):
    if survey(30).machine.accelerators:
        pytest.skip("the system names the cards here")

    def gram(*arguments):
        return subprocess.run(
            [sys.executable, "-c", ASLEEP, *arguments],
            capture_output=True,
            check=True,
            text=True,
            env={**os.environ, "GRAM_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        )

    signed = ("--key-file", str(tmp_path / "key"), "--json")
    done = gram("bench", str(reference_file), "--tests", "pp4,tg4", "--repetitions", "1", *signed)
    run = json.loads(done.stdout)["run"]
    assert run["machine"]["unknown"] == ["cards"]
    assert "cards_unknown" in run["notes"]
    assert "could not be found out which cards this machine has" in done.stderr
    parts = json.loads(gram("parts", "--seconds", "3", *signed).stdout)["parts"]
    assert parts["machine"]["unknown"] == ["cards"]
    # as it was signed
    kept = json.loads(gram("results", "--json").stdout)[0]["id"]
    verified = gram("verify", kept).stdout
    assert "The search for this machine's cards gave no answer" in verified
    told = gram("machine").stdout
    assert "Linux, cards unknown" in told
    assert "CPU only" not in told
    assert "no GPU" not in told
