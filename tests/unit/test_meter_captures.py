"""Meters over what real systems print: tests/captures/meters, written by who had not seen the code.

Each file's `raw` is planted or played, and the meter must say what `expected` says: watts or joules,
kind, scope, and whether there is a meter at all. Serial numbers in the captures must go nowhere.
"""

import json
import struct
from pathlib import Path

import pytest

from desktop.power import parse_battery
from desktop.power.apple_meter import PowermetricsMeter
from desktop.power.battery_meter import battery_meter
from desktop.power.cards import card_meter
from desktop.power.counter import CounterMeter
from desktop.power.emi_meter import emi_meter
from desktop.power.energy import energy_of
from desktop.power.hwmon_meter import hwmon_sensor
from desktop.power.nvml_meter import nvml_sensor
from desktop.power.parse_battery import linux_discharge, mac_discharge
from desktop.power.parse_emi import read_channels, read_energies
from desktop.power.parse_powermetrics import mean_w, read_samples
from desktop.power.rapl_meter import REFUSED, rapl_meter
from desktop.records.energy import Source
from desktop.sources import battery, hwmon, rapl
from desktop.sources.emi import measurement_length
from desktop.sources.nvml import NvmlCard

FOLDER = Path(__file__).parents[1] / "captures" / "meters"
SECRET = "MUST-NOT-LEAK"
PARTS_OF_THE_METER = ("dram",)
"""Parts that lie beside their package, so that a package's meter counts them too."""
S = 1_000_000_000


def captures(key):
    """The captures whose `raw` has `key`, or whose files lie under it."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        raw = json.loads(path.read_text(encoding="utf-8"))["raw"]
        if key in raw or any(key in name for name in raw.get("files", ())):
            found.append(path.stem)
    return found


def load(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


class Clock:
    """Stands still until it is set."""

    def __init__(self):
        self.now_ns = S

    def __call__(self):
        return self.now_ns


def plant(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            # what a link points to need not be there: only drivers' names are read from links
            path.symlink_to(text.removeprefix("-> "))
        else:
            path.write_text(text, encoding="utf-8")


def plant_unreadable(root, names):
    """A folder in the place of the file: it is there and cannot be read, even by root."""
    for name in names:
        (root / name).mkdir(parents=True)


def expected_joules(expected):
    """Of all meters together, with the parts that lie beside them."""
    beside = [p for p in expected.get("parts", ()) if is_beside(p)]
    packages = [m for m in expected["meters"] if m["scope"] != "system"]
    return sum(m["joules"] for m in (*packages, *beside))


def is_beside(part):
    return (part.get("name") or part["source"]).lower().endswith(PARTS_OF_THE_METER)


def check(meter, expected, total):
    """Kind, scope, that it is a sensor, that no serial number is said, and the figure."""
    facts = meter.facts
    first = next(
        m for m in expected["meters"] if m["scope"] != "system" or len(expected["meters"]) == 1
    )
    assert (facts.kind, facts.scope) == (first["kind"], first["scope"])
    assert facts.source is Source.SENSOR
    assert SECRET not in repr(facts)
    if "watts" in first:
        assert total == pytest.approx(sum(m["watts"] for m in expected["meters"]), rel=1e-3)
    else:
        slack = first.get("tolerance_joules", 0.0)
        assert total == pytest.approx(expected_joules(expected), rel=2e-3, abs=slack)


def joules_later(meter, clock, root, raw):
    """What the meter counts between the capture's two states."""
    meter.clock = clock
    start = meter.read()
    plant(root, raw["later"]["files"])
    clock.now_ns += round(raw["later"]["after_s"] * S)
    return meter.read().energy_j - start.energy_j


@pytest.mark.parametrize("name", captures("/hwmon/"))
def test_a_cards_files(name, tmp_path):
    capture = load(name)
    raw, expected = capture["raw"], capture["expected"]
    plant(tmp_path, raw["files"])
    (card,) = hwmon.read_cards(tmp_path)
    assert card.pci_address == expected["meters"][0]["device"]
    meter = card_meter([hwmon_sensor(card, "the card", integrated=False)])
    if isinstance(meter, CounterMeter):
        total = joules_later(meter, Clock(), tmp_path, raw)
    else:
        total = meter.read().watts_w
    check(meter, expected, total)


@pytest.mark.parametrize("name", captures("/powercap/"))
def test_a_processors_counters(name, tmp_path):
    capture = load(name)
    raw, expected = capture["raw"], capture["expected"]
    plant(tmp_path, raw["files"])
    plant_unreadable(tmp_path, raw.get("unreadable", ()))
    meter = rapl_meter(rapl.read_domains(tmp_path / "sys/class/powercap"))
    if not expected["usable"]:
        assert meter == REFUSED
        return
    check(meter, expected, joules_later(meter, Clock(), tmp_path, raw))


WHY = {
    "charging": parse_battery.CHARGING,
    "not discharging": parse_battery.ON_MAINS,
    "a peripheral's battery": parse_battery.NO_BATTERY,
    "on external power": parse_battery.ON_MAINS,
}


@pytest.mark.parametrize("name", [*captures("/power_supply/"), *captures("ioreg")])
def test_a_battery(name, tmp_path):
    capture = load(name)
    raw, expected = capture["raw"], capture["expected"]
    if "ioreg" in raw:
        meter = battery_meter(lambda: mac_discharge(raw["ioreg"]))
    else:
        plant(tmp_path, raw["files"])
        supplies = battery.read_supplies(tmp_path / "sys/class/power_supply")
        assert SECRET not in repr(supplies)
        meter = battery_meter(lambda: linux_discharge(supplies))
    if expected["usable"]:
        check(meter, expected, meter.read().watts_w)
    else:
        assert meter == WHY[expected["refused"][0]["why"]]


class PlayedNvml:
    """NVML as it was at one of the capture's readings."""

    def __init__(self, readings):
        self.readings, self.now = readings, readings[0]

    def energy_mj(self, _index):
        return self.now["total_energy_mj"]

    def power_mw(self, _index):
        return self.now["power_mw"]

    def busy_percent(self, _index):
        return None


@pytest.mark.parametrize("name", captures("nvml"))
def test_an_nvidia_card(name):
    capture = load(name)
    played, expected = PlayedNvml(capture["raw"]["nvml"]), capture["expected"]
    card = NvmlCard(0, "the card", None, None, None)
    meter = card_meter([nvml_sensor(played, card)])
    meter.clock = Clock()
    readings = []
    for reading in played.readings:
        played.now = reading
        meter.clock.now_ns = reading["t_ms"] * 1_000_000
        readings.append(meter.read())
    steps = [
        b["t_ms"] - a["t_ms"] for a, b in zip(played.readings, played.readings[1:], strict=False)
    ]
    gap_ns = max(steps) * 1_000_000

    def energy(from_ms, to_ms):
        window = (from_ms * 1_000_000, to_ms * 1_000_000)
        return energy_of([window], readings, None, meter.facts, gap_ns)

    if expected["usable"]:
        whole = energy(0, played.readings[-1]["t_ms"])
        assert whole.covered == pytest.approx(1.0)
        check(meter, expected, whole.energy_j)
    for stretch in expected.get("stretches", ()):
        part = energy(stretch["from_ms"], stretch["to_ms"])
        assert part.energy_j == pytest.approx(stretch["joules"])
        # over the break nothing is claimed: less than the whole time is covered
        assert energy(0, played.readings[-1]["t_ms"]).covered < 0.5


class PlayedEmi:
    """The capture's channels and readings, as the bytes that Windows gives."""

    def __init__(self, told):
        self.version = told["version"]
        self.channels = [channel["name"] for channel in told["channels"]]
        assert all(channel["unit"] == "picowatt hours" for channel in told["channels"])
        rows = (row if isinstance(row, list) else [row] for row in told["readings"])
        self.readings = list(rows)
        self.now = self.readings[0]

    def metadata(self):
        names = [(name + "\0").encode("utf-16-le") for name in self.channels]
        if self.version == 1:
            return struct.pack("<i32s32sHH", 0, b"", b"", 1, len(names[0])) + names[0]
        head = struct.pack("<32s32sHH", b"", b"", 1, len(names))
        return head + b"".join(struct.pack("<iH", 0, len(name)) + name for name in names)

    def measurement(self):
        return b"".join(
            struct.pack("<QQ", c["absolute_energy"], c["absolute_time"]) for c in self.now
        )

    def close(self):
        pass


@pytest.mark.parametrize("name", captures("emi"))
def test_windows_counters(name):
    capture = load(name)
    played = PlayedEmi(capture["raw"]["emi"])
    meter = emi_meter([played])
    meter.clock = Clock()
    told = []
    for row in played.readings:
        played.now = row
        meter.clock.now_ns = row[0]["absolute_time"] * 100
        told.append(meter.read())
    last = [reading for reading in told if reading is not None][-1]
    check(meter, capture["expected"], last.energy_j)


AMD_METADATA = """
    41 00 4d 00 44 00 00 00  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
    5a 00 65 00 6e 00 00 00  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
    03 00  02 00
    00 00 00 00  16 00
    41 00 70 00 75 00 20 00 45 00 6e 00 65 00 72 00 67 00 79 00 00 00
    00 00 00 00  2c 00
    43 00 75 00 72 00 72 00 65 00 6e 00 74 00 20 00 53 00 6f 00 63 00 6b 00 65 00 74 00
    20 00 45 00 6e 00 65 00 72 00 67 00 79 00 00 00
"""
"""`EMI_METADATA_V2` as Microsoft Learn describes it (emi.h, ns-emi-emi_metadata_v2 and
ns-emi-emi_channel_v2), written by hand: OEM `AMD` and model `Zen` in 16 wide characters each,
revision 3, two channels. A channel: unit 0 (picowatt-hours) in four bytes, the size of its name with
the zero at its end (22, 44) in two, the name; the next one begins right after it, at 96."""
AMD_MEASUREMENTS = (
    """00 10 a5 d4 e8 00 00 00  80 96 98 00 00 00 00 00
       00 20 4a a9 d1 01 00 00  80 96 98 00 00 00 00 00""",
    """00 da 3f 10 e9 00 00 00  80 c3 c9 01 00 00 00 00
       00 b4 7f 20 d2 01 00 00  80 c3 c9 01 00 00 00 00""",
)
"""`EMI_MEASUREMENT_DATA_V2`: energy (picowatt-hours) and time (100 ns), 8 bytes each, per channel.
The APU has 1 000 000 000 000, two seconds later 10^9 more; the socket twice as much."""


class HandWritten:
    """A device that answers with those bytes."""

    version = 2

    def __init__(self):
        self.now = bytes.fromhex(AMD_MEASUREMENTS[0])

    def metadata(self):
        return bytes.fromhex(AMD_METADATA)

    def measurement(self):
        return self.now

    def close(self):
        pass


def test_the_documented_bytes_of_a_device_are_read_as_documented():
    device = HandWritten()
    channels = read_channels(2, device.metadata())
    assert [channel.name for channel in channels] == ["Apu Energy", "Current Socket Energy"]
    assert read_energies(device.measurement()) == (10**12, 2 * 10**12)
    assert measurement_length(2, device.metadata()) == len(device.measurement()) == 32
    meter = emi_meter([device], sockets=1)
    meter.clock = Clock()
    assert meter.read().energy_j == 0
    meter.clock.now_ns += 2 * S
    device.now = bytes.fromhex(AMD_MEASUREMENTS[1])
    # 2 * 10^9 pWh; 10^12 pWh are an hour of a watt, 3600 J
    assert meter.read().energy_j == pytest.approx(7.2)


class PlayedTool:
    def __init__(self, blocks):
        self.blocks = blocks

    def new_bytes(self):
        return self.blocks.pop(0)

    def close(self):
        pass


@pytest.mark.parametrize("name", captures("powermetrics"))
def test_powermetrics_output(name):
    capture = load(name)
    output, (meter,) = capture["raw"]["powermetrics"].encode(), capture["expected"]["meters"]
    samples = read_samples(output)
    assert len(samples) == meter["samples"]
    assert sum(s.energy_j for s in samples) == pytest.approx(meter["joules"], rel=2e-3)
    assert mean_w(samples) == pytest.approx(meter["mean_watts"], rel=2e-3)
    running = PowermetricsMeter(PlayedTool([output[:50], output[50:]]), Clock())
    assert running.read() is None
    assert running.read().energy_j == 0
    assert (running.facts.kind, running.facts.scope) == (meter["kind"], meter["scope"])
    assert running.dropped == 0


def test_every_capture_is_played_by_a_test():
    keys = ("/hwmon/", "/powercap/", "/power_supply/", "ioreg", "nvml", "emi", "powermetrics")
    played = {name for key in keys for name in captures(key)}
    assert played == {path.stem for path in FOLDER.glob("*.json")}
    assert len(played) >= 12
