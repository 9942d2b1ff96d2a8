"""The child process: load one build, run its plan, say everything in JSON lines; or the parts.

llama.cpp aborts the process on some errors; the app must survive that, so the engine lives here.
The protocol has a descriptor of its own: whatever native code prints goes to stderr. Ends when its
stdin closes, which also happens when the app dies; Linux ends it then even while it is stopped.
"""

import contextlib
import ctypes
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from desktop import clock
from desktop.bench import faults, protocol
from desktop.bench.engine import Engine
from desktop.bench.engine_log import EngineLog
from desktop.bench.parts_protocol import PartsJob
from desktop.bench.protocol import AnyJob, Failed, Finished, Job, Loaded, Message
from desktop.bench.speed import Tools, run_test
from desktop.errors import BenchError
from desktop.records.events import Devices
from desktop.records.machine import Device

EXIT_FAILED = 1
EXIT_STOPPED = 3
_PR_SET_PDEATHSIG = 1
Send = Callable[[Message], None]


def main(arguments: list[str]) -> int:
    """Take one job from stdin and do it. `arguments` may be `--fault NAME` (tests).

    Returns:
        The exit status: 0 when finished, 1 when a `Failed` message was sent.
    """
    die_with_parent()
    descriptor = claim_descriptor()
    job = protocol.decode_job(read_line())
    watch = threading.Thread(target=end_with_parent, daemon=True, name="parent-watch")

    def send(message: Message) -> None:
        write_all(descriptor, protocol.encode(message))

    fault = faults.named(arguments)
    try:
        run(job, lambda m: fault(m, send, descriptor), watch.start)
    except BenchError as e:
        params = e.reason.params
        send(Failed(e.code, str(params.get("detail", params.get("status", "")))))
        return EXIT_FAILED
    # the app reads this process's CPU time before it closes stdin, and most systems forget the dead
    watch.join()
    return 0


def run(job: AnyJob, send: Send, loaded: Callable[[], None]) -> None:
    """Load the job's build and run its tests, or measure the parts; tell all through `send`.

    Args:
        job: what to measure.
        send: takes each message.
        loaded: called once the engine is there. On Windows a thread that reads stdin keeps native
            libraries from loading (numpy issue 24290), so nothing may read it before.

    Raises:
        BenchError: the engine is missing, refuses the build, or fails.
    """
    log = EngineLog()
    engine = Engine(log)
    loaded()
    facts = engine.facts()
    send(facts)
    if isinstance(job, PartsJob):
        measure_parts_of(job, facts, engine, send)
    elif job.path:
        measure(job, facts, engine, send)
    send(finished(log))


def measure(job: Job, facts: Devices, engine: Engine, send: Send) -> None:
    """Load the build and run every test of the plan."""
    with engine.load(job.path, job.plan) as model:
        log = engine.log
        send(Loaded(log.backend, log.weights_bytes, log.devices(facts.devices)))
        without_collections()
        for test in job.plan.tests:
            run_test(test, job.plan, model.context(test), Tools(clock.now_ns, send))


def measure_parts_of(job: PartsJob, facts: Devices, engine: Engine, send: Send) -> None:
    """Measure every device of the engine's list that the job asks for."""
    # numpy, and only for this job
    from desktop.bench import parts  # noqa: PLC0415
    from desktop.bench.parts_data import RandomData  # noqa: PLC0415
    from desktop.bench.parts_device import open_device  # noqa: PLC0415
    from desktop.bench.parts_repeat import Opened  # noqa: PLC0415

    handles = {device.name: handle for device, handle in engine.ggml.listed()}
    data = RandomData(engine.ggml)

    def opened(device: Device, threads: int | None) -> AbstractContextManager[Opened]:
        return open_device(engine.ggml, data, handles[device.name], threads)

    without_collections()
    parts.measure_parts(job, facts.devices, parts.Tools(clock.now_ns, send, opened))


def without_collections() -> None:
    """A collection in the middle of a step would be timed as the engine's."""
    gc.collect()
    gc.disable()


def finished(log: EngineLog) -> Finished:
    """What the engine held, by its own log and by the system."""
    peak = peak_memory_bytes()
    return Finished(log.flash_attention, log.kv_cache_bytes, log.compute_bytes, peak)


def claim_descriptor() -> int:
    """Keep stdout for the protocol and send everything that native code prints to stderr."""
    descriptor = os.dup(1)
    os.dup2(2, 1)
    return descriptor


def die_with_parent() -> None:
    """Linux: be killed when the thread that started this process ends, even while stopped.

    That thread stays until the worker's end (`WorkerProcess`); `prctl(2)`, `PR_SET_PDEATHSIG`.
    """
    if sys.platform != "linux":
        return
    parent = os.getppid()
    # a system without the call still has the closed stdin
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(EXIT_STOPPED)


def read_line() -> bytes:
    """The first line of stdin, read from the bare descriptor so that nothing stays buffered."""
    line = b""
    while not line.endswith(b"\n") and len(line) < protocol.MAX_LINE_BYTES:
        byte = os.read(0, 1)
        if not byte:
            os._exit(EXIT_STOPPED)
        line += byte
    return line


def end_with_parent() -> None:
    """Exit at once when stdin closes: the app stopped the run, or is gone."""
    # the bare descriptor: a thread that sits in sys.stdin aborts the interpreter at its end
    while os.read(0, 4096):
        pass
    os._exit(EXIT_STOPPED)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; a pipe may take fewer at a time."""
    while data:
        data = data[os.write(descriptor, data) :]


def peak_memory_bytes() -> int | None:
    """Peak resident memory of this process; None where the system does not tell."""
    if sys.platform == "win32":
        import psutil  # noqa: PLC0415 - needed on Windows only

        return int(psutil.Process().memory_info().peak_wset)
    import resource  # noqa: PLC0415 - not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
