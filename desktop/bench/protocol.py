"""JSON lines between the app and its worker. Decoding refuses what it does not know.

Everything that the worker says is foreign data: it runs native code that may have gone wrong. So
each field is taken by name, checked for its type and turned into a record; a line that does not
fit is `worker_garbage`. See docs/adr/0001-worker-protocol.md for the messages in words.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Final, TypeAlias, TypeVar

from desktop.errors import BenchError
from desktop.records.events import Devices, Steps
from desktop.records.machine import Device, DeviceKind
from desktop.records.run import Plan, Repetition, SpeedTest

VERSION: Final = 1
MAX_LINE_BYTES: Final = 1 << 20
Json: TypeAlias = Mapping[str, object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """What the app asks of the worker: its first and only line on stdin."""

    path: str
    """The GGUF file; empty to be told the engine's facts only."""
    plan: Plan


@dataclass(frozen=True, slots=True)
class Loaded:
    """The model is in memory."""

    backend: str
    """The backends whose buffers hold weights, `CPU` or `CUDA`; joined by `+`."""
    weights_bytes: int | None


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


Message: TypeAlias = Devices | Loaded | RepetitionStarted | Steps | Repetition | Finished | Failed
FAILURES: Final = frozenset({"engine_missing", "load_failed", "decode_failed", "out_of_memory"})


def encode(message: Message | Job) -> bytes:
    """`message` as one line of ASCII JSON with its newline."""
    body = {"v": VERSION, "kind": type(message).__name__, **asdict(message)}
    return (json.dumps(body, separators=(",", ":"), allow_nan=False) + "\n").encode("ascii")


def decode(line: bytes) -> Message:
    """Parse one line from the worker.

    Raises:
        BenchError: `worker_garbage` when it is not a known message of this version.
    """
    try:
        body = _object(json.loads(line))
        return _READERS[_take(body, "kind", str)](body)
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        raise BenchError("worker_garbage", line=repr(line[:60])) from e


def decode_job(line: bytes) -> Job:
    """Parse the job on the worker's side.

    Raises:
        ValueError: it is not a job of this version.
    """
    body = _object(json.loads(line))
    plan = dict(_object(body["plan"]))
    tests = plan.pop("tests")
    if not isinstance(tests, list):
        raise TypeError("tests")
    return Job(
        _take(body, "path", str),
        Plan(tests=tuple(SpeedTest(**t) for t in tests), **plan),  # type: ignore[arg-type]
    )


def _object(value: object) -> Json:
    if not isinstance(value, dict) or value.get("v", VERSION) != VERSION:
        raise ValueError("not an object of this version")
    return value


def _take(body: Json, key: str, kind: type[T]) -> T:
    """A field of exactly that type: True is no int, and 1 is no float but is taken as one."""
    value = body[key]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(key)
    return value


def _count(body: Json, key: str) -> int:
    value = _take(body, key, int)
    if value < 0:
        raise ValueError(key)
    return value


def _maybe(body: Json, key: str) -> int | None:
    return None if body[key] is None else _count(body, key)


def _times(body: Json, key: str) -> tuple[int, ...]:
    values = _take(body, key, list)
    if not all(isinstance(v, int) and not isinstance(v, bool) and v >= 0 for v in values):
        raise TypeError(key)
    return tuple(values)


def _device(body: Json) -> Device:
    return Device(
        _take(body, "name", str),
        _take(body, "description", str),
        DeviceKind(_take(body, "kind", str)),
        _take(body, "backend", str),
        _maybe(body, "memory_bytes"),
        _maybe(body, "memory_free_bytes"),
    )


def _devices(body: Json) -> Devices:
    listed = tuple(_device(_object(d)) for d in _take(body, "devices", list))
    return Devices(_take(body, "engine", str), _take(body, "version", str), listed)


def _loaded(body: Json) -> Loaded:
    return Loaded(_take(body, "backend", str), _maybe(body, "weights_bytes"))


def _started(body: Json) -> RepetitionStarted:
    return RepetitionStarted(
        _take(body, "test", str),
        _take(body, "warmup", bool),
        _count(body, "index"),
        _count(body, "planned"),
    )


def _steps(body: Json) -> Steps:
    return Steps(
        _take(body, "test", str),
        _take(body, "warmup", bool),
        _times(body, "end_ns"),
        _count(body, "tokens_per_step"),
    )


def _repetition(body: Json) -> Repetition:
    done = Repetition(
        _take(body, "test", str),
        _take(body, "warmup", bool),
        _count(body, "start_ns"),
        _count(body, "end_ns"),
        _count(body, "n_tokens"),
        _times(body, "step_ns"),
    )
    if done.end_ns <= done.start_ns or done.n_tokens < 1:
        raise ValueError("a repetition takes time and tokens")
    return done


def _finished(body: Json) -> Finished:
    flash = body["flash_attention"]
    return Finished(
        None if flash is None else _take(body, "flash_attention", str),
        _maybe(body, "kv_cache_bytes"),
        _maybe(body, "compute_bytes"),
        _maybe(body, "process_peak_bytes"),
    )


def _failed(body: Json) -> Failed:
    code = _take(body, "code", str)
    if code not in FAILURES:
        raise ValueError(code)
    return Failed(code, _take(body, "detail", str))


_READERS: Final[Mapping[str, Callable[[Json], Message]]] = {
    "Devices": _devices,
    "Loaded": _loaded,
    "RepetitionStarted": _started,
    "Steps": _steps,
    "Repetition": _repetition,
    "Finished": _finished,
    "Failed": _failed,
}
