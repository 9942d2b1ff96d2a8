"""JSON lines between the app and its worker. Decoding refuses what it does not know.

Everything that the worker says is foreign data: it runs native code that may have gone wrong. So
each field is taken by name, checked for its type and turned into a record; a line that does not
fit is `worker_garbage`. See docs/adr/0001-worker-protocol.md for the messages in words.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeAlias

from desktop.bench import parts_protocol
from desktop.bench.parts_protocol import PartsJob, PartsMessage
from desktop.bench.wire import (
    VERSION,
    Json,
    count,
    count_or_none,
    counts,
    object_of,
    take,
    text_or_none,
    texts,
)
from desktop.errors import BenchError
from desktop.records.events import Devices, Steps
from desktop.records.machine import Device, DeviceKind
from desktop.records.run import Plan, Repetition, SpeedTest

MAX_LINE_BYTES: Final = 1 << 20
MAX_DEVICES: Final = 256
"""As many as a signed statement takes."""


@dataclass(frozen=True, slots=True)
class Job:
    """What the app asks of the worker: its first and only line on stdin."""

    path: str
    """The GGUF file; empty to be told the engine's facts only."""
    plan: Plan

    @property
    def name(self) -> str:
        """For messages to people."""
        return Path(self.path).name


@dataclass(frozen=True, slots=True)
class Loaded:
    """The model is in memory."""

    backend: str
    """The backends whose buffers hold weights, `CPU` or `CUDA`; joined by `+`."""
    weights_bytes: int | None
    devices: tuple[str, ...] = ()
    """The devices that hold layers, by the engine's names."""


@dataclass(frozen=True, slots=True)
class RepetitionStarted:
    """A repetition begins; `planned` is how many of its test are expected at most."""

    test: str
    warmup: bool
    index: int
    planned: int


@dataclass(frozen=True, slots=True)
class Finished:
    """All tests are done. Buffers in bytes, the most of any context; None when not logged."""

    flash_attention: str | None
    """`enabled` or `disabled`, as the engine decided."""
    kv_cache_bytes: int | None
    compute_bytes: int | None
    process_peak_bytes: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker ends with a reason: `out_of_memory`, `load_failed`, `decode_failed`."""

    code: str
    detail: str


Message: TypeAlias = (
    Devices | Loaded | RepetitionStarted | Steps | Repetition | PartsMessage | Finished | Failed
)
AnyJob: TypeAlias = Job | PartsJob
FAILURES: Final = frozenset({"engine_missing", "load_failed", "decode_failed", "out_of_memory"})


def encode(message: Message | AnyJob) -> bytes:
    """`message` as one line of ASCII JSON with its newline."""
    body = {"v": VERSION, "kind": type(message).__name__, **asdict(message)}
    return (json.dumps(body, separators=(",", ":"), allow_nan=False) + "\n").encode("ascii")


def decode(line: bytes) -> Message:
    """Parse one line from the worker.

    Raises:
        BenchError: `worker_garbage` when it is not a known message of this version.
    """
    try:
        body = object_of(json.loads(line))
        return _READERS[take(body, "kind", str)](body)
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        raise BenchError("worker_garbage", line=repr(line[:60])) from e


def decode_job(line: bytes) -> AnyJob:
    """Parse the job on the worker's side.

    Raises:
        ValueError: it is not a job of this version.
    """
    body = object_of(json.loads(line))
    if body["kind"] == PartsJob.__name__:
        return parts_protocol.parts_job(body)
    plan = dict(object_of(body["plan"]))
    tests = tuple(SpeedTest(**t) for t in take(plan, "tests", list))
    devices = texts(plan, "devices")
    rest = {key: value for key, value in plan.items() if key not in {"tests", "devices"}}
    return Job(
        take(body, "path", str),
        Plan(tests=tests, devices=devices, **rest),  # type: ignore[arg-type]
    )


def _device(body: Json) -> Device:
    return Device(
        take(body, "name", str),
        take(body, "description", str),
        DeviceKind(take(body, "kind", str)),
        take(body, "backend", str),
        count_or_none(body, "memory_bytes"),
        count_or_none(body, "memory_free_bytes"),
        text_or_none(body, "pci_address"),
    )


def _devices(body: Json) -> Devices:
    told = take(body, "devices", list)
    if len(told) > MAX_DEVICES:
        raise ValueError("devices")
    listed = tuple(_device(object_of(d)) for d in told)
    return Devices(
        take(body, "engine", str), take(body, "version", str), listed, texts(body, "backends")
    )


def _loaded(body: Json) -> Loaded:
    return Loaded(
        take(body, "backend", str),
        count_or_none(body, "weights_bytes"),
        texts(body, "devices"),
    )


def _started(body: Json) -> RepetitionStarted:
    return RepetitionStarted(
        take(body, "test", str),
        take(body, "warmup", bool),
        count(body, "index"),
        count(body, "planned"),
    )


def _steps(body: Json) -> Steps:
    return Steps(
        take(body, "test", str),
        take(body, "warmup", bool),
        counts(body, "end_ns"),
        count(body, "tokens_per_step"),
    )


def _repetition(body: Json) -> Repetition:
    done = Repetition(
        take(body, "test", str),
        take(body, "warmup", bool),
        count(body, "start_ns"),
        count(body, "end_ns"),
        count(body, "n_tokens"),
        counts(body, "step_ns"),
    )
    if done.end_ns <= done.start_ns or done.n_tokens < 1:
        raise ValueError("a repetition takes time and tokens")
    return done


def _finished(body: Json) -> Finished:
    return Finished(
        text_or_none(body, "flash_attention"),
        count_or_none(body, "kv_cache_bytes"),
        count_or_none(body, "compute_bytes"),
        count_or_none(body, "process_peak_bytes"),
    )


def _failed(body: Json) -> Failed:
    code = take(body, "code", str)
    if code not in FAILURES:
        raise ValueError(code)
    return Failed(code, take(body, "detail", str))


_READERS: Final[Mapping[str, Callable[[Json], Message]]] = {
    "Devices": _devices,
    "Loaded": _loaded,
    "RepetitionStarted": _started,
    "Steps": _steps,
    "Repetition": _repetition,
    **parts_protocol.READERS,
    "Finished": _finished,
    "Failed": _failed,
}
