"""bench.process and bench.worker: a real child, the real engine, real faults."""

import os
import shutil
import signal
import sys
import time

import psutil
import pytest

from desktop.bench.process import WorkerProcess, outcome
from desktop.bench.protocol import Finished, Job, Loaded, RepetitionStarted
from desktop.errors import BenchError
from desktop.records.events import Devices
from desktop.records.run import Plan, Repetition, SpeedTest

pytestmark = pytest.mark.engine
SHORT = Plan(
    tests=(SpeedTest(16, 0), SpeedTest(0, 4)), threads=1, min_repetitions=2, max_repetitions=2
)


@pytest.fixture
def worker(reference_file, tmp_path):
    def make(fault=None, path=None, **options):
        job = Job(str(path or reference_file), SHORT)
        return WorkerProcess(job, tmp_path / "worker.log", fault, **options)

    return make


def code_of(process):
    """The code with which the run fails; the process must be gone afterwards."""
    with pytest.raises(BenchError) as e, process:
        for _ in process.messages():
            pass
    assert not psutil.pid_exists(process.pid)
    return e.value.code


def test_a_run_tells_everything_in_order(worker):
    with worker() as process:
        said = list(process.messages())
    kinds = [type(m) for m in said]
    assert kinds[:2] == [Devices, Loaded]
    assert isinstance(said[-1], Finished)
    repetitions = [m for m in said if isinstance(m, Repetition)]
    assert [(r.test, r.warmup) for r in repetitions] == [
        (test, warmup) for test in ("pp16", "tg4") for warmup in (True, False, False)
    ]
    assert all(len(r.step_ns) == 4 for r in repetitions if r.test == "tg4")
    assert said[1].weights_bytes > 90_000_000
    assert said[-1].kv_cache_bytes > 0
    assert said[-1].process_peak_bytes > said[1].weights_bytes / 2


def test_the_device_list_is_the_engines_own(worker):
    """The wheel holds a second libggml with its own registry: it must not be loaded."""
    with worker() as process:
        messages = process.messages()
        devices = next(messages)
        assert isinstance(devices, Devices)
        assert next(messages)
        maps = {m.path for m in psutil.Process(process.pid).memory_maps()}
        loaded = [p for p in maps if "libggml.so" in p or "libggml.dylib" in p]
        assert len(loaded) == 1
        assert not loaded[0].endswith("libggml.so")
    assert any(d.kind == "cpu" for d in devices.devices)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("crash", "worker_crashed"),
        ("garbage", "worker_garbage"),
        ("flood", "worker_garbage"),
        ("silent", "worker_crashed"),
        pytest.param(
            "memory",
            "out_of_memory",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS holds on Linux"),
        ),
    ],
)
def test_faults_end_with_their_code_and_nothing_is_left(worker, fault, code):
    assert code_of(worker(fault)) == code


def test_a_hung_worker_is_given_up_on_and_killed(worker):
    assert code_of(worker("hang", silence_s=1.5)) == "worker_hung"


def test_a_slow_worker_is_waited_for(worker):
    with worker("slow", silence_s=20) as process:
        assert isinstance(list(process.messages())[-1], Finished)


def test_a_killed_worker_is_told_as_such(worker):
    with pytest.raises(BenchError) as e, worker("hang") as process:
        for message in process.messages():
            if isinstance(message, Loaded):
                os.kill(process.pid, signal.SIGTERM)
    assert e.value.code == "worker_crashed"
    assert "SIGTERM" in str(e.value)


def test_kill_9_says_that_memory_may_have_run_out(worker):
    with pytest.raises(BenchError) as e, worker("hang") as process:
        for message in process.messages():
            if isinstance(message, Loaded):
                os.kill(process.pid, signal.SIGKILL)
    assert e.value.code == "worker_killed"


@pytest.mark.parametrize("fault", [None, "hang"])
def test_stop_takes_less_than_two_seconds(worker, fault):
    with pytest.raises(BenchError) as e:
        with worker(fault) as process:
            for message in process.messages():
                if isinstance(message, RepetitionStarted) and not message.warmup:
                    asked = time.monotonic()
                    process.cancel()
        assert process  # the block above always raises
    assert e.value.code == "cancelled"
    assert time.monotonic() - asked < 2
    assert not psutil.pid_exists(process.pid)


def test_stop_before_the_start(worker):
    process = worker()
    process.cancel()
    with pytest.raises(BenchError) as e, process:
        pass
    assert e.value.code == "cancelled"


def test_not_a_model(worker, tmp_path):
    file = tmp_path / "not a model.gguf"
    file.write_bytes(b"GGUF" + bytes(200))
    assert code_of(worker(path=file)) == "load_failed"


def test_a_path_with_spaces_and_non_latin_letters(worker, reference_file, tmp_path):
    folder = tmp_path / "мои модели 模型 (1)"
    folder.mkdir()
    copy = folder / "smol ñ.gguf"
    try:
        os.link(reference_file, copy)
    except OSError:
        shutil.copy(reference_file, copy)
    with worker(path=copy) as process:
        assert isinstance(list(process.messages())[-1], Finished)


def test_outcomes_in_words():
    assert outcome(3) == "exit status 3"
    assert outcome(-signal.SIGABRT) == "signal SIGABRT"
    assert outcome(-200) == "signal 200"


@pytest.mark.skipif(os.name == "nt", reason="signals as on POSIX")
def test_a_worker_that_the_system_stopped_is_ended_all_the_same(worker):
    """SIGSTOP, a dead network drive: it neither speaks nor hears."""
    with pytest.raises(BenchError) as e:
        with worker("hang") as process:
            for message in process.messages():
                if isinstance(message, Loaded):
                    os.kill(process.pid, signal.SIGSTOP)
                    asked = time.monotonic()
                    process.cancel()
        assert process  # the block above always raises
    assert e.value.code == "cancelled"
    assert time.monotonic() - asked < 2
    assert not psutil.pid_exists(process.pid)


def test_the_worker_runs_nothing_of_the_current_folder(worker, tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(9)", encoding="utf-8")
    (tmp_path / "desktop").mkdir()
    monkeypatch.chdir(tmp_path)
    with worker() as process:
        assert isinstance(list(process.messages())[-1], Finished)
