"""bench.protocol: what the worker says is foreign data."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.bench import protocol
from desktop.bench.parts_protocol import PartsJob, PartStarted
from desktop.bench.protocol import Failed, Finished, Job, Loaded, RepetitionStarted
from desktop.errors import BenchError
from desktop.records.events import Devices, Steps
from desktop.records.machine import Device, DeviceKind
from desktop.records.parts import Part, PartSkip, PartsPlan, PartTest, Skipped
from desktop.records.run import PP512, Plan, Repetition

MESSAGES = [
    Devices(
        "llama.cpp",
        "1",
        (
            Device("CPU", "EPYC", DeviceKind.CPU, "CPU", 5, None),
            Device("CUDA0", "Tesla T4", DeviceKind.GPU, "CUDA", 5, 4, "0000:00:1e.0"),
        ),
        ("CUDA", "CPU"),
    ),
    Loaded("CPU", 5, ("CPU",)),
    RepetitionStarted("pp512", True, 0, 1),
    Steps("tg128", False, (1, 2), 1),
    Repetition("tg128", False, 1, 3, 2, (1, 1)),
    Finished("enabled", None, 7, 9),
    Failed("load_failed", "why"),
    PartStarted("CUDA0", PartTest.MATVEC_Q4_K, None, 3, 11),
    Part("CPU", PartTest.COPY, 2, 1024, (7, 8), (128,)),
    PartSkip("CUDA0", PartTest.COPY, None, Skipped.UNSUPPORTED),
]
PART = MESSAGES[8]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_what_is_sent_arrives(message):
    line = protocol.encode(message)
    assert line.endswith(b"\n")
    assert protocol.decode(line) == message


def test_a_job_arrives_with_any_path():
    plan = Plan(threads=3, tests=(PP512,), devices=("CUDA0", "CUDA1"))
    job = Job("/home/mit Leerzeichen/модель 模型 \udcff.gguf", plan)
    assert protocol.decode_job(protocol.encode(job)) == job


@pytest.mark.parametrize("without", [(), ("CUDA0", "CPU")])
@pytest.mark.parametrize("cache", [None, 32 << 20])
def test_a_job_of_parts_arrives(without, cache):
    job = PartsJob(PartsPlan(2, time_limit_s=7.5, last_level_cache_bytes=cache), 5, without)
    assert protocol.decode_job(protocol.encode(job)) == job


def _changed(message, **fields):
    return json.dumps({**json.loads(protocol.encode(message)), **fields}).encode()


BAD = {
    "a small graph without a shape": _changed(PART, test="small_graph", shape=[]),
    "work of another shape": _changed(PART, work=1025),
    "more work than a statement takes": _changed(PART, work=2**63),
    "a time of 400 digits": _changed(PART, durations_ns=[10**400]),
    "threads of 400 digits": _changed(PART, threads=10**400),
    "more devices than a statement takes": _changed(
        MESSAGES[0], devices=json.loads(protocol.encode(MESSAGES[0]))["devices"][:1] * 257
    ),
    "no json": b"llama: hello",
    "empty": b"\n",
    "a list": b"[1]",
    "unknown kind": b'{"v":1,"kind":"Nonsense"}',
    "no kind": b'{"v":1}',
    "other version": _changed(MESSAGES[1], v=2),
    "missing field": b'{"v":1,"kind":"Loaded","backend":"CPU"}',
    "text for a number": _changed(MESSAGES[4], n_tokens="2"),
    "true for a number": _changed(MESSAGES[4], n_tokens=True),
    "negative time": _changed(MESSAGES[3], end_ns=[-1]),
    "no duration": _changed(MESSAGES[4], end_ns=1),
    "unknown failure": _changed(MESSAGES[6], code="anything"),
    "deep": b"[" * 100_000,
    "a part without durations": _changed(PART, durations_ns=[]),
    "a part that took no time": _changed(PART, durations_ns=[7, 0]),
    "a part without work": _changed(PART, work=0),
    "a test that there is not": _changed(PART, test="sudoku"),
    "a shape of texts": _changed(PART, shape=["4096"]),
    "threads below none": _changed(PART, threads=-1),
    "no reason": _changed(MESSAGES[9], why=""),
    "an address that is a number": _changed(MESSAGES[0], devices=[{"pci_address": 3}]),
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD.keys())
def test_a_line_that_does_not_fit_is_garbage(line):
    with pytest.raises(BenchError) as e:
        protocol.decode(line)
    assert e.value.code == "worker_garbage"


@given(st.binary(max_size=300))
def test_no_bytes_escape_as_another_error(line):
    with suppress(BenchError):
        protocol.decode(line)
