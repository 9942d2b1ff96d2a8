"""The machine's parts on the real engine: a real child, and `gram parts` as a person types it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from desktop.bench.parts_protocol import PartsJob, PartStarted
from desktop.bench.parts_tasks import tasks_of
from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Finished
from desktop.errors import BenchError
from desktop.records.events import Devices
from desktop.records.machine import Device, DeviceKind
from desktop.records.parts import Part, PartSkip, PartsPlan, PartTest

pytestmark = pytest.mark.engine
ROOT = Path(__file__).parents[2]
LITTLE = 64 << 20
"""Of free memory, so that only the smallest sizes are taken."""


@pytest.fixture
def worker(tmp_path):
    def make(fault=None, **plan):
        short = PartsPlan(**({"threads": 2, "max_repetitions": 6, "time_limit_s": 50.0} | plan))
        return WorkerProcess(PartsJob(short, LITTLE), tmp_path / "worker.log", fault)

    return make


def test_every_part_of_the_processor_is_measured_and_its_results_are_right(worker):
    with worker() as process:
        said = list(process.messages())
    assert isinstance(said[0], Devices)
    assert isinstance(said[-1], Finished)
    assert not [m for m in said if isinstance(m, PartSkip)]
    on_cpu = [m for m in said if isinstance(m, Part) and m.device == "CPU"]
    assert [p.threads for p in on_cpu] == [1] * 3 + [2] * len(PartTest)
    assert {p.test for p in on_cpu} == set(PartTest)
    assert all(len(p.durations_ns) <= 6 for p in on_cpu)
    for part in on_cpu:
        rates = [part.work * 1e9 / ns for ns in part.durations_ns]
        # between a slow phone and more than any machine has
        assert all(1e6 < rate < 1e14 for rate in rates) or part.test is PartTest.SMALL_GRAPH


def test_stop_takes_less_than_two_seconds(worker):
    with pytest.raises(BenchError) as e:
        with worker(time_limit_s=50.0, max_repetitions=1000) as process:
            for message in process.messages():
                if isinstance(message, PartStarted) and message.index == 1:
                    asked = time.monotonic()
                    process.cancel()
        assert process  # the block above always raises
    assert e.value.code == "cancelled"
    assert time.monotonic() - asked < 2
    assert not psutil.pid_exists(process.pid)


def test_a_crash_in_a_test_is_told_with_the_test_that_it_happened_in(worker):
    said = []
    with pytest.raises(BenchError) as e, worker("crash") as process:
        for message in process.messages():
            said.append(message)  # noqa: PERF402 - what came before the crash is kept
    assert e.value.code == "worker_crashed"
    # the fault lies in the first test: nothing after its beginning was told
    listed, begun = said
    first = tasks_of(listed.devices, PartsPlan(threads=2))[0][0]
    assert (begun.device, begun.test, begun.threads) == (
        first.device.name,
        first.test,
        first.threads,
    )
    assert begun.index == 0


@pytest.fixture
def gram(home):
    """Run `gram ARGS` without a keychain."""
    left_out = {"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"}
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    environment["PYTHONPATH"] = str(ROOT)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "desktop", *arguments],
            env=environment, cwd=home.data, text=True, capture_output=True, timeout=100, check=False,
        )  # fmt: skip

    return run


def _key(of):
    return of["device"], of["test"], of["threads"]


def test_measure_sign_and_verify(gram, tmp_path):
    done = gram("parts", "--key-file", str(tmp_path / "key"), "--seconds", "3", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    listed = [
        Device(**{**device, "kind": DeviceKind(device["kind"])})
        for device in result["parts"]["devices"]
    ]
    plan = PartsPlan(**result["parts"]["plan"])
    asked = [(t.device.name, t.test, t.threads) for g in tasks_of(listed, plan) for t in g]
    rates, skipped = result["rates"], result["parts"]["skipped"]
    # a slow or busy machine may leave out a test for want of time, and for nothing else
    assert sorted(map(_key, rates + skipped)) == sorted(asked)
    assert {s["why"] for s in skipped} <= {"time"}
    graphs = {r["device"] for r in rates if r["test"] == "small_graph"}
    assert graphs == {device for device, _, _ in asked}
    assert all(r["median"] > 0 for r in rates)

    # a list of runs stays one; the parts are read where their statement is asked for
    assert json.loads(gram("results", "--json").stdout) == []
    shown = gram("verify", result["statement_id"][:12])
    assert shown.returncode == 0
    assert "holds" in shown.stdout
    assert "matrix-vector, Q4_K" in shown.stdout
    assert "GB/s" in shown.stdout


def test_without_a_keychain_it_says_what_can_be_done(gram):
    done = gram("parts")
    assert done.returncode == 1
    assert "--unsigned" in done.stderr


def test_it_explains_itself(gram):
    done = gram("parts", "--help")
    assert done.returncode == 0
    assert "in under a minute" in done.stdout
    assert "--seconds" not in done.stdout


def test_a_crash_is_told_and_nothing_is_kept(gram):
    done = gram("parts", "--unsigned", "--fault", "crash")
    assert done.returncode == 1
    assert "ended unexpectedly" in done.stderr
