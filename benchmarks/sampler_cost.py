"""Does the power sampler change what is timed? Its CPU seconds, and tok/s with and without it.

Interleaved pairs: one repetition of pp512 and tg128 through the product's own worker, once while
`PowerWatch` samples as it does in a run, once without it. The sampler's CPU seconds are those of
its thread (the system keeps a clock of each), over the wall time of the worker.

    python benchmarks/sampler_cost.py --pairs 20

The aim: at most 0.5 % of a core, and an interval of the ratio that holds 1. Which meter this
machine has is printed; what one look costs with other meters is measured on files of their shape.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from fidelity import TESTS, build_path, ours
from pairs import Quiet, interleaved, ratio_of, save

from desktop import clock
from desktop.machine.cores import usable_cores
from desktop.machine.detect import detect
from desktop.power.battery_meter import battery_meter
from desktop.power.cards import card_meter
from desktop.power.hwmon_meter import hwmon_sensor
from desktop.power.parse_battery import linux_discharge
from desktop.power.rapl_meter import rapl_meter
from desktop.power.sampler import INTERVAL_S, THREAD_NAME
from desktop.services.curves import LiveCurves
from desktop.services.power_watch import IDLE_S, PowerWatch
from desktop.sources import battery, hwmon, rapl

MOST_OF_A_CORE: Final = 0.005
LOOKS: Final = 300


def with_sampler(path: Path, threads: int) -> dict[str, float]:
    """tok/s of each test while the sampler runs, and its CPU and wall seconds."""
    curves = LiveCurves(clock.now_ns())
    with PowerWatch(detect(), (), curves, lambda _: None) as power:
        power.start(threading.Event())
        (thread,) = [t for t in threading.enumerate() if t.name == THREAD_NAME]
        cpu_clock = time.pthread_getcpuclockid(thread.ident or 0)
        cpu_s, wall_s = time.clock_gettime(cpu_clock), time.perf_counter()
        rates = ours(path, threads)
        cpu_s, wall_s = time.clock_gettime(cpu_clock) - cpu_s, time.perf_counter() - wall_s
        readings = len(curves.snapshot().power)
    return rates | {"cpu_s": cpu_s, "wall_s": wall_s, "readings": float(readings)}


def without_sampler(path: Path, threads: int) -> dict[str, float]:
    """tok/s of each test, nothing else running in this process; the pause is that of the other."""
    detect()
    threading.Event().wait(IDLE_S)
    return ours(path, threads)


def looks_of_other_meters() -> dict[str, float]:
    """CPU microseconds of one look at files of the same shape as other meters read."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _plant(root)
        domains = rapl.read_domains(root / "powercap")
        (card,) = hwmon.read_cards(root)
        supplies = root / "supplies"
        meters = {
            "RAPL, 2 sockets with memory": rapl_meter(domains),
            "amdgpu, average power": card_meter([hwmon_sensor(card, "card", integrated=False)]),
            "battery": battery_meter(lambda: linux_discharge(battery.read_supplies(supplies)), 0),
        }
        return {n: _look_us(m.read) for n, m in meters.items() if m and not isinstance(m, str)}


def _plant(root: Path) -> None:
    files = {
        "sys/bus/pci/devices/0000:03:00.0/class": "0x030000",
        "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon1/name": "amdgpu",
        "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon1/power1_average": "90000000",
        "supplies/AC/type": "Mains",
        "supplies/AC/online": "0",
        "supplies/BAT0/type": "Battery",
        "supplies/BAT0/status": "Discharging",
        "supplies/BAT0/power_now": "9000000",
    }
    for socket in (0, 1):
        for part, name in (("", f"package-{socket}"), (":0", "dram")):
            domain = f"powercap/intel-rapl:{socket}{part}"
            files |= {f"{domain}/name": name, f"{domain}/energy_uj": "1000000"}
            files |= {f"{domain}/max_energy_range_uj": "262143328850"}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")


def _look_us(read: Callable[[], object]) -> float:
    spent = []
    for _ in range(LOOKS):
        start = time.thread_time_ns()
        read()
        spent.append((time.thread_time_ns() - start) / 1e3)
    return median(spent)


def main() -> int:
    """Run the pairs; exit status 1 when the sampler takes more than it may."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="reference")
    parser.add_argument("--threads", type=int, default=usable_cores())
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    path, quiet = build_path(options.build), Quiet()
    with PowerWatch(detect(), (), LiveCurves(0), lambda _: None) as power:
        meter = power.facts
    done = interleaved(
        options.pairs,
        lambda: with_sampler(path, options.threads),
        lambda: without_sampler(path, options.threads),
    )
    shares = [a["cpu_s"] / a["wall_s"] for a, _ in done]
    print(f"{path.name}, {options.threads} threads; {quiet.words()}")
    print(f"meter: {meter.source} ({meter.name}), every {INTERVAL_S} s")
    print(f"raw values: {save('sampler-cost', done).name}")
    cost = ratio_of("CPU of the sampler ÷ a core", shares)
    print(cost)
    for test in TESTS:
        print(ratio_of(f"{test} with ÷ without", [a[test] / b[test] for a, b in done]))
    for name, look_us in looks_of_other_meters().items():
        share = 100 * look_us / 1e6 / INTERVAL_S
        print(f"one look, {name}: {look_us:.0f} µs of CPU, {share:.2f} % of a core")
    return 0 if cost.high <= MOST_OF_A_CORE else 1


if __name__ == "__main__":
    sys.exit(main())
